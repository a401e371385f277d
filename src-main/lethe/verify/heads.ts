import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { openSealKeys } from '../seals.ts';
import { readSealedMoves } from '../tables/sealed-rows.ts';
import type { MoveSealing } from '../tables/seals.ts';
import type { HistoryFindings } from './history.ts';
import type { StretchBounds } from './history-digest.ts';
import {
  listKeyStarts,
  type MoveWalk,
  openMoveWalk,
  passMoves,
  verifyKeyStarts,
  verifyMoves,
  verifyRefs,
  verifyRefsExist,
} from './moves.ts';
import { eachPage, own } from './pages.ts';
import { sealName, sealRemedy } from './seal-finding.ts';
import { type MoveStretch, nextMoveStretch, type SealReading } from './stretches.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/**
 * Verifies every ref move of a project and every ref (`L58`, `L306`): a stretch of moves that is as it was sealed by its digest, any other
 * move by move with its signature. Answers what may be sealed of it.
 */
export async function verifyHeads(
  read: ReadChunk,
  projectId: ProjectId,
  { isTrusting, limits }: SealReading,
  { findings, ofSeals }: HistoryFindings,
): Promise<readonly MoveSealing[]> {
  const keys = isTrusting ? read(openSealKeys) : undefined;
  const sealings: MoveSealing[] = [];
  const broken = new Set<number>();
  let walk: MoveWalk = read((db) => openMoveWalk(db, projectId));
  let hasSealed = false;
  for (;;) {
    const stretch = read((db) => nextMoveStretch(db, projectId, walk.after, keys, limits));
    if (stretch === undefined) break;
    if (stretch.seal !== undefined && read((db) => digestMoves(db, projectId, stretch)) === stretch.seal.digest) {
      walk = passMoves(walk, stretch.last);
      hasSealed = true;
    } else {
      const before = findings.list.length + findings.omitted;
      walk = await verifyMovesUpTo(read, walk, stretch.last, findings);
      if (findings.list.length + findings.omitted === before) {
        const sealing = settle(read, projectId, stretch, broken, ofSeals);
        if (sealing !== undefined) sealings.push(sealing);
      }
      // A damaged order of rows ended the walk.
      if (walk.after < stretch.last) break;
    }
    await setImmediate();
  }
  walk = await verifyMovesUpTo(read, walk, Number.MAX_SAFE_INTEGER, findings);
  const settled = walk;
  if (hasSealed)
    await verifyKeyStarts(
      settled,
      read((db) => listKeyStarts(db, settled)),
      findings,
    );
  await eachPage(findings, '', own, (after: string) => read((db) => verifyRefs(db, settled, after, findings)));
  read((db) => verifyRefsExist(db, settled, findings));
  return sealings;
}

/** Verifies one stretch of moves from scratch; answers what a seal of it would say, undefined when something was found. */
export async function sealMoves(
  read: ReadChunk,
  projectId: ProjectId,
  stretch: MoveStretch,
  findings: Findings,
): Promise<MoveSealing | undefined> {
  const before = findings.list.length + findings.omitted;
  const walk = read((db) => passMoves(openMoveWalk(db, projectId), stretch.first - 1));
  await verifyMovesUpTo(read, walk, stretch.last, findings);
  if (findings.list.length + findings.omitted > before) return undefined;
  return settle(read, projectId, stretch, new Set(), findings);
}

/** What a stretch that holds from scratch comes to: the finding that its seal does not, or what a seal of it would say. */
function settle(
  read: ReadChunk,
  projectId: ProjectId,
  stretch: MoveStretch,
  broken: Set<number>,
  ofSeals: Findings,
): MoveSealing | undefined {
  const seal = stretch.seal ?? stretch.broken;
  if (seal !== undefined) {
    if (!broken.has(seal.last))
      ofSeals.add(sealName(seal, 'ref moves'), `it does not hold, though the moves do: ${sealRemedy}`);
    broken.add(seal.last);
    return undefined;
  }
  const digest = stretch.isClosed ? read((db) => digestMoves(db, projectId, stretch)) : undefined;
  const { first, last, count } = stretch;
  return digest === undefined ? undefined : { project_id: projectId, first, last, count, digest };
}

/**
 * The digest of every column of a stretch of ref moves and of the advance records that belong to them. Undefined when another number of
 * moves is there, or one of them signs a chain digest that the changeset to which it goes does not have.
 */
export function digestMoves(
  db: ReadableDb,
  projectId: ProjectId,
  { first, last, count }: StretchBounds,
): string | undefined {
  let digest: string | undefined;
  checking({ add: () => {} }, 'ref moves', () => {
    const moves = readSealedMoves(db, projectId, first, last);
    if (moves.count === count && moves.bound === count) digest = hash('sha256', moves.rows, 'hex');
  });
  return digest;
}

async function verifyMovesUpTo(read: ReadChunk, from: MoveWalk, upTo: number, findings: Findings): Promise<MoveWalk> {
  let walk = from;
  let reported = Promise.resolve();
  await eachPage(
    findings,
    walk,
    (one) => one.after,
    async (before) => {
      const page = read((db) => verifyMoves(db, before, upTo));
      // The signatures of one page are verified while the next one is read: never those of more than two at a time.
      await reported;
      if (page === undefined) return undefined;
      reported = page.found.then((found) => {
        for (const { where, problem } of found) findings.add(where, problem);
      });
      walk = page.walk;
      return page.walk;
    },
  );
  await reported;
  return walk;
}
