import { z } from 'zod';
import { digestSchema, type PrincipalId, type Timestamp } from '../../../src-preload/contract/ids.ts';
import { type LtxKey, type LtxKeyId, ltxKeySchema } from '../../../src-preload/contract/ltx.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { agentIdOf } from '../rules/agent-id.ts';

const { agent_id: _derived, ...storedShape } = ltxKeySchema.shape;
const rowSchema = z.strictObject({ ...storedShape, needs_reapproval: z.int(), token_mac: digestSchema });
type StoredLtxKey = LtxKey & { readonly token_mac: string };

const columns = `key_id, principal_id, kind, token_mac, created_at, revoked_at, last_used_at, last_client, last_tool,
  epoch < (SELECT epoch FROM credential_epoch WHERE one = 1) AS needs_reapproval`;

/** The stored key of that public half. */
export function findStoredKey(db: ReadableDb, keyId: string): StoredLtxKey | undefined {
  const row = db.query<[string], unknown>(`SELECT ${columns} FROM ltx_keys WHERE key_id = ?`).get(keyId);
  return row === undefined ? undefined : toStored(row);
}

/** Newest first, of one principal or of all; without their MACs. */
export function listKeys(db: ReadableDb, principalId: PrincipalId | undefined): readonly LtxKey[] {
  const rows =
    principalId === undefined
      ? db.query<[], unknown>(`SELECT ${columns} FROM ltx_keys ORDER BY seq DESC`).all()
      : db
          .query<[string], unknown>(`SELECT ${columns} FROM ltx_keys WHERE principal_id = +? ORDER BY seq DESC`)
          .all(principalId);
  return rows.map((row) => withoutMac(toStored(row)));
}

/** The key as it may be shown. */
export function withoutMac({ token_mac: _mac, ...key }: StoredLtxKey): LtxKey {
  return key;
}

/** A new key. */
export function insertKey(db: WritableDb, key: LtxKey, tokenMac: string): void {
  db.command<[string, string, string, string, string]>(
    `INSERT INTO ltx_keys (key_id, principal_id, kind, token_mac, created_at, epoch)
     VALUES (?, ?, ?, ?, ?, (SELECT epoch FROM credential_epoch WHERE one = 1))`,
  ).run(key.key_id, key.principal_id, key.kind, tokenMac, key.created_at);
}

/** Revokes; a revocation stands, whoever asks again. */
export function updateKeyRevoked(db: WritableDb, keyId: LtxKeyId, revokedAt: Timestamp): void {
  db.command<[string, string]>('UPDATE ltx_keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL').run(
    revokedAt,
    keyId,
  );
}

/** Lets in again what was made before a restore. */
export function updateKeyEpoch(db: WritableDb, keyId: LtxKeyId): void {
  db.command<[string]>(
    'UPDATE ltx_keys SET epoch = (SELECT epoch FROM credential_epoch WHERE one = 1) WHERE key_id = ?',
  ).run(keyId);
}

/** Remembers the last use. */
export function updateKeyUse(
  db: WritableDb,
  keyId: LtxKeyId,
  use: { readonly at: Timestamp; readonly client: string; readonly tool: string },
): void {
  db.command<[string, string, string, string]>(
    'UPDATE ltx_keys SET last_used_at = ?, last_client = ?, last_tool = ? WHERE key_id = ?',
  ).run(use.at, use.client, use.tool, keyId);
}

function toStored(row: unknown): StoredLtxKey {
  const { needs_reapproval: isOld, ...parsed } = rowSchema.parse(row);
  const stored = { ...parsed, agent_id: agentIdOf(parsed.principal_id) };
  return isOld === 1 ? { ...stored, needs_reapproval: true } : stored;
}
