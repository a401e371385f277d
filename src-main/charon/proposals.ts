import type { ChangesetId, ProjectId, ProposalId, RefName } from '../../src-preload/contract/ids.ts';
import type { Proposal, ProposalDetail, ProposalStatus } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import type { Caller } from './api.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { previewProposal } from './preview.ts';
import { deriveNow, findTargetHead, getStoredProposal, lookAt, type ProposalNow, toProposal } from './proposal-now.ts';
import { formatListCursor, parseListCursor } from './rules/list-cursor.ts';
import { isOpen, requireTransition } from './rules/proposal-state.ts';
import { requireOriginator } from './rules/separation.ts';
import { findPrincipal } from './tables/principals.ts';
import {
  decideProposal,
  findStoredProposal,
  listPastDue,
  listStoredProposals,
  type StoredProposal,
} from './tables/proposals.ts';
import { findServed, upsertServed } from './tables/served-snapshots.ts';

const expiriesPerVerb = 100;

/** The proposal as it stands now. */
export async function findProposal(context: CharonContext, proposalId: ProposalId): Promise<Proposal | undefined> {
  const stored = findStoredProposal(context.db, proposalId);
  return stored && toProposal(await lookAt(context, stored));
}

/**
 * What a reviewer needs to decide, and a note of what this principal was shown, for a later verdict that names no state
 * (`charon.md` §4). Throws `PROPOSAL_NOT_FOUND`, `CURSOR_INVALID`.
 */
export async function showProposal(
  context: CharonContext,
  caller: Caller,
  proposalId: ProposalId,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<ProposalDetail> {
  const now = await lookAt(context, getStoredProposal(context.db, proposalId));
  const { stored, targetHead } = now;
  const head = stored.head_changeset_id;
  const diff = await context.store.proposalDiff({ base: targetHead, head, limit: page.limit, cursor: page.cursor });
  const preview = isOpen(now.status) ? await previewProposal(context, now) : null;
  await rememberServed(context, caller, now);
  const originatorName = findPrincipal(context.db, stored.originator)?.name ?? stored.originator;
  return { ...toProposal(now), originator_name: originatorName, preview, resolutions: [], diff };
}

/** Newest first, in pages; the cursor belongs to the project and the status that it was made for. Throws `CURSOR_INVALID`. */
export async function listProposals(
  context: CharonContext,
  input: {
    readonly projectId: ProjectId;
    readonly status?: ProposalStatus | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  },
): Promise<{ readonly proposals: readonly Proposal[]; readonly nextCursor?: string | undefined }> {
  const { projectId, status, limit, cursor } = input;
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseListCursor(cursor, projectId, status ?? null);
  const found = listStoredProposals(context.db, {
    projectId,
    status,
    before,
    limit: limit + 1,
    nowMs: context.clock.nowMs(),
  });
  const page = found.slice(0, limit);
  const proposals = await describeAll(context, page);
  const last = page.at(-1);
  if (found.length <= limit || last === undefined) return { proposals };
  return { proposals, nextCursor: formatListCursor({ project: projectId, status: status ?? null, before: last.seq }) };
}

/** Takes a proposal back; its changesets stay where they are. Throws `PROPOSAL_NOT_FOUND`, `NOT_ORIGINATOR`, `PROPOSAL_STATE`. */
export async function cancelProposal(
  context: CharonContext,
  caller: Caller,
  proposalId: ProposalId,
): Promise<Proposal> {
  requireWritable(context);
  const targetHead = await findTargetHead(context, getStoredProposal(context.db, proposalId));
  return write(context, (db, emit) => {
    const stored = getStoredProposal(db, proposalId);
    requireOriginator(caller, stored.originator);
    requireTransition(deriveNow(context, stored, targetHead).status, 'cancel');
    const decided = decideProposal(db, proposalId, 'pending', {
      ...ended(context, targetHead),
      status: 'canceled',
      decidedBy: caller.principal.principal_id,
    });
    assert(decided, 'a pending proposal can be canceled');
    emit({ kind: 'proposal_changed', project_id: stored.project_id, proposal_id: proposalId, status: 'canceled' });
    return toProposal(deriveNow(context, getStoredProposal(db, proposalId), targetHead));
  });
}

/** Moves pending proposals past their time to `expired`, in bounded verbs; how many (`charon.md` §4). */
export async function expireProposals(context: CharonContext): Promise<number> {
  if (context.readOnly) return 0;
  let expired = 0;
  for (;;) {
    const moved = await write(context, (db, emit) => {
      const due = listPastDue(db, context.clock.nowMs(), expiriesPerVerb);
      for (const stored of due) {
        decideProposal(db, stored.proposal_id, 'pending', {
          ...ended(context, stored.target_head),
          status: 'expired',
          decidedBy: null,
        });
        emit({
          kind: 'proposal_changed',
          project_id: stored.project_id,
          proposal_id: stored.proposal_id,
          status: 'expired',
        });
      }
      return due.length;
    });
    expired += moved;
    if (moved < expiriesPerVerb) return expired;
  }
}

function ended(context: CharonContext, targetHead: ChangesetId) {
  return {
    decidedAt: toTimestamp(context.clock.nowMs()),
    targetHead,
    resultingChangesetId: null,
    strategy: null,
    selfMerge: false,
  };
}

/** Each target is looked up once, however many proposals wait for it. */
async function describeAll(context: CharonContext, page: readonly StoredProposal[]): Promise<readonly Proposal[]> {
  const heads = new Map<RefName, ChangesetId>();
  const proposals: Proposal[] = [];
  for (const stored of page) {
    const known = isOpen(stored.status) ? heads.get(stored.target_ref) : stored.target_head;
    const head = known ?? (await findTargetHead(context, stored));
    if (isOpen(stored.status)) heads.set(stored.target_ref, head);
    proposals.push(toProposal(deriveNow(context, stored, head)));
  }
  return proposals;
}

/** A reader is answered even when this cannot be kept: then a verdict without a state is bound to an older one and refused as stale. */
async function rememberServed(context: CharonContext, caller: Caller, now: ProposalNow): Promise<void> {
  if (context.readOnly) return;
  const principalId = caller.principal.principal_id;
  const proposalId = now.stored.proposal_id;
  const before = findServed(context.db, principalId, proposalId);
  if (before?.proposalDigest === now.proposalDigest && before.targetHead === now.targetHead) return;
  try {
    await write(context, (db) => upsertServed(db, principalId, proposalId, now, toTimestamp(context.clock.nowMs())));
  } catch (thrown) {
    context.log.warn({ err: thrown, proposal: proposalId }, 'what was shown of a proposal could not be kept');
  }
}
