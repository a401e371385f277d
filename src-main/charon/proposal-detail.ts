import { z } from 'zod';
import type { Resolution } from '../../src-preload/contract/conflict.ts';
import type { SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ProposalDetail } from '../../src-preload/contract/proposal.ts';
import { Fault } from '../base/fault.ts';
import { toResolution } from './conflicts-now.ts';
import type { CharonContext } from './context.ts';
import { readPickedDiff } from './picked-diff.ts';
import type { ProposalNow } from './proposal-now.ts';
import { listAttemptResolutions } from './tables/attempt-resolutions.ts';
import { findLastAttempt } from './tables/merge-attempts.ts';

type DetailPage = Pick<ProposalDetail, 'conflicts' | 'resolutions' | 'diff' | 'next_cursor'>;

/** Where a page goes on: after so many conflicts, and from there in the changes. */
interface Position {
  readonly conflicts: number;
  readonly diff: string | undefined;
}

/**
 * A page of what a reviewer looks at: conflicts with what is drafted for them first, then the changes, `limit` of both
 * together. The cursor belongs to exactly this state of the proposal and its target. Throws `CURSOR_INVALID`.
 */
export async function readDetailPage(
  context: CharonContext,
  now: ProposalNow,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<DetailPage> {
  const start = page.cursor === undefined ? { conflicts: 0, diff: undefined } : parseCursor(now, page.cursor);
  const conflicts = now.found.conflicts.slice(start.conflicts, start.conflicts + page.limit);
  const keys = new Set(conflicts.map(({ conflict_key: key }) => key));
  const resolutions = listResolutions(context, now).filter(({ conflict_key: key }) => keys.has(key));
  const shown = { conflicts: [...conflicts], resolutions };
  const told = start.conflicts + conflicts.length;
  const room = page.limit - conflicts.length;
  if (told < now.found.conflicts.length || room === 0) {
    return { ...shown, diff: emptyDiff(now), next_cursor: formatCursor(now, { conflicts: told, diff: undefined }) };
  }
  const { next_cursor: next, ...diff } = await readChanges(context, now, room, start.diff);
  const nextCursor = next === undefined ? {} : { next_cursor: formatCursor(now, { conflicts: told, diff: next }) };
  return { ...shown, diff, ...nextCursor };
}

/** What is drafted for the conflicts of an open proposal; of one that was merged, what its merge wrote. */
function listResolutions(context: CharonContext, { stored, found }: ProposalNow): readonly Resolution[] {
  if (stored.status !== 'completed') return found.resolutions.map(toResolution);
  const attempt = findLastAttempt(context.db, stored.proposal_id);
  return attempt === undefined ? [] : listAttemptResolutions(context.db, attempt.nonce);
}

/** The changes of the proposal's side, whatever else the target holds; of a cherry-pick those of its ops. */
export async function readChanges(
  context: CharonContext,
  now: ProposalNow,
  limit: number,
  cursor: string | undefined,
): Promise<SemanticDiff> {
  const { stored, targetHead } = now;
  if (stored.selected_ops !== null) return readPickedDiff(context, now, limit, cursor);
  return context.store.proposalDiff({ base: targetHead, head: stored.head_changeset_id, limit, cursor });
}

/** A diff without a change between the two heads of a proposal. */
export function emptyDiff({ stored, targetHead }: ProposalNow): SemanticDiff {
  return {
    project_id: stored.project_id,
    base_changeset_id: targetHead,
    target_changeset_id: stored.head_changeset_id,
    memories_added: [],
    corrections_proposed: [],
    records_superseded: [],
    relationships_added: [],
    decisions_changed: [],
    tasks_or_flags_changed: [],
    duplicates_detected: [],
    permissions_or_visibility_affected: [],
    evidence_added_or_removed: [],
    unresolved_conflicts: [],
  };
}

const cursorSchema = z.tuple([z.string(), z.string(), z.int().min(0), z.string().nullable()]);

function formatCursor({ proposalDigest, targetHead }: ProposalNow, at: Position): string {
  return Buffer.from(JSON.stringify([proposalDigest, targetHead, at.conflicts, at.diff ?? null])).toString('base64url');
}

function parseCursor({ proposalDigest, targetHead }: ProposalNow, text: string): Position {
  try {
    const [digest, head, conflicts, diff] = cursorSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (digest === proposalDigest && head === targetHead) return { conflicts, diff: diff ?? undefined };
  } catch {
    // Falls through to the one refusal for every cursor that cannot be used here.
  }
  throw new Fault(
    'CURSOR_INVALID',
    'cursor does not belong to the proposal as it is now. Show it again without a cursor.',
    { field: 'cursor' },
  );
}
