import type { Ref } from '../../src-preload/contract/changeset.ts';
import { type ChangesetId, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { proposalLifeMs } from '../../src-preload/contract/limits.ts';
import type { Proposal } from '../../src-preload/contract/proposal.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Caller, ProposeInput } from './api.ts';
import { doChores } from './chores.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { getStoredProposal, lookAt, toProposal } from './proposal-now.ts';
import { findReplay, type KeyedRequest, keepReplay } from './replays.ts';
import { nothingToMerge } from './rules/merge-shape.ts';
import { requireProposalRoom } from './rules/quota.ts';
import { isProtectedRef } from './rules/ref-ownership.ts';
import { selectOps } from './selection.ts';
import { countOpenOf, insertProposal, type NewProposal } from './tables/proposals.ts';
import { insertChore } from './tables/store-chores.ts';

/**
 * Files a proposal pinned to that exact head (`charon.md` §4). The same request under its key answers the same proposal.
 * Throws `INPUT_INVALID` (the target is not protected; the base is no ancestor of both heads), `REF_NOT_FOUND`,
 * `CHANGESET_NOT_FOUND`, `NOTHING_TO_MERGE`, `QUOTA`, `IDEMPOTENCY_MISMATCH`, and what `selectOps` throws.
 */
export async function propose(
  context: CharonContext,
  caller: Caller,
  input: ProposeInput,
  request: KeyedRequest,
): Promise<Proposal> {
  const answered = findReplay(context.db, request);
  if (answered !== undefined) return answerProposal(context, answered);
  requireWritable(context);
  return fileProposal(context, caller, input, request);
}

/**
 * Files a proposal under a key that was not used yet, and tells the store what it brings and what it is in conflict with.
 * Throws what `propose` throws.
 */
export async function fileProposal(
  context: CharonContext,
  caller: Caller,
  input: ProposeInput,
  request: KeyedRequest,
): Promise<Proposal> {
  const target = await requireTarget(context, input);
  await requireChangesets(context, input, target.head_changeset_id);
  const place = {
    projectId: input.projectId,
    head: input.headChangesetId,
    targetHead: target.head_changeset_id,
  };
  const selected = input.selectedOps === undefined ? null : await selectOps(context, place, input.selectedOps);
  const nowMs = context.clock.nowMs();
  const proposal: NewProposal = {
    proposal_id: proposalIdSchema.parse(context.ids.uuidv7()),
    kind: input.kind ?? (selected === null ? 'merge_request' : 'changeset'),
    project_id: input.projectId,
    originator: caller.principal.principal_id,
    target_ref: input.targetRef,
    base_changeset_id: input.baseChangesetId,
    head_changeset_id: input.headChangesetId,
    message: input.message,
    created_at: toTimestamp(nowMs),
    expires_at: toTimestamp(nowMs + proposalLifeMs),
    expires_ms: nowMs + proposalLifeMs,
    target_head: target.head_changeset_id,
    selected_ops: selected === null ? null : [...selected],
  };
  const ids = await write(context, (db, emit) => {
    const raced = findReplay(db, request);
    if (raced !== undefined) return raced;
    requireProposalRoom(context.quotas, countOpenOf(db, proposal.originator, nowMs));
    insertProposal(db, proposal);
    insertChore(db, {
      proposal_id: proposal.proposal_id,
      chore: 'keep',
      target_head: proposal.target_head,
      since: proposal.created_at,
    });
    keepReplay(db, request, [proposal.proposal_id], nowMs);
    emit({
      kind: 'proposal_changed',
      project_id: proposal.project_id,
      proposal_id: proposal.proposal_id,
      status: 'pending',
    });
    return [proposal.proposal_id];
  });
  await doChores(context, proposalIdSchema.parse(ids[0]));
  return answerProposal(context, ids);
}

/** The proposal that a request was answered with, as it stands now. */
export async function answerProposal(context: CharonContext, ids: readonly string[]): Promise<Proposal> {
  return toProposal(await lookAt(context, getStoredProposal(context.db, proposalIdSchema.parse(ids[0]))));
}

async function requireTarget(context: CharonContext, input: ProposeInput): Promise<Ref> {
  if (!isProtectedRef(input.targetRef)) throw unprotectedTarget();
  const target = await context.store.findRef(input.projectId, input.targetRef);
  if (target === undefined)
    throw new Fault('REF_NOT_FOUND', 'target_ref does not exist in this project. Initialise the project first.', {
      field: 'target_ref',
    });
  if (!target.protected) throw unprotectedTarget();
  return target;
}

async function requireChangesets(context: CharonContext, input: ProposeInput, targetHead: ChangesetId): Promise<void> {
  const { store } = context;
  await requireChangeset(context, input, 'head_changeset_id', input.headChangesetId);
  await requireChangeset(context, input, 'base_changeset_id', input.baseChangesetId);
  if (await store.isAncestor(input.headChangesetId, targetHead)) throw nothingToMerge();
  if (!(await store.isAncestor(input.baseChangesetId, input.headChangesetId))) throw notABase('the proposed head');
  if (!(await store.isAncestor(input.baseChangesetId, targetHead))) throw notABase('the head of target_ref');
}

async function requireChangeset(
  context: CharonContext,
  input: ProposeInput,
  field: 'head_changeset_id' | 'base_changeset_id',
  changesetId: ChangesetId,
): Promise<void> {
  const found = await context.store.findChangeset(changesetId);
  if (found?.project_id === input.projectId) return;
  throw new Fault('CHANGESET_NOT_FOUND', `${field} names no changeset of this project.`, { field });
}

function unprotectedTarget(): Fault {
  return new Fault(
    'INPUT_INVALID',
    'target_ref must be a protected ref under refs/shared/. A branch of your own takes commits directly.',
    { field: 'target_ref' },
  );
}

function notABase(of: string): Fault {
  return new Fault(
    'INPUT_INVALID',
    `base_changeset_id must be an ancestor of ${of}: name the changeset that the branch was made from.`,
    { field: 'base_changeset_id' },
  );
}
