import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import { chainDigest, requestDigest } from '../../canonical/digest.ts';
import { encodePlain } from '../../canonical/json.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { digestedChangeset, hasIntegrity } from '../changeset-rows.ts';
import { legacyRootKey } from '../rules/legacy-root.ts';
import { seqOf } from '../rules/numbers.ts';
import { type AttestationRow, listAttestationRows } from '../tables/attestations.ts';
import {
  type ChangesetRow,
  findChangesetRowBySeq,
  listChangesetRowsAfter,
  listParentsOfRange,
  type ParentRow,
} from '../tables/changesets.ts';
import { findManifestRow } from '../tables/manifests.ts';
import { listOpRows, type OpRow } from '../tables/ops.ts';
import { verifyImportedMark } from './imports.ts';

const rowsPerChunk = 256;
const opsPerChunk = 1_000;

/** A changeset with everything that belongs to it, as it is stored. */
export interface StoredChangeset {
  readonly row: ChangesetRow;
  readonly parents: readonly ParentRow[];
  readonly ops: readonly OpRow[];
  readonly attestations: readonly AttestationRow[];
}

/**
 * Verifies the next changesets of a project above the number `after`: parents, ops, payloads, evidence, every digest and
 * every derived column. Answers the last number looked at and how many were, none when there are no more.
 * @param upTo the last number to look at
 */
export function verifyChangesets(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  findings: Findings,
  upTo: number = Number.MAX_SAFE_INTEGER,
): { readonly last: number; readonly count: number } {
  const whole = readChangesets(db, projectId, after, upTo);
  for (const stored of whole) {
    const where = `changeset ${stored.row.changeset_id}`;
    checking(findings, where, () => verifyChangeset(db, stored, (problem) => findings.add(where, problem)));
  }
  return { last: whole.at(-1)?.row.seq ?? after, count: whole.length };
}

/** Reads the next changesets of a project with `after` < number ≤ `upTo`, each whole: a bounded number of rows and ops, none at the end. */
export function readChangesets(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  upTo: number,
): readonly StoredChangeset[] {
  const rows = boundOps(listChangesetRowsAfter(db, projectId, after, rowsPerChunk, upTo));
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  const isDense = last.seq - first.seq < rowsPerChunk * 4;
  return isDense
    ? readStored(db, rows, first.seq, last.seq)
    : rows.flatMap((row) => readStored(db, [row], row.seq, row.seq));
}

/** As many of the rows as have a bounded number of ops together, at least one. */
function boundOps(rows: readonly ChangesetRow[]): readonly ChangesetRow[] {
  let ops = 0;
  const end = rows.findIndex((row, index) => {
    ops += row.op_count;
    return index > 0 && ops > opsPerChunk;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

function readStored(
  db: ReadableDb,
  rows: readonly ChangesetRow[],
  from: number,
  upto: number,
): readonly StoredChangeset[] {
  const parents = Map.groupBy(listParentsOfRange(db, from, upto), (parent) => parent.seq);
  const ops = Map.groupBy(listOpRows(db, from, upto), (op) => seqOf(op.op));
  const attestations = Map.groupBy(listAttestationRows(db, from, upto), (entry) => entry.seq);
  return rows.map((row) => ({
    row,
    parents: parents.get(row.seq) ?? [],
    ops: ops.get(row.seq) ?? [],
    attestations: attestations.get(row.seq) ?? [],
  }));
}

type Report = (problem: string) => void;

function verifyChangeset(db: ReadableDb, stored: StoredChangeset, report: Report): void {
  const { row, parents, ops } = stored;
  const digested = digestedChangeset(row, stored);
  if (digested === undefined) {
    report('a payload or an attestation is no JSON');
    return;
  }
  if (!hasIntegrity(db, row, digested)) report('its integrity digest is not that of its content');
  const link = { changeset_id: row.changeset_id, created_at: row.created_at, integrity_digest: row.integrity_digest };
  if (chainDigest({ ...link, parents: parents.map((parent) => parent.chain_digest) }) !== row.chain_digest) {
    report('its chain digest is not that of its id, time, content and parents');
  }
  if (Date.parse(row.created_at) !== row.created_ms) report('its time is stored in two forms that differ');
  if (ops.length !== row.op_count) report(`it has ${ops.length} ops and says ${row.op_count}`);
  if (!isInPlace(stored)) report('its parents, evidence or verification are not numbered without a gap');
  for (const parent of parents) {
    if (parent.project_id !== row.project_id) report(`its parent ${parent.changeset_id} is of another project`);
    if (parent.parent_seq >= row.seq) report(`its parent ${parent.changeset_id} is not older`);
  }
  if (!isStoredPlain(stored, digested)) report('a payload or an attestation is not stored in its one form');
  if (verifyImportedMark(db, row, report)) return;
  if (row.context_manifest_id !== null && findManifestRow(db, row.context_manifest_id)?.project_id !== row.project_id) {
    report('its context manifest is not one of its project');
  }
  verifyRequest(db, stored, digested, report);
}

/** Whether each list of the changeset is numbered from 0 on. */
function isInPlace({ parents, attestations }: StoredChangeset): boolean {
  const lists = [parents, ...Map.groupBy(attestations, (entry) => entry.list).values()];
  return lists.every((list) => list.every((entry, index) => entry.position === index));
}

/** Whether every stored JSON text is, byte for byte, the plain encoding of what it says. */
function isStoredPlain(stored: StoredChangeset, digested: NonNullable<ReturnType<typeof digestedChangeset>>): boolean {
  const payloads = stored.ops.flatMap((op) => op.body ?? []);
  const values = digested.ops.flatMap((op) => op.payload ?? []);
  const texts = [...payloads, ...stored.attestations.map((entry) => entry.body)];
  return [...values, ...digested.evidence, ...digested.verification].every(
    (value, index) => encodePlain(value) === texts[index],
  );
}

/** The request digest is that of the commit which made the row; the root has none, and is the only one under its key. */
function verifyRequest(
  db: ReadableDb,
  stored: StoredChangeset,
  digested: NonNullable<ReturnType<typeof digestedChangeset>>,
  report: Report,
): void {
  const { row, parents } = stored;
  if ((row.is_root === 1) !== (row.idempotency_key === legacyRootKey))
    report('its key and its mark as a root disagree');
  if (row.is_root === 1) {
    if (row.request_digest !== '' || row.expected_seq !== null || parents.length > 0)
      report('a root has neither a request nor parents');
    return;
  }
  const expected =
    parents.find((parent) => parent.parent_seq === row.expected_seq)?.changeset_id ?? findExpectedId(db, row);
  const request = { ...digested, expected_head: expected, advance_ref: row.expected_seq !== null };
  if (requestDigest(request) !== row.request_digest)
    report('its request digest is not that of the commit that made it');
}

function findExpectedId(db: ReadableDb, row: ChangesetRow): string | undefined {
  return row.expected_seq === null ? undefined : findChangesetRowBySeq(db, row.expected_seq)?.changeset_id;
}
