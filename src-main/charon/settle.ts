import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import {
  mainRefName,
  type PrincipalId,
  type ProjectId,
  type ProposalId,
  principalIdSchema,
  projectIdSchema,
  proposalIdSchema,
  refNameSchema,
} from '../../src-preload/contract/ids.ts';
import { assert } from '../base/assert.ts';
import { fromTimestamp, toTimestamp } from '../base/clock.ts';
import { doAllChores } from './chores.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { settleMerges } from './merge-settle.ts';
import { type AuditRecord, ambiguousOutcome, closedByHandOutcome } from './rules/audit-entry.ts';
import { findAuditEntry } from './tables/audit-entries.ts';
import { findLastAttempt } from './tables/merge-attempts.ts';
import { listOpenIntents, markAmbiguous, type OpenIntent } from './tables/open-intents.ts';
import { findStoredProposal } from './tables/proposals.ts';
import { findStoredReplay } from './tables/replays.ts';
import { listDrafts } from './tables/resolution-drafts.ts';
import { listVerdicts } from './tables/verdicts.ts';

/** What the records say of an intent without an outcome. */
type Settlement = 'applied' | 'not_applied' | 'ambiguous';

/** What an intent asked for, read from its entry; undefined where the entry does not say. */
interface Asked {
  readonly entry: AuditEntry;
  readonly principalId: PrincipalId;
  readonly projectId: ProjectId | undefined;
  readonly proposalId: ProposalId | undefined;
  readonly key: string | undefined;
}

type Decider = (context: CharonContext, asked: Asked) => Promise<Settlement> | Settlement;

/** The commands whose effect a record of the store or of Charon proves, each with its proof (`charon.md` §6). */
const deciders: Readonly<Record<string, Decider>> = {
  'memory.changeset_create': async (context, { projectId, principalId, key }) => {
    if (projectId === undefined || key === undefined) return 'ambiguous';
    return appliedIf((await context.store.findChangesetByKey(projectId, principalId, key)) !== undefined);
  },
  'memory.repo_init': async (context, { projectId }) => {
    if (projectId === undefined) return 'ambiguous';
    return appliedIf((await context.store.findRef(projectId, mainRefName)) !== undefined);
  },
  'memory.branch_create': async (context, { entry, projectId, principalId }) => {
    const named = entry.object_ids.map((id) => refNameSchema.safeParse(id)).find((parsed) => parsed.success);
    if (projectId === undefined || named?.data === undefined) return 'ambiguous';
    const ref = await context.store.findRef(projectId, named.data);
    return appliedIf(
      ref?.created_by_principal === principalId && fromTimestamp(ref.created_at) >= fromTimestamp(entry.at),
    );
  },
  'memory.merge_propose': decideByReplay,
  'memory.revert_propose': decideByReplay,
  'proposal.revert_advance': decideByReplay,
  'proposal.draft_resolution': (context, { entry, proposalId, principalId }) => {
    if (proposalId === undefined) return 'ambiguous';
    const since = fromTimestamp(entry.at);
    return appliedIf(
      listDrafts(context.db, proposalId).some(
        (draft) =>
          entry.object_ids.includes(draft.conflict_key) &&
          draft.drafted_by === principalId &&
          fromTimestamp(draft.drafted_at) >= since,
      ),
    );
  },
  'proposal.drop_resolution': (context, { entry, proposalId }) => {
    if (proposalId === undefined) return 'ambiguous';
    const isThere = listDrafts(context.db, proposalId).some(({ conflict_key: key }) => entry.object_ids.includes(key));
    return appliedIf(!isThere);
  },
  'memory.merge_review': (context, { entry, proposalId, principalId }) => {
    if (proposalId === undefined) return 'ambiguous';
    const since = fromTimestamp(entry.at);
    return appliedIf(
      listVerdicts(context.db, proposalId).some(
        (verdict) => verdict.reviewer === principalId && fromTimestamp(verdict.created_at) >= since,
      ),
    );
  },
  'memory.merge': (context, { proposalId, principalId }) => {
    if (proposalId === undefined) return 'ambiguous';
    const status = findStoredProposal(context.db, proposalId)?.status;
    if (status === 'merging') return 'ambiguous';
    return appliedIf(status === 'completed' && findLastAttempt(context.db, proposalId)?.merger === principalId);
  },
  'memory.merge_cancel': (context, { proposalId }) => {
    if (proposalId === undefined) return 'ambiguous';
    return appliedIf(findStoredProposal(context.db, proposalId)?.status === 'canceled');
  },
};

