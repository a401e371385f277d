import type { JsonValue } from '../../src-preload/contract/json.ts';
import type { Log } from '../base/log.ts';
import type { WriteVerb } from '../sqlite/batch.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { isDamage, type TextHealth } from '../text/health.ts';
import { entryText, entryTokens } from './rules/entry-text.ts';
import { type HeadRow, listUnindexed } from './tables/heads.ts';
import {
  clearIndex,
  findIndexedThrough,
  insertTokens,
  listStale,
  mergeSegments,
  removeFromIndex,
  setIndexedThrough,
} from './tables/text-index.ts';
import { findVersionBySeq } from './tables/versions.ts';

/** Values that one step indexes, and bytes of them after which it ends. */
const indexedMax = 50;
const indexedBytesMax = 262_144;
/** Versions that one step takes out. */
const removedMax = 200;
const mergePages = 100;
/** How often one opening of the store makes the index anew before it leaves that to the next. */
export const rebuildsMax = 3;

interface UpkeepDeps {
  readonly write: (verb: WriteVerb<boolean, never>) => Promise<boolean>;
  readonly health: TextHealth;
  readonly log: Log;
}

/**
 * One bounded step of keeping the search index, at each call (`G24`): emptying one that is damaged, else taking out what is
 * live no longer, indexing what waits, tidying. True when another step would do more. None is part of a put.
 */
export function openTextUpkeep({ write, health, log }: UpkeepDeps): () => Promise<boolean> {
  let rebuilds = 0;
  const rebuild = async (): Promise<boolean> => {
    if (rebuilds >= rebuildsMax) return false;
    rebuilds += 1;
    log.warn({ rebuilds }, 'the search index of the ledger is damaged and is made anew');
    await write((db) => {
      clearIndex(db);
      return true;
    });
    health.noticeEmptied();
    return true;
  };
  return async () => {
    if (health.isDamaged) return rebuild();
    try {
      return await write(maintainIndex);
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown;
      log.warn({ err: thrown }, 'the search index of the ledger cannot be used');
      health.noticeDamage();
      return true;
    }
  };
}

function maintainIndex(db: WritableDb): boolean {
  const stale = listStale(db, removedMax);
  for (const seq of stale) removeFromIndex(db, seq);
  if (stale.length === removedMax) return true;
  if (indexNext(db)) return true;
  return mergeSegments(db, mergePages);
}

/** Indexes the next live values; true when there may be more. */
function indexNext(db: WritableDb): boolean {
  const waiting = listUnindexed(db, findIndexedThrough(db), indexedMax);
  let bytes = 0;
  for (const [index, head] of waiting.entries()) {
    insertTokens(db, head.agent, head.seq, headTokens(db, head));
    setIndexedThrough(db, head.seq);
    bytes += head.value_bytes;
    if (bytes >= indexedBytesMax && index + 1 < waiting.length) return true;
  }
  return waiting.length === indexedMax;
}

/** The index tokens of a live value; those of its key alone when the value is damaged, which verification names. */
export function headTokens(db: ReadableDb, head: HeadRow): ReadonlySet<string> {
  const value = parsed(findVersionBySeq(db, head.seq)?.body);
  return entryTokens(head.key, entryText(head.key, value), head.importance ?? 0);
}

function parsed(body: string | null | undefined): JsonValue {
  try {
    return JSON.parse(body ?? 'null');
  } catch {
    return null;
  }
}
