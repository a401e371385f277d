// The search index of latest-live values. Tokens come ready from the rules; here they only get their agent in front, so
// that one agent's postings are not slowed down by another's. Its rowid is the number of a version.

import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** Live heads up to this number are in the index; 0 before the first. */
export function findIndexedThrough(db: ReadableDb): number {
  return (
    db.query<[], { through: number }>('SELECT through FROM ledger_text_progress WHERE only = 1').get()?.through ?? 0
  );
}

export function setIndexedThrough(db: WritableDb, through: number): void {
  db.command<[number]>('UPDATE ledger_text_progress SET through = ? WHERE only = 1').run(through);
}

/** Notes that a version is live no longer; nothing to do when the index does not hold it yet. */
export function noteStale(db: WritableDb, seq: number): void {
  if (seq <= findIndexedThrough(db)) db.command<[number]>('INSERT INTO ledger_text_stale (seq) VALUES (?)').run(seq);
}

/** Versions that are still in the index though live no longer. */
export function listStale(db: ReadableDb, limit: number): readonly number[] {
  return db
    .query<[number], { seq: number }>('SELECT seq FROM ledger_text_stale ORDER BY seq LIMIT +?')
    .all(limit)
    .map((row) => row.seq);
}

/** Takes a version out of the index. */
export function removeFromIndex(db: WritableDb, seq: number): void {
  db.command<[number]>('DELETE FROM ledger_text WHERE rowid = CAST(? AS INTEGER)').run(seq);
  db.command<[number]>('DELETE FROM ledger_text_stale WHERE seq = ?').run(seq);
}

/** Adds a version with its tokens. */
export function insertTokens(db: WritableDb, agent: number, seq: number, tokens: ReadonlySet<string>): void {
  const text = [...tokens].map((token) => `${agent}${token}`).join(' ');
  db.command<[number, string]>('INSERT INTO ledger_text (rowid, tokens) VALUES (CAST(? AS INTEGER), ?)').run(seq, text);
}

const found = `SELECT h.seq AS seq FROM ledger_text CROSS JOIN ledger_heads h ON h.seq = ledger_text.rowid
  WHERE ledger_text MATCH ? AND h.live = 1 AND (h.expires_ms IS NULL OR h.expires_ms > +?)
  ORDER BY ledger_text.rowid DESC LIMIT +?`;

/** What a version must have to be found: all of the tokens, and one of each group. */
export interface TokenQuery {
  readonly every: readonly string[];
  readonly oneOf: readonly string[];
}

/** Live versions that have the tokens, the newest first. */
export function listHolders(
  db: ReadableDb,
  agent: number,
  query: TokenQuery,
  nowMs: number,
  limit: number,
): readonly number[] {
  return db
    .query<[string, number, number], { seq: number }>(found)
    .all(matchText(agent, query), nowMs, limit)
    .map((row) => row.seq);
}

/** A token of a version as the index holds it, its agent in front. */
export interface TermRow {
  readonly term: string;
  readonly seq: number;
}

/** Tokens of the index in their order from one on, the first `skip` entries left out. */
export function listTerms(db: ReadableDb, from: string, skip: number, limit: number): readonly TermRow[] {
  return db
    .query<[string, number, number], TermRow>(
      'SELECT term, doc AS seq FROM ledger_text_terms WHERE term >= ? LIMIT +? OFFSET +?',
    )
    .all(from, limit, skip);
}

/** Does one bounded step of merging the index's segments; true when another would do more. */
export function mergeSegments(db: WritableDb, pages: number): boolean {
  const total = 'SELECT total_changes() AS changes';
  const before = db.query<[], { changes: number }>(total).get()?.changes ?? 0;
  db.command<[number]>(`INSERT INTO ledger_text (ledger_text, rank) VALUES ('merge', CAST(? AS INTEGER))`).run(pages);
  const after = db.query<[], { changes: number }>(total).get()?.changes ?? 0;
  return after - before >= 2;
}

/** Empties the index; every live head is waiting to be indexed again afterwards. */
export function clearIndex(db: WritableDb): void {
  db.command<[]>(`INSERT INTO ledger_text (ledger_text) VALUES ('delete-all')`).run();
  db.command<[]>('DELETE FROM ledger_text_stale').run();
  setIndexedThrough(db, 0);
}

function matchText(agent: number, query: TokenQuery): string {
  const quoted = (token: string): string => `"${agent}${token.replaceAll('"', '""')}"`;
  const every = query.every.map(quoted);
  const oneOf = query.oneOf.length === 0 ? [] : [`(${query.oneOf.map(quoted).join(' OR ')})`];
  return [...every, ...oneOf].join(' AND ');
}
