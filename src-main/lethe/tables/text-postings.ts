// The full-text index from the side of its tokens: which versions have each. One pass over it compares what asking for
// every token of every version would, at a fraction of the cost. SQLite joins many rows into one text here, because a
// text of ten thousand rows crosses over to JavaScript at the price of a few.

import type { ReadableDb } from '../../sqlite/driver.ts';
import type { IndexedVersion } from './text-index.ts';

/** Rows of the index as one text: `token version`, a line each, by token and within a token by version. */
export function readPostings(db: ReadableDb, from: string, below: string, limit: number): string {
  return (
    db
      .query<[string, string, number], { lines: string | null }>(
        `SELECT group_concat(term || ' ' || doc, char(10)) AS lines
           FROM (SELECT term, doc FROM text_postings WHERE term >= ? AND term < ? LIMIT +?)`,
      )
      .get(from, below, limit)?.lines ?? ''
  );
}

/** The same of one token, from the version after `after` on. The token is as the index holds it, its project in front. */
export function readPostingsOf(db: ReadableDb, token: string, after: number, limit: number): string {
  return (
    db
      .query<[string, string, number, number], { lines: string | null }>(
        `SELECT group_concat(? || ' ' || version, char(10)) AS lines
           FROM (SELECT rowid AS version FROM text_index WHERE text_index MATCH ? AND rowid > CAST(? AS INTEGER)
                 ORDER BY rowid LIMIT +?)`,
      )
      .get(token, `"${token.replaceAll('"', '""')}"`, after, limit)?.lines ?? ''
  );
}

/** The tokens of a project in the index lie between these two. */
export function tokenRangeOf(projectKey: number): { readonly from: string; readonly below: string } {
  return { from: `${projectKey}a`, below: `${projectKey}{` };
}

/** Versions that the index holds with `after` < version ≤ `upTo`, ascending. */
export function listIndexedVersions(db: ReadableDb, after: number, upTo: number): readonly IndexedVersion[] {
  return db
    .query<[number, number], IndexedVersion>(
      'SELECT version, memory FROM text_versions WHERE version > +? AND version <= +? ORDER BY version',
    )
    .all(after, upTo);
}
