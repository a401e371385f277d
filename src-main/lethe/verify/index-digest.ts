import { createHash, hash } from 'node:crypto';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { findNewestNode, readSealedNodes, readSealedRows, readSealedText } from '../tables/sealed-rows.ts';
import type { StretchBounds } from './history-digest.ts';

/** The derived rows of a stretch in one digest, and where the next stretch goes on with the nodes of vectors. */
export interface IndexDigest {
  readonly digest: string;
  readonly nodesThrough: number;
}

/**
 * The digest of every derived row of a stretch that never changes (`L303`): places, touches, states, ids, attachments, relationships,
 * recency pages, and the nodes of vectors that were written up to the newest one of the stretch.
 * @param nodesAfter the newest node of the stretches before
 */
export function digestIndex(
  db: ReadableDb,
  projectId: string,
  { first, last }: StretchBounds,
  nodesAfter: number,
): IndexDigest {
  const digest = createHash('sha256');
  for (const [table, rows] of readSealedRows(db, projectId, first, last)) {
    digest.update(`${table} ${rows.length}\n`);
    digest.update(rows);
  }
  const nodesThrough = Math.max(nodesAfter, findNewestNode(db, projectId, first, last));
  if (nodesThrough > nodesAfter) digest.update(readSealedNodes(db, nodesAfter, nodesThrough));
  return { digest: digest.digest('hex'), nodesThrough };
}

/** The digest of the rows that say which states of a stretch the full-text index holds. */
export function digestText(db: ReadableDb, projectId: string, { first, last }: StretchBounds): string {
  return hash('sha256', readSealedText(db, projectId, first, last), 'hex');
}
