import { z } from 'zod';
import { digestSchema, type ObolId, type PrincipalId, type Timestamp } from '../../../src-preload/contract/ids.ts';
import { type Obol, obolSchema } from '../../../src-preload/contract/principal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** A token as it is stored: what may be shown, and the MAC of the whole. */
const storedObolSchema = z.strictObject({ ...obolSchema.shape, token_mac: digestSchema });
export type StoredObol = z.infer<typeof storedObolSchema>;

const shown = `obol_id, principal_id, audience, created_at, expires_at, revoked_at, last_used_at, last_client, last_tool,
  epoch < (SELECT epoch FROM credential_epoch WHERE one = 1) AS needs_reapproval`;

/** A row with its mark as the contract has it: there, or left out. */
function marked(row: object): object {
  const { needs_reapproval: isOld, ...rest } = { needs_reapproval: 0, ...row };
  return isOld === 1 ? { ...rest, needs_reapproval: true } : rest;
}

/** The stored token of that public half. */
export function findStoredObol(db: ReadableDb, obolId: ObolId): StoredObol | undefined {
  const row = db.query<[string], object>(`SELECT ${shown}, token_mac FROM obols WHERE obol_id = ?`).get(obolId);
  return row === undefined ? undefined : storedObolSchema.parse(marked(row));
}

/** Without its MAC, for showing. */
export function findObol(db: ReadableDb, obolId: ObolId): Obol | undefined {
  const row = db.query<[string], object>(`SELECT ${shown} FROM obols WHERE obol_id = ?`).get(obolId);
  return row === undefined ? undefined : obolSchema.parse(marked(row));
}

/** Newest first, of one principal or of all. */
export function listObols(db: ReadableDb, principalId: PrincipalId | undefined): readonly Obol[] {
  const rows =
    principalId === undefined
      ? db.query<[], object>(`SELECT ${shown} FROM obols ORDER BY seq DESC`).all()
      : db
          .query<[string], object>(`SELECT ${shown} FROM obols WHERE principal_id = +? ORDER BY seq DESC`)
          .all(principalId);
  return rows.map((row) => obolSchema.parse(marked(row)));
}

/** A new token. */
export function insertObol(db: WritableDb, obol: Obol, tokenMac: string): void {
  db.command<[string, string, string, string, string, string | null]>(
    `INSERT INTO obols (obol_id, principal_id, token_mac, audience, created_at, expires_at, epoch)
     VALUES (?, ?, ?, ?, ?, ?, (SELECT epoch FROM credential_epoch WHERE one = 1))`,
  ).run(obol.obol_id, obol.principal_id, tokenMac, obol.audience, obol.created_at, obol.expires_at);
}

/** Revokes; a revocation stands, whoever asks again. */
export function updateRevoked(db: WritableDb, obolId: ObolId, revokedAt: Timestamp): void {
  db.command<[string, string]>('UPDATE obols SET revoked_at = ? WHERE obol_id = ? AND revoked_at IS NULL').run(
    revokedAt,
    obolId,
  );
}

/** Lets in again what was minted before a restore. */
export function updateObolEpoch(db: WritableDb, obolId: ObolId): void {
  db.command<[string]>(
    'UPDATE obols SET epoch = (SELECT epoch FROM credential_epoch WHERE one = 1) WHERE obol_id = ?',
  ).run(obolId);
}

/** Remembers the last use. */
export function updateLastUse(
  db: WritableDb,
  obolId: ObolId,
  use: { readonly at: Timestamp; readonly client: string; readonly tool: string },
): void {
  db.command<[string, string, string, string]>(
    'UPDATE obols SET last_used_at = ?, last_client = ?, last_tool = ? WHERE obol_id = ?',
  ).run(use.at, use.client, use.tool, obolId);
}
