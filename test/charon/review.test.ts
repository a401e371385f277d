import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../src-main/charon/api.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import type { Proposal, ProposalStatus, Verdict } from '../../src-preload/contract/proposal.ts';
import { codeOf } from './charon-world.ts';
import {
  branchWith,
  judge,
  keyed,
  type MergeWorld,
  mergeBy,
  now,
  openMergeWorld,
  proposal,
  proposeHead,
} from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
});
afterEach(() => world.remove());

const elsewhere = changesetIdSchema.parse('00000000-0000-7000-8000-00000000dead');

/** A verdict that names no state, or only what the test gives. */
function bare(
  by: Caller,
  filed: Proposal,
  verdict: Verdict,
  named: { proposalDigest?: string; targetHead?: Proposal['target_head'] } = {},
) {
  return world.charon.charon.review(by, {
    proposalId: filed.proposal_id,
    verdict,
    comment: 'because',
    severity: 'warning',
    ...named,
  });
}

/** Main moves by another proposal. */
async function moveMain(): Promise<void> {
  const other = await proposal(world);
  await judge(world, world.second, other.proposal_id, 'approve');
  await mergeBy(world, world.second, other.proposal_id);
}

describe('verdicts', () => {
  test('C46 a verdict is recorded with the state that it is about', async () => {
    const filed = await proposal(world);
    const given = await bare(world.reviewer, filed, 'approve', {
      proposalDigest: filed.proposal_digest,
      targetHead: filed.target_head,
    });
    expect(given).toMatchObject({ outcome: 'approved', proposalDigest: filed.proposal_digest });
    expect(await now(world, filed.proposal_id)).toMatchObject({
      status: 'pending',
      review_state: 'approved',
      verdicts: [
        {
          finding_id: given.findingId,
          reviewer: world.reviewer.principal.principal_id,
          verdict: 'approve',
          comment: 'because',
          severity: 'warning',
          proposal_digest: filed.proposal_digest,
          target_head: filed.target_head,
          current: true,
        },
      ],
    });
    expect(world.charon.events.at(-1)).toMatchObject({ kind: 'proposal_changed', status: 'pending' });
  });

  test('C46 a state that is named and no longer so is refused, and nothing is recorded', async () => {
    const filed = await proposal(world);
    expect(await codeOf(bare(world.reviewer, filed, 'approve', { proposalDigest: 'ab'.repeat(32) }))).toBe(
      'PROPOSAL_STALE',
    );
    expect(await codeOf(bare(world.reviewer, filed, 'approve', { targetHead: elsewhere }))).toBe('PROPOSAL_STALE');
    await moveMain();
    for (const verdict of ['approve', 'request_changes', 'reject'] as const) {
      expect(await codeOf(bare(world.reviewer, filed, verdict, { targetHead: filed.target_head }))).toBe(
        'PROPOSAL_STALE',
      );
    }
    expect((await now(world, filed.proposal_id)).verdicts).toEqual([]);
  });

  test('C46 a verdict that names nothing is about what was last shown to that reviewer, else about now', async () => {
    const filed = await proposal(world);
    await world.charon.charon.showProposal(world.reviewer, filed.proposal_id, { limit: 1 });
    await moveMain();
    expect(await codeOf(bare(world.reviewer, filed, 'approve'))).toBe('PROPOSAL_STALE');
    expect((await bare(world.second, filed, 'approve')).outcome).toBe('approved');
    await world.charon.charon.showProposal(world.reviewer, filed.proposal_id, { limit: 1 });
    world.charon = await world.charon.reopen();
    expect((await bare(world.reviewer, filed, 'approve')).outcome).toBe('approved');
  });

  test('C46 at the owner’s doors digest and target head must be named', async () => {
    const filed = await proposal(world);
    expect(await codeOf(bare(world.owner, filed, 'approve'))).toBe('INPUT_INVALID');
    expect(await codeOf(bare(world.owner, filed, 'approve', { proposalDigest: filed.proposal_digest }))).toBe(
      'INPUT_INVALID',
    );
    expect(await codeOf(bare(world.owner, filed, 'approve', { targetHead: filed.target_head }))).toBe('INPUT_INVALID');
    expect((await judge(world, world.owner, filed.proposal_id, 'approve')).outcome).toBe('approved');
  });

  test('C47 C172 an approval is stale as soon as the target moves, and again current for the new head once repeated', async () => {
    const filed = await proposal(world);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await moveMain();
    const stale = await now(world, filed.proposal_id);
    expect(stale).toMatchObject({ review_state: 'stale', verdicts: [{ current: false }] });
    expect(stale?.review_findings).toEqual(stale?.verdicts.map(({ finding_id: id }) => id));
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('PROPOSAL_STALE');
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    expect(await now(world, filed.proposal_id)).toMatchObject({
      review_state: 'approved',
      verdicts: [{ current: false }, { current: true }],
    });
    expect((await mergeBy(world, world.reviewer, filed.proposal_id)).strategy).toBe('merge_commit');
  });

  test('C47 changes asked for block the merge until that reviewer approves', async () => {
    const filed = await proposal(world);
    expect((await judge(world, world.reviewer, filed.proposal_id, 'request_changes')).outcome).toBe(
      'changes_requested',
    );
    await judge(world, world.second, filed.proposal_id, 'approve');
    expect(await codeOf(mergeBy(world, world.second, filed.proposal_id))).toBe('CHANGES_REQUESTED');
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    expect((await mergeBy(world, world.second, filed.proposal_id)).status).toBe('completed');
  });

  test('C47 the approval of a reviewer who was disabled or demoted does not carry a merge', async () => {
    const { charon } = world.charon;
    const filed = await proposal(world);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await charon.setPrincipalEnabled(world.reviewer.principal.principal_id, false);
    expect((await now(world, filed.proposal_id)).review_state).toBe('none');
    expect(await codeOf(mergeBy(world, world.second, filed.proposal_id))).toBe('NOT_APPROVED');
    await charon.setPrincipalEnabled(world.reviewer.principal.principal_id, true);
    await charon.reconcilePrincipal({ name: 'reviewer', profile: 'readonly', grant: '*' });
    expect(await codeOf(mergeBy(world, world.second, filed.proposal_id))).toBe('NOT_APPROVED');
  });

  test('C44 a rejection ends the proposal and names who decided', async () => {
    const filed = await proposal(world);
    expect((await judge(world, world.reviewer, filed.proposal_id, 'reject')).outcome).toBe('rejected');
    expect(await now(world, filed.proposal_id)).toMatchObject({
      status: 'rejected',
      decided_by: world.reviewer.principal.principal_id,
    });
    expect(await codeOf(judge(world, world.second, filed.proposal_id, 'approve'))).toBe('PROPOSAL_STATE');
    expect(world.charon.events.at(-1)).toMatchObject({ status: 'rejected' });
  });
});

