import { z } from 'zod';
import { resolutionChoiceSchema } from '../../../src-preload/contract/conflict.ts';
import {
  type Digest,
  digestSchema,
  type ProposalId,
  principalIdSchema,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const rowSchema = z.strictObject({
  conflict_key: digestSchema,
  choice: resolutionChoiceSchema,
  note: z.string().nullable(),
  content: z.string().nullable(),
  scope: z.string().nullable(),
  drafted_by: principalIdSchema,
  drafted_at: timestampSchema,
});

/** A resolution as it is drafted: under its conflict's key, so that it is there again when the conflict is. */
export type StoredDraft = z.infer<typeof rowSchema>;

const columns = 'conflict_key, choice, note, content, scope, drafted_by, drafted_at';

/** The drafts of a proposal, in key order, whether or not their conflicts are there at this moment. */
export function listDrafts(db: ReadableDb, proposalId: ProposalId): readonly StoredDraft[] {
  return db
    .query<[string], unknown>(`SELECT ${columns} FROM resolution_drafts WHERE proposal_id = +? ORDER BY conflict_key`)
    .all(proposalId)
    .map((row) => rowSchema.parse(row));
}

/** Keeps a draft, over what was drafted under its key. */
export function upsertDraft(db: WritableDb, proposalId: ProposalId, draft: StoredDraft): void {
  db.command<[string, string, string, string | null, string | null, string | null, string, string]>(
    `INSERT INTO resolution_drafts (proposal_id, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (proposal_id, conflict_key) DO UPDATE SET choice = excluded.choice, note = excluded.note,
       content = excluded.content, scope = excluded.scope, drafted_by = excluded.drafted_by, drafted_at = excluded.drafted_at`,
  ).run(
    proposalId,
    draft.conflict_key,
    draft.choice,
    draft.note,
    draft.content,
    draft.scope,
    draft.drafted_by,
    draft.drafted_at,
  );
}

/** Takes a draft away; true when there was one. */
export function deleteDraft(db: WritableDb, proposalId: ProposalId, conflictKey: Digest): boolean {
  return (
    db
      .command<[string, string]>('DELETE FROM resolution_drafts WHERE proposal_id = ? AND conflict_key = ?')
      .run(proposalId, conflictKey).changes === 1
  );
}
