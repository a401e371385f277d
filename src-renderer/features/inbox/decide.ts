import type { Proposal, ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { groupChanges, summariseChanges } from '../../ui/changes.ts';
import { conflictLine } from '../../ui/conflicts.ts';
import { count } from '../../ui/words.ts';

/** The first line of a review: what would happen, or what stands in the way. */
export interface VerdictLine {
  readonly tone: 'clean' | 'wait' | 'blocked' | 'done' | 'closed';
  readonly text: string;
}

const strategyWords = {
  fast_forward: 'fast-forward',
  merge_commit: 'merge commit',
  cherry_pick: 'cherry-pick',
} as const;

/** Decides the verdict line of a proposal as it was served. Pure; `nowMs` is milliseconds since 1970. */
export function decideVerdictLine(proposal: ProposalDetail, nowMs: number): VerdictLine {
  const closed = closedLine(proposal, nowMs);
  if (closed !== undefined) return closed;
  const obstacle = findObstacle(proposal);
  if (obstacle !== undefined) return { tone: 'blocked', text: obstacle };
  const clean = cleanWords(proposal);
  switch (proposal.review_state) {
    case 'stale':
      return { tone: 'wait', text: 'Stale: main moved since the approval; review again' };
    case 'changes_requested':
      return {
        tone: 'wait',
        text: 'Changes were requested; whoever asked for them has to approve before it can merge',
      };
    case 'approved':
      return { tone: 'clean', text: `Approved. ${clean}` };
    case 'none':
      return { tone: 'clean', text: clean };
  }
}

function closedLine(proposal: ProposalDetail, nowMs: number): VerdictLine | undefined {
  switch (proposal.status) {
    case 'merging':
      return { tone: 'wait', text: 'Merging now' };
    case 'completed': {
      const how = proposal.strategy === undefined ? '' : ` (${strategyWords[proposal.strategy]})`;
      const self = proposal.self_merge ? ', by the owner of the proposal itself' : '';
      return { tone: 'done', text: `Merged${how}${self}` };
    }
    case 'rejected':
      return { tone: 'closed', text: 'Rejected. Nothing of it is in shared memory; its branch keeps everything' };
    case 'canceled':
      return { tone: 'closed', text: 'Withdrawn by its author' };
    case 'expired':
      return { tone: 'closed', text: 'Expired before it was decided' };
    case 'pending':
      return Date.parse(proposal.expires_at) <= nowMs
        ? { tone: 'closed', text: 'Expired while it was open here; it can no longer be merged' }
        : undefined;
  }
}

/** What keeps a pending proposal from merging whatever anybody says, or undefined. */
function findObstacle(proposal: ProposalDetail): string | undefined {
  const { preview } = proposal;
  if (preview === null) return 'Cannot merge yet: what a merge would do is not known';
  if (preview.strategy === 'nothing_to_merge') return 'Nothing to merge: shared memory already holds all of it';
  if (preview.lost_op !== undefined)
    return 'Cannot merge: a picked change leads to a memory that main has retired; propose the others without it';
  const { unresolved } = proposal.conflict_counts;
  if (unresolved === 0) return undefined;
  const line = conflictLine(preview.blocking_by_type) ?? count(unresolved, 'conflict');
  const left =
    unresolved === proposal.conflict_counts.blocking ? '' : `; ${unresolved.toLocaleString('en')} still to settle`;
  return preview.target_moved && preview.new_conflicts > 0
    ? `Stale: main moved, ${count(preview.new_conflicts, 'new conflict')}. ${line}${left}`
    : `${line}${left}`;
}

function cleanWords(proposal: ProposalDetail): string {
  const strategy = proposal.preview?.strategy;
  const settled = proposal.conflict_counts.blocking;
  const how = strategy === undefined || strategy === 'nothing_to_merge' ? '' : `${strategyWords[strategy]}, `;
  const merges = settled === 0 ? 'Merges cleanly' : `Merges with ${count(settled, 'conflict')} settled`;
  return `${merges} (${how}${summariseProposal(proposal)})`;
}

/** "3 added, 1 corrected", with "and more" when the diff has more pages than were served first. */
export function summariseProposal(proposal: ProposalDetail): string {
  const more = proposal.diff.next_cursor === undefined ? '' : ' and more';
  return `${summariseChanges(groupChanges([proposal.diff]))}${more}`;
}

/** For each button why it cannot be pressed; null when it can. */
export interface ReviewButtons {
  readonly approve: string | null;
  readonly requestChanges: string | null;
  readonly reject: string | null;
  readonly merge: string | null;
  /** Whether merging includes approving what is shown. */
  readonly mergeApproves: boolean;
}

/** Decides what the owner may press on a proposal as it was served. Pure. The engine decides again, and has the last word. */
export function decideButtons(proposal: ProposalDetail, ownerId: string, nowMs: number): ReviewButtons {
  const closed = closedLine(proposal, nowMs);
  if (closed !== undefined) {
    const why = `${closed.text}: nothing is left to decide.`;
    return { approve: why, requestChanges: why, reject: why, merge: why, mergeApproves: false };
  }
  const own = proposal.originator === ownerId;
  const selfReview = own ? 'You made this proposal yourself; nobody reviews their own.' : null;
  const approved = proposal.review_state === 'approved';
  const obstacle = findObstacle(proposal);
  return {
    approve: selfReview ?? (approved ? 'It is approved, and nothing changed since.' : null),
    requestChanges: selfReview,
    reject: selfReview,
    merge: obstacle === undefined ? blockedByReviewer(proposal, ownerId) : mergeObstacle(proposal, obstacle),
    mergeApproves: !own && !approved,
  };
}

function mergeObstacle({ conflict_counts: { unresolved } }: Proposal, obstacle: string): string {
  if (unresolved === 0) return `${obstacle}.`;
  return `Settle ${unresolved === 1 ? 'the conflict' : `the ${unresolved.toLocaleString('en')} conflicts`} below first.`;
}

/** A reviewer who asked for changes blocks the merge until that reviewer approves; the owner's own block ends by approving. */
function blockedByReviewer(proposal: Proposal, ownerId: string): string | null {
  const latest = new Map<string, string>();
  for (const verdict of [...proposal.verdicts].sort((a, b) => (a.created_at < b.created_at ? -1 : 1))) {
    latest.set(verdict.reviewer, verdict.verdict);
  }
  const others = [...latest].filter(([reviewer, verdict]) => reviewer !== ownerId && verdict !== 'approve');
  return others.length === 0 ? null : 'Another reviewer asked for changes and has to approve first.';
}
