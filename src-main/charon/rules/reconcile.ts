import type { Advance } from '../../../src-preload/contract/proposal.ts';

/** A completed proposal, as far as its target's move must say the same. */
export interface CompletedProposal {
  readonly project_id: string;
  readonly target_ref: string;
  readonly target_head: string;
  readonly originator: string;
  readonly decided_by: string | null;
  readonly resulting_changeset_id: string | null;
  readonly strategy: string | null;
  readonly self_merge: number;
  /** Null for one that was decided before digests were kept. */
  readonly decided_digest: string | null;
}

/** What Charon signed for a move. */
export interface SignedAttempt {
  readonly nonce: string;
  readonly merger: string;
  readonly reviewer: string;
  readonly expected_head: string;
  readonly proposal_digest: string;
}

/** Everything in which a completed proposal and the advance record of its target do not say the same (`charon.md` §7). */
export function compareWithAdvance(
  proposal: CompletedProposal,
  advance: Advance,
  attempt: SignedAttempt | undefined,
): readonly string[] {
  const pairs: readonly (readonly [string, string | null | undefined, string])[] = [
    ['project', proposal.project_id, advance.project_id],
    ['target ref', proposal.target_ref, advance.ref_name],
    ['expected head', proposal.target_head, advance.expected_head],
    ['new head', proposal.resulting_changeset_id, advance.new_head],
    ['strategy', proposal.strategy, advance.strategy],
    ['merger', proposal.decided_by, advance.merger_principal],
    ['digest', proposal.decided_digest ?? advance.proposal_digest, advance.proposal_digest],
    ['signed nonce', attempt?.nonce, advance.authorization_nonce],
    ['signed merger', attempt?.merger, advance.merger_principal],
    ['signed reviewer', attempt?.reviewer, advance.reviewer_principal],
    ['signed expected head', attempt?.expected_head, advance.expected_head],
    ['signed digest', attempt?.proposal_digest, advance.proposal_digest],
  ];
  return pairs
    .filter(([, ours, theirs]) => ours !== theirs)
    .map(([name]) => `its ${name} is not that of its advance record`);
}

/**
 * Who was party to a proposal and yet reviewed or merged it, or undefined (`lethe.md` §0.1). The owner's self-merge is allowed
 * where it is on record: for the owner alone, who is then both.
 */
export function findSelfApproval(
  proposal: CompletedProposal,
  advance: Advance,
  authors: readonly string[],
  owner: string,
): string | undefined {
  const isParty = (principal: string): boolean => proposal.originator === principal || authors.includes(principal);
  const { reviewer_principal: reviewer, merger_principal: merger } = advance;
  if (!isParty(reviewer) && !isParty(merger))
    return proposal.self_merge === 0 ? undefined : 'it is recorded as a self-merge and was none';
  if (proposal.self_merge === 0) return 'a party to it reviewed or merged it, which is not recorded as a self-merge';
  return reviewer === owner && merger === owner ? undefined : 'a self-merge that is not the owner’s';
}
