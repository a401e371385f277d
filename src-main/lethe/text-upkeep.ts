import type { Log } from '../base/log.ts';
import type { WriteVerb } from '../sqlite/batch.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { isDamage, type TextHealth } from '../text/health.ts';
import { clearTextIndex, listTouchingOps } from './tables/text-index.ts';
import { maintainTextIndex, toPending } from './text-head.ts';
import { verifyTextIndex } from './text-indexing.ts';

/** Ops of the history that one step of the patrol compares with the index. */
const patrolOps = 50;
/** Rounds in which the patrol has asked for every token. */
const patrolShares = 16;
/** How often one opening of the store makes the index anew before it leaves that to the next: it would not help. */
export const rebuildsMax = 3;

interface UpkeepDeps {
  readonly read: <Result>(verb: (db: ReadableDb) => Result) => Result;
  readonly write: (verb: WriteVerb<boolean, never>) => Promise<boolean>;
  readonly textHealth: TextHealth;
  readonly log: Log;
}

/**
 * One bounded step of keeping the full-text index, at each call: emptying one that is damaged, indexing what waits, tidying,
 * and, when there is nothing else to do, comparing the next stretch of the history with it (`L225`, `L226`). True when
 * another step would do more; the patrol alone never asks for one. No step is part of a commit, and none holds one up
 * longer than its bound.
 */
export function openTextUpkeep({ read, write, textHealth, log }: UpkeepDeps): () => Promise<boolean> {
  const patrol = openPatrol();
  let rebuilds = 0;
  const step = async (): Promise<'busy' | 'damaged' | 'whole'> => {
    try {
      if (await write((db) => maintainTextIndex(db))) return 'busy';
      return read((db) => patrol(db)) ? 'damaged' : 'whole';
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      log.warn({ err: thrown }, 'the full-text index cannot be used');
      return 'damaged';
    }
  };
  const rebuild = async (): Promise<boolean> => {
    if (rebuilds >= rebuildsMax) return false;
    rebuilds += 1;
    log.warn({ rebuilds }, 'the full-text index is damaged and is made anew; searches go without it until then');
    await write((db) => {
      clearTextIndex(db);
      return true;
    });
    textHealth.noticeEmptied();
    return true;
  };
  return async () => {
    if (textHealth.isDamaged) return rebuild();
    const found = await step();
    if (found === 'damaged') textHealth.noticeDamage();
    return found !== 'whole';
  };
}

/**
 * Compares one stretch of the history after another with the index, from the beginning again after the end; true when they
 * disagree. Each state must be in its place; of its tokens another share is asked for each time round, all of them in
 * `patrolShares` rounds: asking for tokens is what costs.
 */
function openPatrol(): (db: ReadableDb) => boolean {
  let after = 0;
  let round = 0;
  return (db) => {
    const ops = listTouchingOps(db, after, patrolOps);
    const share = round % patrolShares;
    const ended = ops.length < patrolOps;
    after = ended ? 0 : (ops.at(-1)?.op ?? 0);
    if (ended) round += 1;
    const stretch = ops.map((op) => toPending(db, op));
    const sample = (tokens: readonly string[]): readonly string[] =>
      tokens.filter((_, index) => index % patrolShares === share);
    return verifyTextIndex(db, stretch, sample).length > 0;
  };
}
