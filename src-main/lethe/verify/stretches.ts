import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import type { SealKeys } from '../seals.ts';
import { listSeqsAfter } from '../tables/changesets.ts';
import { countMoves, listMoveSeqsAfter } from '../tables/ref-moves.ts';
import { type ChangesetSeal, findChangesetSealAfter, findMoveSealAfter, type MoveSeal } from '../tables/seals.ts';
import type { StretchBounds } from './history-digest.ts';

/** How long a stretch is. */
export interface StretchLimits {
  /** Changesets, or ref moves, that one seal covers at most. */
  readonly rows: number;
  /** Ops after which the stretch ends, so that what is derived from it stays bounded. */
  readonly ops: number;
}

/** How a verification reads the seals of a store. */
export interface SealReading {
  /** Whether stretches are compared with their seals; else everything is verified from scratch. */
  readonly isTrusting: boolean;
  readonly limits?: StretchLimits | undefined;
}

export const stretchLimits: StretchLimits = { rows: 256, ops: 256 };

/** A stretch of a project: under a seal whose signature holds, or to be verified from scratch. */
export interface Stretch<Seal> extends StretchBounds {
  readonly seal: Seal | undefined;
  /** A seal of these numbers that does not hold by itself, whatever the rows say. */
  readonly broken: Seal | undefined;
  /** Whether nothing more can come to it, so that it may be sealed. */
  readonly isClosed: boolean;
}

export type ChangesetStretch = Stretch<ChangesetSeal>;
export type MoveStretch = Stretch<MoveSeal>;

/**
 * The next stretch of a project's changesets above a number; undefined at the end. The root is one of its own, never sealed:
 * its baseline is verified from scratch.
 * @param keys left out, no seal is trusted
 */
export function nextChangesetStretch(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  keys: SealKeys | undefined,
  limits: StretchLimits = stretchLimits,
): ChangesetStretch | undefined {
  const seal = keys === undefined ? undefined : findChangesetSealAfter(db, projectId, after);
  const [first] = listSeqsAfter(db, projectId, after, 1);
  if (first === undefined) return undefined;
  if (seal !== undefined && seal.first === first.seq && keys?.holds('changesets', seal) === true)
    return { first: seal.first, last: seal.last, count: seal.count, seal, broken: undefined, isClosed: true };
  const rows = first.has_baseline === 1 ? [first] : listSeqsAfter(db, projectId, after, limits.rows);
  const below = seal !== undefined && seal.first > first.seq ? seal.first : Number.MAX_SAFE_INTEGER;
  let ops = 0;
  let count = 0;
  for (const row of rows) {
    if (row.seq >= below || ops >= limits.ops || (count > 0 && row.has_baseline === 1)) break;
    ops += row.op_count;
    count += 1;
  }
  const last = rows[count - 1]?.seq ?? first.seq;
  const isClosed = first.has_baseline === 0 && (count === limits.rows || count < rows.length || ops >= limits.ops);
  const broken = seal !== undefined && seal.first <= last ? seal : undefined;
  return { first: first.seq, last, count, seal: undefined, broken, isClosed };
}

/**
 * The next stretch of a project's ref moves above a number; undefined at the end.
 * @param upTo the last number to look at
 */
export function nextMoveStretch(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  keys: SealKeys | undefined,
  limits: StretchLimits = stretchLimits,
  upTo: number = Number.MAX_SAFE_INTEGER,
): MoveStretch | undefined {
  const seal = keys === undefined ? undefined : findMoveSealAfter(db, projectId, after);
  const seqs = listMoveSeqsAfter(db, projectId, after, seal === undefined ? limits.rows : 1, upTo);
  const [first] = seqs;
  if (first === undefined) return undefined;
  // A number that is missing, also before the stretch, is found from scratch.
  const isWhole = seal !== undefined && countMoves(db, after, seal.last) === seal.last - after;
  if (seal !== undefined && isWhole && seal.first === first && keys?.holds('moves', seal) === true)
    return { first, last: seal.last, count: seal.count, seal, broken: undefined, isClosed: true };
  const below = seal !== undefined && seal.first > first ? seal.first : Number.MAX_SAFE_INTEGER;
  const listed = seal === undefined ? seqs : listMoveSeqsAfter(db, projectId, after, limits.rows, upTo);
  const rows = listed.filter((seq) => seq < below);
  const last = rows.at(-1) ?? first;
  const broken = seal !== undefined && seal.first <= last && isWhole ? seal : undefined;
  const isClosed = rows.length === limits.rows || rows.length < listed.length;
  return { first, last, count: rows.length, seal: undefined, broken, isClosed };
}
