import { z } from 'zod';
import {
  digestSchema,
  type PrincipalId,
  principalIdSchema,
  type Timestamp,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import { type RegistrationId, registrationIdSchema } from '../../../src-preload/contract/ltx.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const storedRegistrationSchema = z.strictObject({
  seq: z.int(),
  registration_id: registrationIdSchema,
  agent_name: z.string(),
  owner_identifier: z.string(),
  public_key: z.string().nullable(),
  poll_mac: digestSchema,
  created_at: timestampSchema,
  expires_ms: z.int(),
  status: z.enum(['pending', 'approved', 'claimed', 'refused']),
  decided_at: timestampSchema.nullable(),
  principal_id: principalIdSchema.nullable(),
  /** 1 for one of before a restore: its poll token fetches nothing any more. */
  is_of_before: z.int(),
});
/** A registration as it is stored: that its time is over is for whoever reads it to see. */
export type StoredRegistration = z.infer<typeof storedRegistrationSchema>;

const columns = `seq, registration_id, agent_name, owner_identifier, public_key, poll_mac, created_at, expires_ms, status, decided_at, principal_id,
  epoch < (SELECT epoch FROM credential_epoch WHERE one = 1) AS is_of_before`;

/** The registration of that id. */
export function findStoredRegistration(db: ReadableDb, registrationId: string): StoredRegistration | undefined {
  const row = db
    .query<[string], unknown>(`SELECT ${columns} FROM registrations WHERE registration_id = ?`)
    .get(registrationId);
  return row === undefined ? undefined : storedRegistrationSchema.parse(row);
}

/** The newest of an agent's name and owner that was not refused. */
export function findLatestOf(db: ReadableDb, agentName: string, owner: string): StoredRegistration | undefined {
  const row = db
    .query<[string, string], unknown>(
      `SELECT ${columns} FROM registrations WHERE agent_name = ? AND owner_identifier = ? AND status <> 'refused' ORDER BY seq DESC LIMIT 1`,
    )
    .get(agentName, owner);
  return row === undefined ? undefined : storedRegistrationSchema.parse(row);
}

/** The registration that made a principal. */
export function findRegistrationOf(db: ReadableDb, principalId: PrincipalId): StoredRegistration | undefined {
  const row = db
    .query<[string], unknown>(`SELECT ${columns} FROM registrations WHERE principal_id = ?`)
    .get(principalId);
  return row === undefined ? undefined : storedRegistrationSchema.parse(row);
}

/** Newest first, up to `limit` before `beforeSeq`. */
export function listRegistrations(db: ReadableDb, beforeSeq: number, limit: number): readonly StoredRegistration[] {
  const rows = db
    .query<[number, number], unknown>(`SELECT ${columns} FROM registrations WHERE seq < +? ORDER BY seq DESC LIMIT +?`)
    .all(beforeSeq, limit);
  return rows.map((row) => storedRegistrationSchema.parse(row));
}

/** Those that still wait for a decision at `nowMs`, newest first: as many as may wait at once, and no more. */
export function listWaiting(db: ReadableDb, nowMs: number): readonly StoredRegistration[] {
  const rows = db
    .query<[number], unknown>(
      `SELECT ${columns} FROM registrations WHERE status = 'pending' AND expires_ms > ? AND epoch = (SELECT epoch FROM credential_epoch WHERE one = 1) ORDER BY expires_ms DESC, seq DESC`,
    )
    .all(nowMs);
  return rows.map((row) => storedRegistrationSchema.parse(row));
}

/** A new registration, waiting for the owner. */
export function insertRegistration(
  db: WritableDb,
  registration: {
    readonly registrationId: RegistrationId;
    readonly agentName: string;
    readonly owner: string;
    readonly publicKey: string | null;
    readonly pollMac: string;
    readonly createdAt: Timestamp;
    readonly expiresMs: number;
  },
): void {
  const { registrationId, agentName, owner, publicKey, pollMac, createdAt, expiresMs } = registration;
  db.command<[string, string, string, string | null, string, string, number]>(
    `INSERT INTO registrations (registration_id, agent_name, owner_identifier, public_key, poll_mac, created_at, expires_ms, status, epoch)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', (SELECT epoch FROM credential_epoch WHERE one = 1))`,
  ).run(registrationId, agentName, owner, publicKey, pollMac, createdAt, expiresMs);
}

/** Decides one that waits; false when it was decided already. `principalId` is the agent that was made, null for a refusal. */
export function decideRegistration(
  db: WritableDb,
  registrationId: RegistrationId,
  principalId: PrincipalId | null,
  decidedAt: Timestamp,
): boolean {
  const status = principalId === null ? 'refused' : 'approved';
  return (
    db
      .command<[string, string | null, string, string]>(
        `UPDATE registrations SET status = ?, principal_id = ?, decided_at = ? WHERE registration_id = ? AND status = 'pending'`,
      )
      .run(status, principalId, decidedAt, registrationId).changes === 1
  );
}

/** Marks an approved one as claimed; false when somebody did so before. */
export function claimRegistration(db: WritableDb, registrationId: RegistrationId): boolean {
  return (
    db
      .command<[string]>(
        `UPDATE registrations SET status = 'claimed' WHERE registration_id = ? AND status = 'approved'`,
      )
      .run(registrationId).changes === 1
  );
}
