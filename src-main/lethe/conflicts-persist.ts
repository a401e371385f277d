import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { type Digest, type ProjectId, type ProposalId, protectedRefPrefix } from '../../src-preload/contract/ids.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { getChangesetRow } from './changeset-rows.ts';
import type { ConflictSides } from './conflict-api.ts';
import { carriedCause, conflictCauses, lifeStamp, openConflictLife } from './conflict-life.ts';
import { conflictColumns, conflictDigest, namedMemories, openConflictReader } from './conflict-rows.ts';
import type { Detector } from './detection-memo.ts';
import { openSight, sees } from './projection/sight.ts';
import { findLastStatus } from './tables/conflict-events.ts';
import { type ConflictRow, findConflictRow, findNewestOfKey, insertConflictRow } from './tables/conflicts.ts';
import { listRefs } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/** What is kept of a detection, and for which proposal. */
export interface PersistInput {
  readonly sides: ConflictSides;
  readonly proposalId: ProposalId;
  readonly conflictIds: readonly Digest[];
  readonly principal?: string | undefined;
}

/**
 * The findings with the ids that are to be kept, each once, in the order in which they were named. What detection does
 * not find for these sides is refused (`lethe.md` D2). Throws INPUT_INVALID naming the first such id, and what
 * `detectConflicts` throws.
 */
export function selectFindings(db: ReadableDb, detector: Detector, input: PersistInput): readonly Conflict[] {
  const found = new Map(detector.detect(db, input.sides).map((finding) => [finding.conflict_id, finding]));
  return [...new Set(input.conflictIds)].map((conflictId) => found.get(conflictId) ?? refuseUnfound(conflictId));
}

function refuseUnfound(conflictId: string): never {
  throw new Fault(
    'INPUT_INVALID',
    `conflict ${conflictId}: detection does not find it between these changesets. Keep only what it finds.`,
    { field: 'conflicts', conflict_id: conflictId },
  );
}

/**
 * Keeps findings, in the caller's transaction, bound to a proposal (`lethe.md` §7 with D17): a new row is open, or has the
 * resolution of the newest row with its key (§0.3); one that was retired with its proposals is open again unless a landed move
 * decided it, one that is open or resolved stays so. Answers them as they now are. Throws INPUT_INVALID for a proposal id over its bound.
 */
export function persistFindings(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: PersistInput,
  findings: readonly Conflict[],
): readonly Conflict[] {
  const { projectId } = input.sides;
  const proposalId = requireProposal(input.proposalId);
  const nowMs = context.clock.nowMs();
  const life = openConflictLife(db, lifeStamp(nowMs, input.principal, conflictCauses.persist));
  const reader = openConflictReader(db);
  const seqs = {
    base: getChangesetRow(db, input.sides.baseChangesetId, 'base_changeset_id').seq,
    left: getChangesetRow(db, input.sides.leftChangesetId, 'left_changeset_id').seq,
    right: getChangesetRow(db, input.sides.rightChangesetId, 'right_changeset_id').seq,
  };
  if (findings.length > 0) emit({ kind: 'conflicts_changed', project_id: projectId });
  const isDecided = bringsTogether(db, projectId, seqs.left, seqs.right);
  return findings.map((finding) => {
    const known = findConflictRow(db, finding.conflict_id);
    if (known === undefined || (isRetired(known) && !isDecided)) {
      const settled = findSettled(db, projectId, finding.conflict_key);
      const number = known?.number ?? insertOpen(db, finding, seqs, nowMs);
      if (known === undefined) life.open(number);
      else life.change(number, 'open');
      if (settled !== undefined) life.change(number, 'resolved', settled.note, carriedCause(settled.conflictId));
    }
    const row = findConflictRow(db, finding.conflict_id);
    assert(row?.project_id === projectId, 'the id of a conflict is of its project alone');
    life.bind(row, proposalId);
    return reader.read(row, proposalId);
  });
}

function requireProposal(proposalId: ProposalId): string {
  const text = proposalId.toWellFormed();
  if (text !== '' && utf8Length(text) <= attributionBytesMax) return text;
  throw new Fault('INPUT_INVALID', `proposal_id: 1 to ${attributionBytesMax} bytes are needed.`, {
    field: 'proposal_id',
  });
}

function isRetired({ status }: ConflictRow): boolean {
  return status !== 'open' && status !== 'resolved';
}

/** Protected refs of a project that are looked at: there is one, but for what a file brought in. */
const protectedRefsMax = 100;

/** Whether every protected ref has both sides by now: what was asked between them has been decided, and may not withhold anything again. */
function bringsTogether(db: ReadableDb, projectId: ProjectId, left: number, right: number): boolean {
  const sight = openSight(db);
  const heads = listRefs(db, projectId, protectedRefPrefix, protectedRefsMax, 'in use')
    .filter(({ ref }) => ref.ref_name.startsWith(protectedRefPrefix))
    .map(({ headSeq }) => headSeq);
  return heads.length > 0 && heads.every((head) => sees(sight, head, left) && sees(sight, head, right));
}

/** How the newest conflict with that key was settled, if it was. */
function findSettled(
  db: ReadableDb,
  projectId: ProjectId,
  conflictKey: string,
): { readonly conflictId: string; readonly note: string } | undefined {
  const newest = findNewestOfKey(db, projectId, conflictKey);
  if (newest?.status !== 'resolved') return undefined;
  return { conflictId: newest.conflict_id, note: findLastStatus(db, newest.number)?.note ?? '' };
}

function insertOpen(
  db: WritableDb,
  finding: Conflict,
  seqs: Parameters<typeof conflictColumns>[1],
  nowMs: number,
): number {
  const columns = conflictColumns(finding, seqs, toTimestamp(nowMs), nowMs);
  const row = { ...columns, row_digest: conflictDigest(columns), status: 'open' } as const;
  return insertConflictRow(db, row, namedMemories(db, finding.project_id, finding.details ?? {}));
}
