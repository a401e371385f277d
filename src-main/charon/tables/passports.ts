import { z } from 'zod';
import {
  type PrincipalId,
  principalIdSchema,
  type Timestamp,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import type { Passport } from '../../../src-preload/contract/ltx.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { agentIdOf } from '../rules/agent-id.ts';
import { didOf } from '../rules/passport-key.ts';

const rowSchema = z.strictObject({
  principal_id: principalIdSchema,
  public_key: z.string(),
  registered_at: timestampSchema,
  revoked_at: timestampSchema.nullable(),
});

/** The passport of a principal, revoked or not. */
export function findPassport(db: ReadableDb, principalId: PrincipalId): Passport | undefined {
  const row = db
    .query<[string], unknown>(
      'SELECT principal_id, public_key, registered_at, revoked_at FROM passports WHERE principal_id = ?',
    )
    .get(principalId);
  if (row === undefined) return undefined;
  const parsed = rowSchema.parse(row);
  return { ...parsed, agent_id: agentIdOf(parsed.principal_id), did: didOf(parsed.public_key) };
}

/** A new agent's passport. `publicKey` is the base64 of its raw 32 bytes. */
export function insertPassport(
  db: WritableDb,
  principalId: PrincipalId,
  publicKey: string,
  registeredAt: Timestamp,
): void {
  db.command<[string, string, string]>(
    'INSERT INTO passports (principal_id, public_key, registered_at) VALUES (?, ?, ?)',
  ).run(principalId, publicKey, registeredAt);
}

/** Revokes; a revocation stands. */
export function updatePassportRevoked(db: WritableDb, principalId: PrincipalId, revokedAt: Timestamp): void {
  db.command<[string, string]>('UPDATE passports SET revoked_at = ? WHERE principal_id = ? AND revoked_at IS NULL').run(
    revokedAt,
    principalId,
  );
}
