import type { Proposal, ProposalStatus } from '../../../src-preload/contract/proposal.ts';

/** The tabs over the queue and the statuses that each one lists. */
export const queueTabs = [
  { value: 'waiting', label: 'Waiting' },
  { value: 'completed', label: 'Merged' },
  { value: 'rejected', label: 'Rejected' },
  { value: 'closed', label: 'Withdrawn' },
  { value: 'all', label: 'All' },
] as const;
export type QueueTab = (typeof queueTabs)[number]['value'];

const statusesByTab: Readonly<Record<QueueTab, readonly ProposalStatus[]>> = {
  waiting: ['pending', 'merging'],
  completed: ['completed'],
  rejected: ['rejected'],
  closed: ['canceled', 'expired'],
  all: ['pending', 'merging', 'completed', 'rejected', 'canceled', 'expired'],
};

/** The status to ask the engine for, when one status is all that a tab lists. */
export function statusOfTab(tab: QueueTab): ProposalStatus | undefined {
  const statuses = statusesByTab[tab];
  return statuses.length === 1 ? statuses[0] : undefined;
}

/** The proposals of a tab: those that wait first, then newest first. */
export function proposalsOfTab(proposals: readonly Proposal[], tab: QueueTab): readonly Proposal[] {
  return proposals
    .filter((proposal) => statusesByTab[tab].includes(proposal.status))
    .toSorted((a, b) => rank(a) - rank(b) || (a.created_at < b.created_at ? 1 : -1));
}

function rank(proposal: Proposal): number {
  return statusesByTab.waiting.includes(proposal.status) ? 0 : 1;
}

/** The id `step` places after the current one, kept inside the list; the first one when nothing is current. */
export function stepTo(ids: readonly string[], current: string | undefined, step: number): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at === -1) return ids[0];
  return ids[Math.min(ids.length - 1, Math.max(0, at + step))];
}

/** The state of a proposal in one or two words, with its colour. */
export function stateWords(proposal: Proposal): {
  readonly text: string;
  readonly tone: 'added' | 'changed' | 'removed' | 'noted';
} {
  switch (proposal.status) {
    case 'completed':
      return { text: 'merged', tone: 'added' };
    case 'rejected':
      return { text: 'rejected', tone: 'removed' };
    case 'canceled':
      return { text: 'withdrawn', tone: 'noted' };
    case 'expired':
      return { text: 'expired', tone: 'noted' };
    case 'merging':
      return { text: 'merging', tone: 'changed' };
    case 'pending':
      return pendingWords[proposal.review_state];
  }
}

const pendingWords = {
  none: { text: 'to review', tone: 'noted' },
  approved: { text: 'approved', tone: 'added' },
  changes_requested: { text: 'changes requested', tone: 'changed' },
  stale: { text: 'stale', tone: 'changed' },
} as const;
