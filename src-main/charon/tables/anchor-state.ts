import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** How much of the anchor file was written, as the database knows it: a file that holds less was cut. */
export interface AnchorState {
  readonly bytes: number;
  readonly lastSeq: number;
}

/** Lags behind the file by at most the last line. */
export function anchorState(db: ReadableDb): AnchorState {
  const row = db
    .query<[], { bytes: number; last_seq: number }>('SELECT bytes, last_seq FROM audit_anchor_state WHERE one = 1')
    .get();
  assert(row !== undefined, 'the migration made the row of the anchor');
  return { bytes: row.bytes, lastSeq: row.last_seq };
}

/** Records what is in the file; less than before is refused by the table. */
export function updateAnchorState(db: WritableDb, state: AnchorState): void {
  db.command<[number, number]>('UPDATE audit_anchor_state SET bytes = ?, last_seq = ? WHERE one = 1').run(
    state.bytes,
    state.lastSeq,
  );
}
