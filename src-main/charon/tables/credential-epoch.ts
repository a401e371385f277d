import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** The epoch of now: what a credential must be of to be let in. */
export function credentialEpoch(db: ReadableDb): number {
  const row = db.query<[], { epoch: number }>('SELECT epoch FROM credential_epoch WHERE one = 1').get();
  assert(row !== undefined, 'the migration made the row of the credential epoch');
  return row.epoch;
}

/** Ends every credential of before; a lower epoch than now is refused by the table. */
export function raiseCredentialEpoch(db: WritableDb, epoch: number, raisedAt: string): void {
  db.command<[number, string]>('UPDATE credential_epoch SET epoch = ?, raised_at = ? WHERE one = 1').run(
    epoch,
    raisedAt,
  );
}

/** What of a sign-in is under way ends as well: requests, sessions and challenges are forgotten. */
export function forgetSignIns(db: WritableDb): void {
  db.command<[]>('DELETE FROM oauth_requests').run();
  db.command<[]>('DELETE FROM ltx_sessions').run();
  db.command<[]>('DELETE FROM passport_challenges').run();
}
