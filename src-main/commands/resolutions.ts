import type { ProposalId } from '../../src-preload/contract/ids.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import type { ProposalDetail } from '../../src-preload/contract/proposal.ts';
import type { Caller, ReplayKey } from '../charon/api.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { fitPage, nextCursor } from './page.ts';
import { countShown, proposalEffects, replayProposal } from './proposals.ts';

/** Conflicts and how they are to be settled, and the undoing of merges. For the owner alone. */
export function resolutionCommands({ lethe, charon }: CommandDeps): readonly BoundCommand[] {
  const show = async (caller: Caller, proposalId: ProposalId): Promise<ProposalDetail> => {
    const read = await charon.openProposal(caller, proposalId);
    return fitPage(listLimitDefault, (limit) => read({ limit }), countShown);
  };
  return [
    bind(rowOf('conflict.list'), {
      run: ({ input }) => {
        const read = async (limit: number) => {
          const page = await lethe.listConflicts({
            projectId: input.project,
            status: input.status,
            limit,
            cursor: input.cursor,
          });
          return { conflicts: [...page.conflicts], ...nextCursor(page.nextCursor) };
        };
        return fitPage(input.limit ?? listLimitDefault, read, ({ conflicts }) => conflicts.length);
      },
    }),
    bind(rowOf('proposal.draft_resolution'), {
      objects: ({ proposal_id: id, resolution }) => [id, resolution.conflict_key, resolution.choice],
      run: async ({ input, caller }) => {
        await charon.draftResolution(caller, input.proposal_id, input.resolution);
        return show(caller, input.proposal_id);
      },
      effects: (proposal) => [proposal.proposal_digest],
    }),
    bind(rowOf('proposal.drop_resolution'), {
      objects: ({ proposal_id: id, conflict_key: key }) => [id, key],
      run: async ({ input, caller }) => {
        await charon.dropResolution(input.proposal_id, input.conflict_key);
        return show(caller, input.proposal_id);
      },
      effects: (proposal) => [proposal.proposal_digest],
    }),
    bind(rowOf('proposal.revert_advance'), {
      objects: (input) => [input.expected_head, input.new_head],
      replay: ({ input, caller, requestDigest }) => replayProposal(charon, keyOf(input, caller), requestDigest),
      prepare: async ({ input }) => void (await lethe.getProject(input.project)),
      run: ({ input, caller, requestDigest }) =>
        charon.proposeRevert(
          caller,
          {
            kind: 'advance',
            projectId: input.project,
            expectedHead: input.expected_head,
            newHead: input.new_head,
            message: input.message,
          },
          { key: keyOf(input, caller), requestDigest },
        ),
      effects: proposalEffects,
    }),
  ];
}

function keyOf(
  input: { readonly project: string; readonly idempotency_key: string },
  { principal }: Caller,
): ReplayKey {
  return {
    principalId: principal.principal_id,
    command: 'proposal.revert_advance',
    projectId: input.project,
    key: input.idempotency_key,
  };
}
