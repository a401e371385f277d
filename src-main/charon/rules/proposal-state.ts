import type { ProposalStatus } from '../../../src-preload/contract/proposal.ts';
import { Fault } from '../../base/fault.ts';

/** What can happen to a proposal (`charon.md` §4). */
export const proposalActions = [
  'approve',
  'request_changes',
  'reject',
  'draft_resolution',
  'drop_resolution',
  'cancel',
  'expire',
  'begin_merge',
  'complete_merge',
  'release_merge',
] as const;
export type ProposalAction = (typeof proposalActions)[number];

/** From state and action to the next state; what is not in the table is refused. Terminal states have no way out. */
const transitions: Readonly<Record<ProposalStatus, Partial<Record<ProposalAction, ProposalStatus>>>> = {
  pending: {
    approve: 'pending',
    request_changes: 'pending',
    reject: 'rejected',
    draft_resolution: 'pending',
    drop_resolution: 'pending',
    cancel: 'canceled',
    expire: 'expired',
    begin_merge: 'merging',
  },
  merging: { complete_merge: 'completed', release_merge: 'pending' },
  completed: {},
  rejected: {},
  canceled: {},
  expired: {},
};

/** The state after the action, or undefined when it is not possible in this state. */
export function nextStatus(status: ProposalStatus, action: ProposalAction): ProposalStatus | undefined {
  return transitions[status][action];
}

/** Throws `PROPOSAL_STATE` saying what the proposal is when the action is not possible. */
export function requireTransition(status: ProposalStatus, action: ProposalAction): ProposalStatus {
  const next = nextStatus(status, action);
  if (next !== undefined) return next;
  throw new Fault('PROPOSAL_STATE', `The proposal is ${status}${remedy(status)}`, { status, action });
}

/** What a proposal is at this moment: a pending one whose time has passed is expired before the sweep finds it. */
export function statusAt(
  stored: { readonly status: ProposalStatus; readonly expiresMs: number },
  nowMs: number,
): ProposalStatus {
  return stored.status === 'pending' && stored.expiresMs <= nowMs ? 'expired' : stored.status;
}

/** Whether anything can still become of it. */
export function isOpen(status: ProposalStatus): boolean {
  return status === 'pending' || status === 'merging';
}

function remedy(status: ProposalStatus): string {
  return status === 'merging'
    ? ' at this moment. Look again when that merge is through.'
    : ', which is final. File a new proposal if it is still wanted.';
}
