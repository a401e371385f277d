import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { WrongPassphrases } from '../rules/passphrase-wait.ts';

/** How many wrong passphrases were typed in a row. */
export function wrongPassphrases(db: ReadableDb): WrongPassphrases {
  const row = db
    .query<[], { in_a_row: number; last_ms: number }>('SELECT in_a_row, last_ms FROM wrong_passphrases WHERE one = 1')
    .get();
  assert(row !== undefined, 'the count of wrong passphrases has its row from the migration on');
  return { inARow: row.in_a_row, lastMs: row.last_ms };
}

/** Writes the count. */
export function updateWrongPassphrases(db: WritableDb, { inARow, lastMs }: WrongPassphrases): void {
  db.command<[number, number]>('UPDATE wrong_passphrases SET in_a_row = ?, last_ms = ? WHERE one = 1').run(
    inARow,
    lastMs,
  );
}
