import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { pushNumber, readNumbers } from './vector-nodes.ts';

/** The most recently touched live memories at a changeset, most recent first. */
export interface RecencyPage {
  readonly entries: readonly RecencyEntry[];
  /** Op number down to which the page has looked; what is older follows from there. 0: there is nothing older. */
  readonly end: number;
}

export interface RecencyEntry {
  readonly memory: number;
  /** The op that touched it last. */
  readonly key: number;
}

/** The page that was made at a changeset, if one was due there. */
export function findRecencyPage(db: ReadableDb, seq: number): RecencyPage | undefined {
  const row = db.query<[number], { body: Uint8Array }>('SELECT body FROM memory_recency_pages WHERE seq = ?').get(seq);
  if (row === undefined) return undefined;
  const [end, ...numbers] = readNumbers(row.body);
  assert(end !== undefined && numbers.length % 2 === 0, 'a stored page has an end and whole entries');
  const entries: RecencyEntry[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [key, age] = numbers.slice(at, at + 2);
    assert(key !== undefined && age !== undefined, 'a stored entry has a key and an age');
    entries.push({ key, memory: key - age });
  }
  return { entries, end };
}

/** Adds the page of a changeset, about 7 bytes an entry. */
export function insertRecencyPage(db: WritableDb, seq: number, page: RecencyPage): void {
  const bytes: number[] = [];
  pushNumber(bytes, page.end);
  for (const { key, memory } of page.entries) {
    pushNumber(bytes, key);
    pushNumber(bytes, key - memory);
  }
  db.command<[number, Uint8Array]>('INSERT INTO memory_recency_pages (seq, body) VALUES (?, ?)').run(
    seq,
    Uint8Array.from(bytes),
  );
}
