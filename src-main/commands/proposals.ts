import type { CommandOutput, ParsedInput } from '../../src-preload/contract/commands/table.ts';
import { digestSchema, findingIdSchema, type ProposalId, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import type { Proposal, ProposalDetail } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { Caller, Charon, ReplayKey } from '../charon/api.ts';
import { type ProposalAuthors, requireOriginator, requireReviewer } from '../charon/rules/separation.ts';
import { type BoundCommand, bind, type Call, type Located, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { proposalNotFound } from './faults.ts';
import { countItems } from './memory-read.ts';
import { chainOf } from './moves.ts';
import { fitPage, nextCursor } from './page.ts';

/** Proposals: asking for a merge, looking, reviewing, merging, cancelling. */
export function proposalCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { lethe, charon } = deps;
  const locate = ({ proposal_id: proposalId }: { readonly proposal_id: ProposalId }): Located =>
    locateProposal(charon, proposalId);
  const objects = ({ proposal_id: proposalId }: { readonly proposal_id: ProposalId }): readonly string[] => [
    proposalId,
  ];
  return [
    bind(rowOf('memory.merge_propose'), {
      objects: (input) => [input.target_ref, input.head_changeset_id],
      replay: (call) => replayProposal(charon, replayKey('memory.merge_propose', call), call.requestDigest),
      prepare: async ({ input }) => void (await lethe.getProject(input.project)),
      run: (call) => {
        const { input, caller } = call;
        const asked = {
          projectId: input.project,
          targetRef: input.target_ref,
          headChangesetId: input.head_changeset_id,
          baseChangesetId: input.base_changeset_id,
          message: input.message,
          selectedOps: input.selected_ops,
        };
        return charon.propose(caller, asked, {
          key: replayKey('memory.merge_propose', call),
          requestDigest: call.requestDigest,
        });
      },
      effects: proposalEffects,
    }),
    bind(rowOf('memory.revert_propose'), {
      objects: (input) => [input.changeset_id],
      replay: (call) => replayProposal(charon, replayKey('memory.revert_propose', call), call.requestDigest),
      prepare: async ({ input }) => void (await lethe.getProject(input.project)),
      run: (call) => {
        const { project: projectId, changeset_id: changesetId, message } = call.input;
        return charon.proposeRevert(
          call.caller,
          { kind: 'changeset', projectId, changesetId, message },
          { key: replayKey('memory.revert_propose', call), requestDigest: call.requestDigest },
        );
      },
      effects: proposalEffects,
    }),
    bind(rowOf('memory.merge_review'), {
      check: (input, caller) => {
        if (caller.credential.kind === 'owner') requireSeenState(input);
      },
      locate,
      objects,
      prepare: ({ input, caller }) => requireReviewer(caller, partiesOf(charon, input.proposal_id)),
      run: async ({ input, caller }) => {
        const done = await charon.review(caller, {
          proposalId: input.proposal_id,
          verdict: input.verdict,
          comment: input.comment ?? '',
          severity: input.severity ?? 'info',
          proposalDigest: input.proposal_digest,
          targetHead: input.target_head,
        });
        return {
          proposal_id: input.proposal_id,
          verdict: input.verdict,
          finding_id: findingIdSchema.parse(done.findingId),
          proposal_digest: digestSchema.parse(done.proposalDigest),
          outcome: done.outcome,
        };
      },
      effects: (reviewed) => [reviewed.finding_id, reviewed.proposal_digest],
    }),
    bind(rowOf('memory.merge'), {
      locate,
      objects,
      replay: async (call) => {
        const known = charon.findReplay(replayKey('memory.merge', call), call.requestDigest);
        return known === undefined ? undefined : mergedAnswer(deps, call.input.proposal_id);
      },
      prepare: ({ input, caller }) => {
        // The owner may merge its own where the setting allows it, which the policy engine decides.
        if (caller.credential.kind !== 'owner') requireMerger(caller, partiesOf(charon, input.proposal_id));
      },
      run: async (call) => {
        const done = await charon.merge(call.caller, call.input.proposal_id, {
          key: replayKey('memory.merge', call),
          requestDigest: call.requestDigest,
        });
        return {
          proposal_id: done.proposalId,
          status: done.status,
          strategy: done.strategy,
          resulting_changeset_id: done.resultingChangesetId,
          ref: done.ref,
        };
      },
      effects: async ({ ref }) => [
        ref.ref_name,
        ref.head_changeset_id,
        ...(await chainOf(lethe, ref.head_changeset_id)),
      ],
    }),
    bind(rowOf('memory.merge_cancel'), {
      locate,
      objects,
      prepare: ({ input, caller }) => requireOriginator(caller, partiesOf(charon, input.proposal_id).originator),
      run: ({ input, caller }) => charon.cancel(caller, input.proposal_id),
    }),
    bind(rowOf('memory.proposal_list'), {
      prepare: async ({ input }) => void (await lethe.getProject(input.project)),
      run: async ({ input }) => {
        const read = (limit: number) =>
          charon.listProposals({ projectId: input.project, status: input.status, limit, cursor: input.cursor });
        const page = await fitPage(input.limit ?? listLimitDefault, read, ({ proposals }) => proposals.length);
        return { proposals: [...page.proposals], ...nextCursor(page.nextCursor) };
      },
    }),
    bind(rowOf('memory.proposal_show'), {
      locate,
      objects,
      run: async ({ input, caller }) => {
        const read = await charon.openProposal(caller, input.proposal_id);
        return fitPage(listLimitDefault, (limit) => read({ limit, cursor: input.cursor }), countShown);
      },
      effects: (proposal) => [proposal.proposal_digest, proposal.target_head],
    }),
  ];
}

/** The project of a proposal, and what to say to who may not know of it. */
function locateProposal(charon: Charon, proposalId: ProposalId): Located {
  const missing = proposalNotFound(proposalId);
  const proposal = charon.findFiled(proposalId);
  if (proposal === undefined) throw missing;
  return { projectId: proposal.project_id, missing };
}

/** What the audit keeps about a proposal that was filed. */
export function proposalEffects(proposal: Proposal): readonly string[] {
  return [proposal.proposal_id, proposal.proposal_digest, proposal.head_changeset_id];
}

/** Items of a page of a proposal: its conflicts and its changes. */
export function countShown({ conflicts, diff }: ProposalDetail): number {
  return conflicts.length + countItems(diff);
}

/** Whose proposal it is; the policy engine itself looks at the authors of its changesets too, in its own transaction. */
function partiesOf(charon: Charon, proposalId: ProposalId): ProposalAuthors {
  const proposal = charon.findFiled(proposalId);
  if (proposal === undefined) throw proposalNotFound(proposalId);
  return { originator: proposal.originator, authors: [] };
}

function requireMerger(caller: Caller, { originator }: ProposalAuthors): void {
  if (caller.principal.principal_id !== originator) return;
  throw new Fault('SELF_APPROVAL', 'self approval: this proposal is your own work, so someone else must merge it.');
}

/** At the owner's doors a verdict names exactly what was looked at (`charon.md` §3). */
function requireSeenState(input: ParsedInput<'memory.merge_review'>): void {
  for (const field of ['proposal_digest', 'target_head'] as const) {
    if (input[field] !== undefined) continue;
    throw new Fault(
      'INPUT_INVALID',
      `${field}: say which state of the proposal the verdict is about. memory.proposal_show has it.`,
      { field },
    );
  }
}

type Keyed = { readonly idempotency_key: string };

function replayKey(command: string, call: Call<Keyed>): ReplayKey {
  assert(call.projectId !== undefined, 'a command with an idempotency key is about a project');
  return {
    principalId: call.caller.principal.principal_id,
    command,
    projectId: call.projectId,
    key: call.input.idempotency_key,
  };
}

/** The proposal that the same request was answered with. */
export async function replayProposal(
  charon: Charon,
  key: ReplayKey,
  requestDigest: string,
): Promise<Proposal | undefined> {
  const known = charon.findReplay(key, requestDigest);
  if (known === undefined) return undefined;
  const [answered] = known;
  const proposal = await charon.findProposal(proposalIdSchema.parse(answered));
  assert(proposal !== undefined, 'a remembered proposal exists');
  return proposal;
}

/** The answer of a merge that was done, rebuilt from its records: the ref as the merge left it. */
async function mergedAnswer(
  { lethe, charon }: CommandDeps,
  proposalId: ProposalId,
): Promise<CommandOutput<'memory.merge'>> {
  const proposal = await charon.findProposal(proposalId);
  assert(
    proposal?.resulting_changeset_id !== undefined && proposal.strategy !== undefined,
    'a remembered merge was completed',
  );
  const { project_id: projectId, target_ref: refName, resulting_changeset_id: head } = proposal;
  const ref = await lethe.findRef(projectId, refName);
  const advance = await lethe.findAdvance({ projectId, proposalId });
  assert(ref !== undefined && advance !== undefined, 'a completed merge left a ref and its advance record');
  return {
    proposal_id: proposalId,
    status: proposal.status,
    strategy: proposal.strategy,
    resulting_changeset_id: head,
    ref: { ...ref, head_changeset_id: head, updated_at: advance.created_at },
  };
}
