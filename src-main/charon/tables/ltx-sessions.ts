import { z } from 'zod';
import { digestSchema, type PrincipalId, principalIdSchema } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const sessionSchema = z.strictObject({
  session_id: z.string(),
  principal_id: principalIdSchema,
  token_mac: digestSchema,
  expires_ms: z.int(),
});
type StoredSession = z.infer<typeof sessionSchema>;

/** The stored session of that public half. */
export function findSession(db: ReadableDb, sessionId: string): StoredSession | undefined {
  const row = db
    .query<[string], unknown>(
      'SELECT session_id, principal_id, token_mac, expires_ms FROM ltx_sessions WHERE session_id = ?',
    )
    .get(sessionId);
  return row === undefined ? undefined : sessionSchema.parse(row);
}

/** A new session; those whose time was over at `nowMs` are let go. */
export function insertSession(
  db: WritableDb,
  session: { readonly sessionId: string; readonly principalId: PrincipalId; readonly expiresMs: number },
  tokenMac: string,
  nowMs: number,
): void {
  db.command<[number]>('DELETE FROM ltx_sessions WHERE expires_ms <= ?').run(nowMs);
  db.command<[string, string, string, number]>(
    'INSERT INTO ltx_sessions (session_id, principal_id, token_mac, expires_ms) VALUES (?, ?, ?, ?)',
  ).run(session.sessionId, session.principalId, tokenMac, session.expiresMs);
}
