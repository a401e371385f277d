import { z } from 'zod';
import {
  digestSchema,
  type PrincipalId,
  principalIdSchema,
  type Timestamp,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import {
  type OauthGrantId,
  type OauthRequestId,
  oauthGrantIdSchema,
  oauthRequestIdSchema,
} from '../../../src-preload/contract/oauth.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const requestSchema = z.strictObject({
  request_id: oauthRequestIdSchema,
  wait_mac: digestSchema,
  client_id: z.string(),
  client_name: z.string(),
  redirect_uri: z.string(),
  state: z.string().nullable(),
  challenge: z.string(),
  resource: z.string(),
  match_code: z.string(),
  created_at: timestampSchema,
  expires_ms: z.int(),
  status: z.enum(['pending', 'approved', 'refused', 'handed', 'used']),
  principal_id: principalIdSchema.nullable(),
  code_mac: digestSchema.nullable(),
  code_expires_ms: z.int().nullable(),
  grant_id: oauthGrantIdSchema.nullable(),
});
/** A program that asks to sign in, as it is stored: that its time is over is for whoever reads it to see. */
export type StoredOauthRequest = z.infer<typeof requestSchema>;

const grantSchema = z.strictObject({
  grant_id: oauthGrantIdSchema,
  principal_id: principalIdSchema,
  client_name: z.string(),
  resource: z.string(),
  created_at: timestampSchema,
  expires_ms: z.int(),
  revoked_at: timestampSchema.nullable(),
  /** 1 for one of before a restore: it is over, and the program signs in again. */
  is_of_before: z.int(),
});
/** An access that signing in gave. */
export type StoredOauthGrant = z.infer<typeof grantSchema>;

const requestColumns =
  'request_id, wait_mac, client_id, client_name, redirect_uri, state, challenge, resource, match_code, created_at, expires_ms, status, principal_id, code_mac, code_expires_ms, grant_id';
const grantColumns = `grant_id, principal_id, client_name, resource, created_at, expires_ms, revoked_at,
  epoch < (SELECT epoch FROM credential_epoch WHERE one = 1) AS is_of_before`;

/** The request of that id. */
export function findOauthRequest(db: ReadableDb, requestId: string): StoredOauthRequest | undefined {
  const row = db
    .query<[string], unknown>(`SELECT ${requestColumns} FROM oauth_requests WHERE request_id = ?`)
    .get(requestId);
  return row === undefined ? undefined : requestSchema.parse(row);
}

/** Those that wait for the owner at `nowMs`, the newest first: as many as may wait at once, and no more. */
export function listPendingOauth(db: ReadableDb, nowMs: number): readonly StoredOauthRequest[] {
  const rows = db
    .query<[number], unknown>(
      `SELECT ${requestColumns} FROM oauth_requests WHERE status = 'pending' AND expires_ms > ? ORDER BY expires_ms DESC`,
    )
    .all(nowMs);
  return rows.map((row) => requestSchema.parse(row));
}

/** A new request, waiting for the owner. */
export function insertOauthRequest(
  db: WritableDb,
  request: Omit<StoredOauthRequest, 'status' | 'principal_id' | 'code_mac' | 'code_expires_ms' | 'grant_id'>,
): void {
  db.command<[string, string, string, string, string, string | null, string, string, string, string, number]>(
    `INSERT INTO oauth_requests (request_id, wait_mac, client_id, client_name, redirect_uri, state, challenge, resource, match_code, created_at, expires_ms, status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')`,
  ).run(
    request.request_id,
    request.wait_mac,
    request.client_id,
    request.client_name,
    request.redirect_uri,
    request.state,
    request.challenge,
    request.resource,
    request.match_code,
    request.created_at,
    request.expires_ms,
  );
}

/** What the owner decided; false when it was decided before. `principalId` null refuses. */
export function decideOauthRequest(
  db: WritableDb,
  requestId: OauthRequestId,
  principalId: PrincipalId | null,
): boolean {
  return (
    db
      .command<[string, string | null, string]>(
        `UPDATE oauth_requests SET status = ?, principal_id = ? WHERE request_id = ? AND status = 'pending'`,
      )
      .run(principalId === null ? 'refused' : 'approved', principalId, requestId).changes === 1
  );
}

/** The code of an approved request, once; false when it was handed out before. */
export function handOutCode(
  db: WritableDb,
  requestId: OauthRequestId,
  codeMac: string,
  codeExpiresMs: number,
): boolean {
  return (
    db
      .command<[string, number, string]>(
        `UPDATE oauth_requests SET status = 'handed', code_mac = ?, code_expires_ms = ? WHERE request_id = ? AND status = 'approved'`,
      )
      .run(codeMac, codeExpiresMs, requestId).changes === 1
  );
}

/** The code is spent: on that access, or on none. */
export function spendCode(db: WritableDb, requestId: OauthRequestId, grantId: OauthGrantId | null): void {
  db.command<[string | null, string]>(
    `UPDATE oauth_requests SET status = 'used', grant_id = ? WHERE request_id = ? AND status = 'handed'`,
  ).run(grantId, requestId);
}

/** Forgets requests whose time is over. */
export function deleteOauthRequests(db: WritableDb, beforeMs: number): void {
  db.command<[number]>('DELETE FROM oauth_requests WHERE expires_ms <= ?').run(beforeMs);
}

/** The access of that id. */
export function findOauthGrant(db: ReadableDb, grantId: string): StoredOauthGrant | undefined {
  const row = db.query<[string], unknown>(`SELECT ${grantColumns} FROM oauth_grants WHERE grant_id = ?`).get(grantId);
  return row === undefined ? undefined : grantSchema.parse(row);
}

/** Those that are not over at `nowMs`, the newest first. */
export function listOauthGrants(db: ReadableDb, nowMs: number): readonly StoredOauthGrant[] {
  const rows = db
    .query<[number], unknown>(
      `SELECT ${grantColumns} FROM oauth_grants WHERE expires_ms > ? AND epoch = (SELECT epoch FROM credential_epoch WHERE one = 1) ORDER BY expires_ms DESC`,
    )
    .all(nowMs);
  return rows.map((row) => grantSchema.parse(row));
}

/** A new access. */
export function insertOauthGrant(db: WritableDb, grant: Omit<StoredOauthGrant, 'revoked_at' | 'is_of_before'>): void {
  db.command<[string, string, string, string, string, number]>(
    `INSERT INTO oauth_grants (grant_id, principal_id, client_name, resource, created_at, expires_ms, epoch)
     VALUES (?, ?, ?, ?, ?, ?, (SELECT epoch FROM credential_epoch WHERE one = 1))`,
  ).run(grant.grant_id, grant.principal_id, grant.client_name, grant.resource, grant.created_at, grant.expires_ms);
}

/** Ends an access; that stands, whoever asks again. */
export function revokeOauthGrant(db: WritableDb, grantId: OauthGrantId, revokedAt: Timestamp): void {
  db.command<[string, string]>('UPDATE oauth_grants SET revoked_at = ? WHERE grant_id = ? AND revoked_at IS NULL').run(
    revokedAt,
    grantId,
  );
}
