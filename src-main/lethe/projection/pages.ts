import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { insertRecencyPage, type RecencyEntry, type RecencyPage } from '../tables/recency-pages.ts';
import { walkRecency } from './recency.ts';
import { openSight } from './sight.ts';

/** How recency pages are laid out. Parameters, so that tests can force small ones. */
export interface PageOptions {
  /** Touches and changesets along first parents from one page to the next. */
  readonly pageEvery: number;
  /** Most entries of a page. */
  readonly pageSize: number;
  /** Most touches that are looked at to fill a page; it ends where this is spent. */
  readonly scanMax: number;
}

export const defaultPageOptions: PageOptions = { pageEvery: 256, pageSize: 256, scanMax: 2_048 };

/** Writes the recency page of a changeset that the index holds (`L95`). */
export function writePage(db: WritableDb, seq: number, options: PageOptions): void {
  insertRecencyPage(db, seq, composePage(db, seq, options));
}

/** What the recency page of a changeset holds: bounded by `scanMax`, whatever lies behind (`L95`). */
export function composePage(db: ReadableDb, seq: number, options: PageOptions): RecencyPage {
  const sight = openSight(db);
  const entries: RecencyEntry[] = [];
  let scanned = 0;
  for (const { key, live } of walkRecency(sight, sight.places.get(seq), { withoutPageOf: seq })) {
    if (live !== undefined) entries.push({ memory: live.memory, key });
    scanned += 1;
    if (entries.length >= options.pageSize || scanned >= options.scanMax) return { entries, end: key };
  }
  return { entries, end: 0 };
}
