import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { ChangesetId, ProjectId, ProposalId, RefName } from '../../src-preload/contract/ids.ts';
import type { Proposal, ProposalDetail, ProposalStatus } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import type { Caller } from './api.ts';
import { choreOf, doChores } from './chores.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { previewProposal } from './preview.ts';
import { readDetailPage } from './proposal-detail.ts';
import {
  findTargetHead,
  getStoredProposal,
  lookAgainst,
  lookAt,
  type ProposalNow,
  statusNow,
  toProposal,
} from './proposal-now.ts';
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
import { insertChore } from './tables/store-chores.ts';

const expiriesPerVerb = 100;

/** Whose a proposal is and where it belongs, as it was filed: the store is not asked. */
export function findFiled(
  context: CharonContext,
  proposalId: ProposalId,
): Pick<Proposal, 'project_id' | 'originator'> | undefined {
  return findStoredProposal(context.db, proposalId);
}

/** The proposal as it stands now. */
export async function findProposal(context: CharonContext, proposalId: ProposalId): Promise<Proposal | undefined> {
  const stored = findStoredProposal(context.db, proposalId);
  return stored && toProposal(await lookAt(context, stored));
}

/** A page of what a reviewer needs to decide. Throws `CURSOR_INVALID`. */
type ReadPage = (page: { readonly limit: number; readonly cursor?: string | undefined }) => Promise<ProposalDetail>;

/**
 * Looks at a proposal once, for as many readings of a page as it takes until one fits into an answer. With the first it is noted what
 * this principal was shown, for a later verdict that names no state (`charon.md` §4). Throws `PROPOSAL_NOT_FOUND`.
 */
export async function openProposal(context: CharonContext, caller: Caller, proposalId: ProposalId): Promise<ReadPage> {
  const now = await lookAt(context, getStoredProposal(context.db, proposalId));
  const originatorName = findPrincipal(context.db, now.stored.originator)?.name ?? now.stored.originator;
  const readHead = async (): Promise<Omit<ProposalDetail, 'conflicts' | 'resolutions' | 'diff' | 'next_cursor'>> => {
    const preview = isOpen(now.status) ? await previewProposal(context, now) : null;
    await rememberServed(context, caller, now);
    return { ...toProposal(now), originator_name: originatorName, preview };
  };
  let head: ReturnType<typeof readHead> | undefined;
  return async (page) => {
    const shown = await readDetailPage(context, now, page);
    head ??= readHead();
    return { ...(await head), ...shown, conflict_ids: shown.conflicts.map(({ conflict_id: id }) => id) };
  };
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
  const before = getStoredProposal(context.db, proposalId);
  requireOriginator(caller, before.originator);
  const now = await lookAt(context, before);
  await write(context, (db, emit) => {
    const stored = getStoredProposal(db, proposalId);
    requireTransition(statusNow(context, stored), 'cancel');
    const decided = decideProposal(db, proposalId, 'pending', {
      ...ended(context, now),
      status: 'canceled',
      decidedBy: caller.principal.principal_id,
    });
    assert(decided, 'a pending proposal can be canceled');
    insertChore(db, choreOf(context, now, 'cancel'));
    emit({ kind: 'proposal_changed', project_id: stored.project_id, proposal_id: proposalId, status: 'canceled' });
  });
  await doChores(context, proposalId);
  return toProposal(await lookAt(context, getStoredProposal(context.db, proposalId)));
}

/** Moves pending proposals past their time to `expired`, in bounded verbs; how many (`charon.md` §4). */
export async function expireProposals(context: CharonContext): Promise<number> {
  if (context.readOnly) return 0;
  let expired = 0;
  for (;;) {
    const due = listPastDue(context.db, context.clock.nowMs(), expiriesPerVerb);
    const looked: ProposalNow[] = [];
    for (const stored of due) {
      try {
        looked.push(await lookAt(context, stored));
      } catch (thrown) {
        context.log.warn({ err: thrown, proposal: stored.proposal_id }, 'an expired proposal is ended later');
      }
    }
    const moved = await write(context, (db, emit) => looked.filter((now) => expire(context, db, emit, now)).length);
    for (const { stored } of looked) await doChores(context, stored.proposal_id);
    expired += moved;
    if (due.length < expiriesPerVerb || moved === 0) return expired;
  }
}

/** True when it was still pending. */
function expire(context: CharonContext, db: WritableDb, emit: (event: EngineEvent) => void, now: ProposalNow): boolean {
  const { proposal_id: proposalId, project_id: projectId } = now.stored;
  const decision = { ...ended(context, now), status: 'expired', decidedBy: null } as const;
  if (!decideProposal(db, proposalId, 'pending', decision)) return false;
  insertChore(db, choreOf(context, now, 'cancel'));
  emit({ kind: 'proposal_changed', project_id: projectId, proposal_id: proposalId, status: 'expired' });
  return true;
}

function ended(context: CharonContext, { targetHead, proposalDigest }: ProposalNow) {
  return {
    decidedAt: toTimestamp(context.clock.nowMs()),
    targetHead,
    proposalDigest,
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
    proposals.push(toProposal(await lookAgainst(context, stored, head)));
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
