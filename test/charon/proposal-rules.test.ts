import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyMergeEnvelope } from '../../src-main/canonical/signature.ts';
import { signAuthorization } from '../../src-main/charon/rules/envelope.ts';
import { formatListCursor, parseListCursor } from '../../src-main/charon/rules/list-cursor.ts';
import { decideMergeShape, mergeKey, reviewedMergeMarker } from '../../src-main/charon/rules/merge-shape.ts';
import {
  nextStatus,
  proposalActions,
  requireTransition,
  statusAt,
} from '../../src-main/charon/rules/proposal-state.ts';
import { decideReview, type StoredVerdict } from '../../src-main/charon/rules/review-state.ts';
import { decideMergeAuthority } from '../../src-main/charon/rules/separation.ts';
import {
  changesetIdSchema,
  digestSchema,
  findingIdSchema,
  principalIdSchema,
  proposalIdSchema,
  timestampSchema,
} from '../../src-preload/contract/ids.ts';
import { type MergePreview, proposalStatuses, type Verdict } from '../../src-preload/contract/proposal.ts';
import { codeOf, testKeys } from './charon-world.ts';

const id = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`;
const changeset = (digit: number) => changesetIdSchema.parse(id(digit));
const proposalId = proposalIdSchema.parse(id(9));
const principal = (digit: number) => principalIdSchema.parse(`principal_000000000000000${digit}`);
const digest = (digit: string) => digestSchema.parse(digit.repeat(64));

describe('states', () => {
  test('C44 the table of states and actions is exactly this', () => {
    const possible = proposalStatuses.flatMap((status) =>
      proposalActions.flatMap((action) => {
        const next = nextStatus(status, action);
        return next === undefined ? [] : [`${status} ${action} ${next}`];
      }),
    );
    expect(possible).toEqual([
      'pending approve pending',
      'pending request_changes pending',
      'pending reject rejected',
      'pending draft_resolution pending',
      'pending drop_resolution pending',
      'pending cancel canceled',
      'pending expire expired',
      'pending begin_merge merging',
      'merging complete_merge completed',
      'merging release_merge pending',
    ]);
  });

  test('C44 what is not in the table is refused with the state that stands against it', () => {
    expect(() => requireTransition('rejected', 'approve')).toThrow('The proposal is rejected, which is final');
    expect(() => requireTransition('merging', 'approve')).toThrow('at this moment');
  });

  test('C57 a pending proposal is expired from its moment on, before any sweep; no other state is', () => {
    expect(statusAt({ status: 'pending', expiresMs: 100 }, 99)).toBe('pending');
    expect(statusAt({ status: 'pending', expiresMs: 100 }, 100)).toBe('expired');
    expect(statusAt({ status: 'merging', expiresMs: 100 }, 100)).toBe('merging');
    expect(statusAt({ status: 'completed', expiresMs: 100 }, 100)).toBe('completed');
  });
});

describe('review', () => {
  const nowState = { proposalDigest: digest('a'), targetHead: changeset(1) };
  let count = 0;
  const verdict = (reviewer: number, word: Verdict, state: Partial<typeof nowState> = {}): StoredVerdict => {
    count += 1;
    const bound = { ...nowState, ...state };
    return {
      finding_id: findingIdSchema.parse(`00000000-0000-7000-8000-${String(count).padStart(12, '0')}`),
      reviewer: principal(reviewer),
      verdict: word,
      comment: '',
      severity: 'info',
      proposal_digest: bound.proposalDigest,
      target_head: bound.targetHead,
      created_at: timestampSchema.parse('2026-11-30T12:00:00Z'),
    };
  };
  const all = () => true;

  test.each([
    ['no verdict', [], 'none'],
    ['an approval of this state', [verdict(1, 'approve')], 'approved'],
    ['an approval of another digest', [verdict(1, 'approve', { proposalDigest: digest('b') })], 'stale'],
    ['an approval of another target head', [verdict(1, 'approve', { targetHead: changeset(2) })], 'stale'],
    [
      'a stale one and a current one',
      [verdict(1, 'approve', { targetHead: changeset(2) }), verdict(2, 'approve')],
      'approved',
    ],
    ['changes asked for', [verdict(1, 'request_changes')], 'changes_requested'],
    [
      'changes asked for on an older state',
      [verdict(1, 'request_changes', { targetHead: changeset(2) })],
      'changes_requested',
    ],
    [
      'an approval does not lift another reviewer’s objection',
      [verdict(1, 'request_changes'), verdict(2, 'approve')],
      'changes_requested',
    ],
    [
      'a reviewer’s approval lifts its own objection',
      [verdict(1, 'request_changes'), verdict(1, 'approve')],
      'approved',
    ],
    [
      'a reviewer’s objection takes back its own approval',
      [verdict(1, 'approve'), verdict(1, 'request_changes')],
      'changes_requested',
    ],
  ] as const)('C47 %s', (_title, verdicts, expected) => {
    expect(decideReview(verdicts, nowState, all).reviewState).toBe(expected);
  });

  test('C47 only the latest verdict of a reviewer on this very state is current', () => {
    const verdicts = [
      verdict(1, 'approve'),
      verdict(2, 'approve', { targetHead: changeset(2) }),
      verdict(1, 'approve'),
    ];
    const standing = decideReview(verdicts, nowState, all);
    expect(standing.verdicts.map((each) => each.current)).toEqual([false, false, true]);
    expect(standing.approvers).toEqual([principal(1)]);
  });

  test('C47 the approval of somebody who may not review any more has no weight, an objection has', () => {
    const nobody = () => false;
    expect(decideReview([verdict(1, 'approve')], nowState, nobody)).toMatchObject({
      reviewState: 'none',
      approvers: [],
    });
    expect(decideReview([verdict(1, 'request_changes')], nowState, nobody).reviewState).toBe('changes_requested');
  });
});

describe('authority', () => {
  const standing = (approvers: number[]) => ({
    reviewState: 'approved' as const,
    verdicts: [],
    approvers: approvers.map(principal),
    objectors: [],
  });
  const authors = { originator: principal(1), authors: [principal(2)] };

  test('C49 an approval of the originator or of an author carries nothing, whoever gave it', async () => {
    expect(await codeOf(() => decideMergeAuthority(principal(9), false, authors, standing([1, 2])))).toBe(
      'NOT_APPROVED',
    );
    expect(decideMergeAuthority(principal(9), false, authors, standing([2, 3, 4]))).toEqual({
      kind: 'reviewed',
      reviewer: principal(3),
    });
  });
});

describe('shapes and envelopes', () => {
  const preview = (more: Partial<MergePreview>): MergePreview => ({
    target_head: changeset(1),
    strategy: 'fast_forward',
    target_ahead: 0,
    proposal_ahead: 1,
    contested_memory_ids: [],
    contested_total: 0,
    ...more,
  });

  const whole = { isPick: false, isResolving: false };

  test('C51 an ancestor of the head is fast-forwarded, everything else is merged by a changeset of both', () => {
    const both = { strategy: 'merge_commit', parentIds: [changeset(1), changeset(2)] };
    expect(decideMergeShape(preview({}), changeset(2), whole)).toEqual({
      strategy: 'fast_forward',
      newHead: changeset(2),
    });
    expect(decideMergeShape(preview({}), changeset(2), { ...whole, isResolving: true })).toEqual(both);
    expect(decideMergeShape(preview({ strategy: 'merge_commit' }), changeset(2), whole)).toEqual(both);
  });

  test('C87 a cherry-pick has the target as its one parent, wherever the head stands', () => {
    for (const strategy of ['fast_forward', 'merge_commit'] as const)
      expect(decideMergeShape(preview({ strategy }), changeset(2), { ...whole, isPick: true })).toEqual({
        strategy: 'cherry_pick',
        parentIds: [changeset(1)],
      });
  });

  test('C42 a head that the target contains is refused', async () => {
    for (const isPick of [true, false])
      expect(
        await codeOf(() =>
          decideMergeShape(preview({ strategy: 'nothing_to_merge' }), changeset(2), { ...whole, isPick }),
        ),
      ).toBe('NOTHING_TO_MERGE');
  });

  test('C51 the marker and the key of a merge changeset are those of the protocol', () => {
    expect(reviewedMergeMarker(proposalId, changeset(2))).toMatchObject({
      ordinal: 0,
      op_type: 'attach_verification',
      payload: { kind: 'reviewed_merge', proposal_id: proposalId, source_changeset_id: changeset(2) },
    });
    expect(mergeKey(proposalId, 'ab')).toBe(`merge:${proposalId}:ab`);
  });

  test('C52 an envelope has the fourteen fields, lives two minutes and verifies under the named key', () => {
    const nowMs = Date.UTC(2026, 10, 30, 12);
    const grant = {
      projectId: 'demo',
      refName: 'refs/shared/main',
      expectedHead: id(1),
      newHead: id(2),
      proposalId,
      proposalDigest: 'ab'.repeat(32),
      reviewer: principal(1),
      merger: principal(2),
      strategy: 'fast_forward',
      nonce: '0f'.repeat(16),
    } as const;
    const { envelope, signature } = JSON.parse(signAuthorization(grant, testKeys.mergeSigning, nowMs));
    expect(envelope).toEqual({
      version: 'memory-git-merge/v2',
      project_id: 'demo',
      ref_name: 'refs/shared/main',
      expected_head: id(1),
      new_head: id(2),
      proposal_id: proposalId,
      proposal_digest: 'ab'.repeat(32),
      reviewer_principal: principal(1),
      merger_principal: principal(2),
      strategy: 'fast_forward',
      issued_at: '2026-11-30T12:00:00Z',
      expires_at: '2026-11-30T12:02:00Z',
      nonce: '0f'.repeat(16),
      key_id: 'k1',
    });
    expect(verifyMergeEnvelope(testKeys.mergeSigning.key, envelope, signature)).toBe(true);
    expect(verifyMergeEnvelope(testKeys.ledger.key, envelope, signature)).toBe(false);
  });

  test('C58 a cursor of a list is good for its project and filter, and nothing else', () => {
    const cursor = formatListCursor({ project: 'demo', status: 'pending', before: 7 });
    expect(parseListCursor(cursor, 'demo', 'pending')).toBe(7);
    for (const [project, status] of [
      ['Demo', 'pending'],
      ['demo', null],
      ['demo', 'merging'],
    ] as const) {
      expect(() => parseListCursor(cursor, project, status)).toThrow('cursor does not belong');
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseListCursor(text, 'demo', null)).toThrow('cursor does not belong');
      }),
    );
  });
});
