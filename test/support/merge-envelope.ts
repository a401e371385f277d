import { toTimestamp } from '../../src-main/base/clock.ts';
import { type MergeEnvelope, signMergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { AdvanceInput } from '../../src-main/lethe/api.ts';
import type { VerbContext } from '../../src-main/lethe/verb-context.ts';
import { type ChangesetId, type ProjectId, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { refName, testMergeKey } from './history-builder.ts';

export const testReviewer = 'principal_00000000000000b1';
export const testMerger = 'principal_00000000000000c1';
export const testProposal = proposalIdSchema.parse('00000000-0000-7000-8000-0000000000f1');

/** A well-formed envelope of now for a move of main, changed where a test says so. */
export function mergeEnvelope(
  temp: Pick<VerbContext, 'clock' | 'ids'>,
  move: { readonly project: ProjectId; readonly expected: ChangesetId; readonly next: ChangesetId },
  more: Partial<MergeEnvelope> = {},
): MergeEnvelope {
  const nowMs = temp.clock.nowMs();
  return {
    version: 'memory-git-merge/v2',
    project_id: move.project,
    ref_name: 'refs/shared/main',
    expected_head: move.expected,
    new_head: move.next,
    proposal_id: testProposal,
    proposal_digest: 'ab'.repeat(32),
    reviewer_principal: testReviewer,
    merger_principal: testMerger,
    strategy: 'fast_forward',
    issued_at: toTimestamp(nowMs),
    expires_at: toTimestamp(nowMs + 120_000),
    nonce: temp.ids.randomBytes(16).toString('hex'),
    key_id: 'k1',
    ...more,
  };
}

/** The authorization text of an envelope, signed with the test's merge key or another. */
export function authorize(envelope: MergeEnvelope, key: Uint8Array = testMergeKey): string {
  return JSON.stringify({ envelope, signature: signMergeEnvelope(key, envelope) });
}

/** The request that an envelope belongs to. */
export function advanceInput(
  move: { readonly project: ProjectId; readonly expected: ChangesetId; readonly next: ChangesetId },
  mergeAuthorization: string,
  more: Partial<AdvanceInput> = {},
): AdvanceInput {
  return {
    projectId: move.project,
    refName: refName('refs/shared/main'),
    expectedHead: move.expected,
    newHead: move.next,
    mergeProposalId: testProposal,
    reviewerPrincipal: testReviewer,
    mergeAuthorization,
    ...more,
  };
}
