import { z } from 'zod';
import { type PrincipalId, principalIdSchema } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const challengeRowSchema = z.strictObject({
  challenge_id: z.string(),
  principal_id: principalIdSchema,
  nonce: z.string(),
  issued_ms: z.int(),
  expires_ms: z.int(),
  burnt: z.int(),
});
export type ChallengeRow = z.infer<typeof challengeRowSchema>;

/** The challenge of that id, burnt or not. */
export function findChallenge(db: ReadableDb, challengeId: string): ChallengeRow | undefined {
  const row = db
    .query<[string], unknown>(
      'SELECT challenge_id, principal_id, nonce, issued_ms, expires_ms, burnt FROM passport_challenges WHERE challenge_id = ?',
    )
    .get(challengeId);
  return row === undefined ? undefined : challengeRowSchema.parse(row);
}

/** A new challenge; those whose time was over when it was issued are let go. */
export function insertChallenge(
  db: WritableDb,
  challenge: { readonly id: string; readonly principalId: PrincipalId; readonly nonce: string },
  issuedMs: number,
  expiresMs: number,
): void {
  db.command<[number]>('DELETE FROM passport_challenges WHERE expires_ms <= ?').run(issuedMs);
  db.command<[string, string, string, number, number]>(
    'INSERT INTO passport_challenges (challenge_id, principal_id, nonce, issued_ms, expires_ms) VALUES (?, ?, ?, ?, ?)',
  ).run(challenge.id, challenge.principalId, challenge.nonce, issuedMs, expiresMs);
}

/** Burns a challenge; false when it was burnt or is gone. */
export function burnChallenge(db: WritableDb, challengeId: string): boolean {
  return (
    db
      .command<[string]>('UPDATE passport_challenges SET burnt = 1 WHERE challenge_id = ? AND burnt = 0')
      .run(challengeId).changes === 1
  );
}