describe('states, actions and actors', () => {
  const actions = ['approve', 'request_changes', 'reject', 'merge', 'cancel'] as const;
  const actors = ['originator', 'author', 'reviewer', 'owner'] as const;
  type Action = (typeof actions)[number];
  type Actor = (typeof actors)[number];
  const states: readonly ProposalStatus[] = ['pending', 'merging', 'completed', 'rejected', 'canceled', 'expired'];

  /** Separation of duties is decided before the state, the state before everything else. */
  function expected(state: ProposalStatus, action: Action, actor: Actor): string {
    const ownWork = actor === 'originator' || actor === 'author';
    if (action === 'cancel' && actor !== 'originator') return 'NOT_ORIGINATOR';
    if (action === 'merge' && ownWork) return 'SELF_APPROVAL';
    if (action !== 'merge' && action !== 'cancel' && ownWork) return 'SELF_REVIEW';
    return state === 'pending' ? 'nothing was refused' : 'PROPOSAL_STATE';
  }

  async function inState(state: ProposalStatus): Promise<Proposal> {
    const head = await branchWith(world, undefined, coAuthor().principal.principal_id);
    const filed = await proposeHead(world, head);
    const { proposal_id: id } = filed;
    if (state === 'rejected') await judge(world, world.second, id, 'reject');
    else if (state === 'canceled') await world.charon.charon.cancel(world.author, id);
    else await judge(world, world.second, id, 'approve');
    if (state === 'completed') await mergeBy(world, world.second, id);
    const force = (sql: string) => world.charon.withDb((db) => db.exec(`${sql} WHERE proposal_id = '${id}'`));
    if (state === 'merging') force("UPDATE proposals SET status = 'merging'");
    if (state === 'expired') force("UPDATE proposals SET status = 'expired', decided_at = created_at");
    return now(world, id);
  }

  /** Wrote what is proposed, and has the scopes of a reviewer: only the separation of duties stands in the way. */
  function coAuthor(): Caller {
    const principal = world.charon.charon.listPrincipals().find((each) => each.name === 'second author');
    if (principal === undefined) throw new Error('the co-author is made before');
    return { ...world.second, principal };
  }

  test.each(states)('C48 C49 C56 of a %s proposal each actor may do exactly this', async (state) => {
    await world.charon.charon.reconcilePrincipal({
      name: 'second author',
      profile: 'review',
      grant: world.history.project,
    });
    const people: Record<Actor, Caller> = {
      originator: world.author,
      author: coAuthor(),
      reviewer: world.reviewer,
      owner: world.owner,
    };
    for (const action of actions) {
      for (const actor of actors) {
        const filed = await inState(state);
        expect(filed.status).toBe(state);
        const by = people[actor];
        const { proposal_id: id } = filed;
        const work =
          action === 'merge'
            ? world.charon.charon.merge(by, id, keyed(by, 'memory.merge'))
            : action === 'cancel'
              ? world.charon.charon.cancel(by, id)
              : judge(world, by, id, action);
        expect(await codeOf(work), `${state} ${action} ${actor}`).toBe(expected(state, action, actor));
        if (expected(state, action, actor) !== 'nothing was refused') expect((await now(world, id)).status).toBe(state);
      }
    }
  });
});
