import { setImmediate } from 'node:timers/promises';
import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { openFindings } from '../base/findings.ts';
import type { Log } from '../base/log.ts';
import type { Signer } from '../canonical/signature.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { lastOpOf } from './rules/numbers.ts';
import { keepSealings, type Sealings } from './seals.ts';
import { findNewestSeq } from './tables/events.ts';
import { listProjects } from './tables/projects.ts';
import { findLastHeadKey, nextMoveSeq } from './tables/ref-moves.ts';
import { findSealedThrough } from './tables/seals.ts';
import { findWaitingOp } from './text-verify.ts';
import { sealDerived } from './verify/derived.ts';
import { sealMoves } from './verify/heads.ts';
import { sealHistory } from './verify/history.ts';
import {
  type ChangesetStretch,
  type MoveStretch,
  nextChangesetStretch,
  nextMoveStretch,
  stretchLimits,
} from './verify/stretches.ts';

interface SealingDeps {
  readonly read: <Result>(verb: (db: ReadableDb) => Result) => Result;
  readonly write: <Result>(verb: (db: WritableDb) => Result) => Promise<Result>;
  readonly signer: Signer;
  readonly log: Log;
}

/** A stretch that waits for its seal. */
type Waiting = { readonly projectId: ProjectId } & (
  | { readonly kind: 'changesets'; readonly stretch: ChangesetStretch; readonly nodesAfter: number }
  | { readonly kind: 'moves'; readonly stretch: MoveStretch }
);

/** What there was when nothing waited, and how much must be new before anything can. */
interface Rest {
  readonly changesets: number;
  readonly moves: number;
}

/** Changesets after which it is looked again at the latest, since many ops end a stretch early. */
const lookEvery = 16;
/** Moves of the store, of whatever project, among which the next stretch of one is looked for: rare ones are left to `verify-chain`. */
const movesLookedAt = 1_024;

const nothingSealed: Sealings = { changesets: [], moves: [] };

/**
 * Sealing behind commits, for idle moments (`L307`): each call verifies one whole stretch from scratch, in chunks that let others
 * work, and writes its seal; true when another may follow. What does not hold is logged and left to `verify-chain`, which names it.
 */
export function openSealing({ read, write, signer, log }: SealingDeps): () => Promise<boolean> {
  let rest: Rest = { changesets: 0, moves: 0 };
  let isGivenUp = false;
  return async () => {
    if (isGivenUp || !read((db) => mayWait(db, rest, signer))) return false;
    const found = read((db) => findWaiting(db));
    if ('rest' in found) {
      rest = found.rest;
      return false;
    }
    const { waiting } = found;
    const findings = openFindings();
    const sealings = await sealOne(read, waiting, findings);
    if (findings.list.length > 0) {
      isGivenUp = true;
      log.error(
        { project: waiting.projectId, findings: findings.list.slice(0, 20) },
        'history does not hold and is not sealed: run lethe verify-chain',
      );
      return false;
    }
    return sealings !== undefined && (await keepSealings(write, signer, sealings)) > 0;
  };
}

function mayWait(db: ReadableDb, rest: Rest, signer: Signer): boolean {
  const isNew = findNewestSeq(db) >= rest.changesets || nextMoveSeq(db) > rest.moves;
  return isNew && findLastHeadKey(db)?.public_key === signer.publicKey;
}

/** The first stretch that waits; else from which changeset and which move on one can. */
function findWaiting(db: ReadableDb): { readonly waiting: Waiting } | { readonly rest: Rest } {
  let missing = { changesets: lookEvery, moves: stretchLimits.rows };
  for (const { project_id: projectId } of listProjects(db)) {
    const through = findSealedThrough(db, projectId);
    const stretch = nextOpenStretch(db, projectId, through.changesets);
    const isClosed = stretch?.isClosed === true;
    if (isClosed && findWaitingOp(db) > lastOpOf(stretch.last))
      return { waiting: { projectId, kind: 'changesets', stretch, nodesAfter: through.nodes } };
    const upTo = through.moves + movesLookedAt;
    const moves = nextMoveStretch(db, projectId, through.moves, undefined, stretchLimits, upTo);
    if (moves?.isClosed === true) return { waiting: { projectId, kind: 'moves', stretch: moves } };
    missing = {
      changesets: Math.min(missing.changesets, isClosed ? 1 : stretchLimits.rows - (stretch?.count ?? 0)),
      moves: Math.min(missing.moves, stretchLimits.rows - (moves?.count ?? 0)),
    };
  }
  return {
    rest: { changesets: findNewestSeq(db) + missing.changesets, moves: nextMoveSeq(db) - 1 + missing.moves },
  };
}

/** The stretch behind the last seal; where there is none, the one behind the root, which is never sealed. */
function nextOpenStretch(db: ReadableDb, projectId: ProjectId, sealedThrough: number): ChangesetStretch | undefined {
  const next = nextChangesetStretch(db, projectId, sealedThrough, undefined);
  return sealedThrough > 0 || next === undefined ? next : nextChangesetStretch(db, projectId, next.last, undefined);
}

async function sealOne(
  read: SealingDeps['read'],
  waiting: Waiting,
  findings: ReturnType<typeof openFindings>,
): Promise<Sealings | undefined> {
  const { projectId } = waiting;
  if (waiting.kind === 'moves') {
    const sealing = await sealMoves(read, projectId, waiting.stretch, findings);
    return sealing === undefined ? undefined : { ...nothingSealed, moves: [sealing] };
  }
  const { stretch, nodesAfter } = waiting;
  const history = await sealHistory(read, projectId, stretch, findings);
  if (history === undefined) return undefined;
  const derived = await sealDerived(read, projectId, stretch, nodesAfter, findings, () => setImmediate());
  if (derived === undefined) return undefined;
  const { first, last, count } = stretch;
  return {
    ...nothingSealed,
    changesets: [{ project_id: projectId, first, last, count, history_digest: history, ...derived }],
  };
}