/**
 * After a crash: first the merges, then what the store is still to be told, then the intents that have no outcome, each from the record that proves it. What no
 * record decides is marked `ambiguous` once, stays listed and waits for a settlement by hand. In recovery nothing is
 * settled. Must run before the doors open: it takes every open intent for one of a process that is gone.
 */
export async function settle(
  context: CharonContext,
): Promise<{ readonly settled: number; readonly ambiguous: number }> {
  if (context.readOnly) return { settled: 0, ambiguous: 0 };
  let settled = await settleMerges(context);
  await doAllChores(context);
  for (const intent of listOpenIntents(context.db)) {
    if (!intent.ambiguous && (await settleIntent(context, intent)) === 'decided') settled += 1;
  }
  return { settled, ambiguous: listOpenIntents(context.db).length };
}

/**
 * Settles by the owner's order, also while calls of this process run (`charon.md` §6): merges and chores as at a start, then
 * the intents of processes that are gone. What a record decides by now is settled by it; what was listed as ambiguous and
 * still is gets closed by hand, on record. `left` are those whose store cannot be asked now, and those that became ambiguous
 * by this very look: they are listed first. Throws READ_ONLY in recovery.
 */
export async function settleByHand(
  context: CharonContext,
): Promise<{ readonly settled: number; readonly closed: number; readonly left: number }> {
  requireWritable(context);
  let settled = await settleMerges(context);
  await doAllChores(context);
  let closed = 0;
  let left = 0;
  for (const intent of listOpenIntents(context.db)) {
    if (!intent.ambiguous && intent.seq > context.openedSeq) continue;
    const done = await settleIntent(context, intent);
    if (done === 'decided') settled += 1;
    else if (done === 'closed') closed += 1;
    else left += 1;
  }
  return { settled, closed, left };
}

/** `decided` by a record, `closed` by hand when it was listed as ambiguous before, else it is still open. */
async function settleIntent(context: CharonContext, intent: OpenIntent): Promise<'decided' | 'closed' | 'open'> {
  const entry = findAuditEntry(context.db, intent.seq);
  assert(entry !== undefined, 'an open intent stands on an audit entry');
  const settlement = await decide(context, entry, intent);
  if (settlement === undefined) return 'open';
  const isUndecided = settlement === 'ambiguous';
  const undecided = intent.ambiguous ? closedByHandOutcome : ambiguousOutcome;
  await write(context, (db) => {
    context.audit.append(db, outcomeOf(context, entry, isUndecided ? undecided : `settled: ${settlement}`));
    if (isUndecided && !intent.ambiguous) markAmbiguous(db, intent.seq);
  });
  if (!isUndecided) return 'decided';
  return intent.ambiguous ? 'closed' : 'open';
}

/** The outcome that the engine itself gives to an intent. */
function outcomeOf(context: CharonContext, entry: AuditEntry, outcome: string): AuditRecord {
  return {
    at: toTimestamp(context.clock.nowMs()),
    phase: 'outcome',
    outcome,
    subject: {
      principal: entry.principal,
      credentialKind: 'system',
      credentialId: '',
      door: 'system',
      command: entry.command,
      project: entry.project,
      objectIds: entry.object_ids,
      requestDigest: entry.request_digest,
      correlationId: entry.correlation_id,
    },
  };
}

/** Undefined when the store cannot be asked now: the intent stays open and is tried at the next start. */
async function decide(context: CharonContext, entry: AuditEntry, intent: OpenIntent): Promise<Settlement | undefined> {
  const decider = Object.hasOwn(deciders, entry.command) ? deciders[entry.command] : undefined;
  const principal = principalIdSchema.safeParse(entry.principal);
  if (decider === undefined || !principal.success) return 'ambiguous';
  const proposal = entry.object_ids.map((id) => proposalIdSchema.safeParse(id)).find((parsed) => parsed.success);
  try {
    return await decider(context, {
      entry,
      principalId: principal.data,
      projectId: projectIdSchema.safeParse(entry.project).data,
      proposalId: proposal?.data,
      key: intent.idempotencyKey,
    });
  } catch (thrown) {
    context.log.error(
      { err: thrown, seq: entry.seq },
      'an intent without an outcome could not be settled and is tried at the next start',
    );
    return undefined;
  }
}

/** A proposal is filed in the transaction that remembers its key. */
function decideByReplay(context: CharonContext, { entry, projectId, principalId, key }: Asked): Settlement {
  if (projectId === undefined || key === undefined) return 'ambiguous';
  return appliedIf(findStoredReplay(context.db, { principalId, command: entry.command, projectId, key }) !== undefined);
}

function appliedIf(found: boolean): Settlement {
  return found ? 'applied' : 'not_applied';
}
