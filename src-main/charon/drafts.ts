import type { Conflict, ResolutionInput } from '../../src-preload/contract/conflict.ts';
import type { Digest, ProposalId } from '../../src-preload/contract/ids.ts';
import { contentBytesMax, stringValueBytesMax, summaryBytesMax } from '../../src-preload/contract/limits.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { isBlank, utf8Length } from '../canonical/text.ts';
import type { Caller } from './api.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { getStoredProposal, lookAt, type ProposalNow, statusNow } from './proposal-now.ts';
import { readPlanFacts } from './resolution-facts.ts';
import { requireTransition } from './rules/proposal-state.ts';
import { planResolution } from './rules/resolution-plan.ts';
import type { StoredProposal } from './tables/proposals.ts';
import { deleteDraft, upsertDraft } from './tables/resolution-drafts.ts';

/**
 * Keeps how a blocking conflict of a pending proposal is to be settled, over what was drafted before (`charon.md` §4): it
 * settles nothing until the merge that carries it. Throws `PROPOSAL_NOT_FOUND`, `PROPOSAL_STATE`, `CONFLICT_NOT_FOUND`,
 * `INPUT_INVALID` for a conflict that does not block, a field that does not belong to the choice, and a choice that cannot be
 * carried out as things stand.
 */
export async function draftResolution(
  context: CharonContext,
  caller: Caller,
  proposalId: ProposalId,
  chosen: ResolutionInput,
): Promise<void> {
  requireWritable(context);
  requireFields(chosen);
  const now = await lookAt(context, getStoredProposal(context.db, proposalId));
  requireTransition(now.status, 'draft_resolution');
  const conflict = getBlocking(now, chosen.conflict_key);
  const plan = planResolution(conflict, chosen, await readPlanFacts(context, now.stored, now.targetHead, conflict));
  if (plan.kind === 'impossible') throw refuse('choice', plan.reason);
  await write(context, (db, emit) => {
    const { project_id: projectId } = requirePending(context, db, proposalId, 'draft_resolution');
    upsertDraft(db, proposalId, {
      conflict_key: chosen.conflict_key,
      choice: chosen.choice,
      note: chosen.note?.toWellFormed() ?? null,
      content: chosen.content?.toWellFormed() ?? null,
      scope: chosen.scope?.toWellFormed() ?? null,
      drafted_by: caller.principal.principal_id,
      drafted_at: toTimestamp(context.clock.nowMs()),
    });
    emit({ kind: 'proposal_changed', project_id: projectId, proposal_id: proposalId, status: 'pending' });
  });
}

/** Takes a draft away; one that is not there is no reason to refuse. Throws `PROPOSAL_NOT_FOUND`, `PROPOSAL_STATE`. */
export async function dropResolution(
  context: CharonContext,
  proposalId: ProposalId,
  conflictKey: Digest,
): Promise<void> {
  await write(context, (db, emit) => {
    const { project_id: projectId } = requirePending(context, db, proposalId, 'drop_resolution');
    if (!deleteDraft(db, proposalId, conflictKey)) return;
    emit({ kind: 'proposal_changed', project_id: projectId, proposal_id: proposalId, status: 'pending' });
  });
}

function requirePending(
  context: CharonContext,
  db: CharonContext['db'],
  proposalId: ProposalId,
  action: 'draft_resolution' | 'drop_resolution',
): StoredProposal {
  const stored = getStoredProposal(db, proposalId);
  requireTransition(statusNow(context, stored), action);
  return stored;
}

function getBlocking({ found }: ProposalNow, conflictKey: Digest): Conflict {
  const conflict = found.conflicts.find(({ conflict_key: key }) => key === conflictKey);
  if (conflict === undefined)
    throw new Fault(
      'CONFLICT_NOT_FOUND',
      'conflict_key: the proposal has no such conflict now. Show it again: its target may have moved.',
      { field: 'conflict_key' },
    );
  if (conflict.severity === 'blocking') return conflict;
  throw refuse('conflict_key', 'this conflict does not stand in the way of the merge, so there is nothing to resolve');
}

/** What the schema cannot say: bytes, and which field belongs to which choice. */
function requireFields({ choice, content, note, scope }: ResolutionInput): void {
  if (choice === 'edit' && (content === undefined || isBlank(content)))
    throw refuse('content', 'an edit needs its text');
  if (choice !== 'edit' && content !== undefined) throw refuse('content', 'a text belongs to the choice edit');
  if (choice !== 'both' && scope !== undefined) throw refuse('scope', 'a scope belongs to the choice both');
  for (const [field, value, max] of [
    ['content', content, contentBytesMax],
    ['note', note, summaryBytesMax],
    ['scope', scope, stringValueBytesMax],
  ] as const)
    if (utf8Length(value ?? '') > max) throw refuse(field, `is over ${max} bytes`);
}

function refuse(field: string, reason: string): Fault {
  return new Fault('INPUT_INVALID', `${field}: ${reason}.`, { field });
}
