import { z } from 'zod';
import type { PrincipalId } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { UsedQuota } from '../rules/quota.ts';

const rowSchema = z.strictObject({ refs: z.int().min(0), day: z.int().min(0), payload_bytes: z.int().min(0) });

/** What a principal has used of its quotas, or undefined when nothing yet. */
export function findUsedQuota(db: ReadableDb, principalId: PrincipalId): UsedQuota | undefined {
  const found = db
    .query<[string], unknown>('SELECT refs, day, payload_bytes FROM quota_use WHERE principal_id = ?')
    .get(principalId);
  if (found === undefined) return undefined;
  const { refs, day, payload_bytes: payloadBytes } = rowSchema.parse(found);
  return { refs, day, payloadBytes };
}

/** Writes what a principal has used over what was there. */
export function upsertUsedQuota(db: WritableDb, principalId: PrincipalId, used: UsedQuota): void {
  db.command<[string, number, number, number]>(
    `INSERT INTO quota_use (principal_id, refs, day, payload_bytes) VALUES (?, ?, ?, ?)
     ON CONFLICT (principal_id) DO UPDATE SET refs = excluded.refs, day = excluded.day, payload_bytes = excluded.payload_bytes`,
  ).run(principalId, used.refs, used.day, used.payloadBytes);
}
