import { z } from 'zod';
import { type Resolution, resolutionSchema } from '../../../src-preload/contract/conflict.ts';
import type { Digest, ProjectId } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const rowSchema = z.strictObject({
  conflict_id: z.string(),
  conflict_key: z.string(),
  choice: z.string(),
  note: z.string().nullable(),
  content: z.string().nullable(),
  scope: z.string().nullable(),
  drafted_at: z.string(),
  ops: z.string(),
});

const columns = 'conflict_id, conflict_key, choice, note, content, scope, drafted_at, ops';

/** Records what one attempt writes for the conflicts that it settles, in their order. */
export function insertAttemptResolutions(db: WritableDb, nonce: string, resolutions: readonly Resolution[]): void {
  const insert = db.command<
    [string, number, string, string, string, string | null, string | null, string | null, string, string]
  >(`INSERT INTO attempt_resolutions (nonce, ordinal, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  for (const [ordinal, resolution] of resolutions.entries()) {
    insert.run(
      nonce,
      ordinal,
      resolution.conflict_id,
      resolution.conflict_key,
      resolution.choice,
      resolution.note ?? null,
      resolution.content ?? null,
      resolution.scope ?? null,
      resolution.drafted_at,
      JSON.stringify(resolution.ops),
    );
  }
}

/** What an attempt wrote for the conflicts that it settled, in their order. */
export function listAttemptResolutions(db: ReadableDb, nonce: string): readonly Resolution[] {
  return db
    .query<[string], unknown>(`SELECT ${columns} FROM attempt_resolutions WHERE nonce = +? ORDER BY ordinal`)
    .all(nonce)
    .map(decode);
}

/** What the newest merge of the project that landed wrote for a conflict of that key. */
export function findLandedResolution(
  db: ReadableDb,
  projectId: ProjectId,
  conflictKey: Digest,
): Resolution | undefined {
  const row = db
    .query<[string, string], unknown>(
      `SELECT ${columns.replaceAll(/\w+/g, 'r.$&')} FROM attempt_resolutions r JOIN merge_attempts a ON a.nonce = r.nonce
       JOIN proposals p ON p.proposal_id = a.proposal_id
       WHERE r.conflict_key = +? AND p.project_id = +? AND p.status = 'completed' ORDER BY a.seq DESC LIMIT 1`,
    )
    .get(conflictKey, projectId);
  return row === undefined ? undefined : decode(row);
}

function decode(row: unknown): Resolution {
  const { note, content, scope, ops, ...rest } = rowSchema.parse(row);
  return resolutionSchema.parse({
    ...rest,
    ...(note === null ? {} : { note }),
    ...(content === null ? {} : { content }),
    ...(scope === null ? {} : { scope }),
    ops: JSON.parse(ops),
  });
}
