import { createHash } from 'node:crypto';
import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { chainDigest, sha256Hex } from '../../canonical/digest.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { digestedChangeset, hasIntegrity } from '../changeset-rows.ts';
import { type ImportedChangesetRow, listImportedChangesets } from '../tables/imports.ts';
import { readChangesets, type StoredChangeset } from './changesets.ts';
import { storedPreimage } from './stored-preimage.ts';

/** The numbers of a stretch of changesets, and how many of the project there are. */
export interface StretchBounds {
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/**
 * Recomputes every integrity and chain digest of a stretch and answers the digest of the stretch (`L302`): over the chain digests, which
 * cover all content and every ancestor, and over each column that they do not cover. Undefined when one of them is not that of what is
 * stored, or another number of changesets is there.
 */
export function digestHistory(
  db: ReadableDb,
  projectId: ProjectId,
  { first, last, count }: StretchBounds,
): string | undefined {
  const hash = createHash('sha256');
  let seen = 0;
  for (let after = first - 1; after < last; ) {
    const page = readChangesets(db, projectId, after, last);
    const next = page.at(-1)?.row.seq;
    if (next === undefined) break;
    const marks = new Map(listImportedChangesets(db, after + 1, next).map((mark) => [mark.changeset, mark]));
    let lines = '';
    for (const stored of page) {
      const mark = marks.get(stored.row.seq);
      if (!isAsDigested(db, stored, mark)) return undefined;
      lines += lineOf(stored, mark);
    }
    hash.update(lines);
    seen += page.length;
    after = next;
  }
  return seen === count ? hash.digest('hex') : undefined;
}

function isAsDigested(db: ReadableDb, stored: StoredChangeset, mark: ImportedChangesetRow | undefined): boolean {
  const { row, parents } = stored;
  const { changeset_id, created_at, integrity_digest } = row;
  const link = { changeset_id, created_at, integrity_digest, parents: parents.map((parent) => parent.chain_digest) };
  if (chainDigest(link) !== row.chain_digest) return false;
  if (sha256Hex(storedPreimage(stored)) === integrity_digest) return true;
  const digested = mark?.digest_version === 1 ? digestedChangeset(row, stored) : undefined;
  return digested !== undefined && hasIntegrity(db, row, digested);
}

/** What the digests of a changeset do not cover. The texts in it are digests and numbers, those of a mark are quoted. */
function lineOf({ row, parents, attestations }: StoredChangeset, mark: ImportedChangesetRow | undefined): string {
  const columns = `${row.seq} ${row.chain_digest} ${row.request_digest} ${row.created_ms} ${row.is_root} ${row.op_count} ${row.expected_seq}`;
  let places = '';
  for (const { position, parent_seq } of parents) places += ` ${position}:${parent_seq}`;
  for (const { list, position } of attestations) places += ` ${list}:${position}`;
  return `${columns}${places}${mark === undefined ? '' : ` ${JSON.stringify(mark)}`}\n`;
}
