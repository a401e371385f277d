import { useState } from 'react';
import type { Conflict, Resolution } from '../../../src-preload/contract/conflict.ts';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { conflictWords, sidesOf } from '../../ui/conflicts.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { ConflictSidesView } from './conflict-sides.tsx';
import { isSettled, mayBeSettled } from './conflict-state.ts';
import { Settle } from './settle.tsx';

interface ConflictCardProps {
  readonly proposal: ProposalDetail;
  readonly conflict: Conflict;
  readonly kept: Resolution | undefined;
}

/** One conflict: what each side says, how it is to be settled, and what the merge will write for it. */
export function ConflictCard({ proposal, conflict, kept }: ConflictCardProps) {
  const sides = sidesOf(conflict);
  const words = conflictWords[conflict.conflict_type];
  const open = proposal.status === 'pending' && mayBeSettled(conflict, kept);
  const [wasOpen, setWasOpen] = useState(open);
  if (open && !wasOpen) setWasOpen(true);
  const stage = open ? 'open' : proposal.status === 'merging' ? 'merging' : 'ended';
  return (
    <article
      className="mg-card mg-change mg-conflict"
      data-tone="removed"
      data-conflict
      data-settled={isSettled(conflict, kept)}
      aria-label={`Conflict: ${words.label}`}
      tabIndex={-1}
    >
      <header className="mg-change-head">
        <strong className="mg-conflict-name">{words.label}</strong>
        <span>{words.means}</span>
      </header>
      <p className="mg-conflict-summary">
        <MemoryLine text={conflict.summary} />
      </p>
      <ConflictSidesView sides={sides} />
      {(conflict.status !== 'open' || proposal.status !== 'pending') && <Ended conflict={conflict} />}
      {(open || (wasOpen && proposal.status !== 'completed')) && (
        <Settle proposalId={proposal.proposal_id} conflict={conflict} sides={sides} kept={kept} stage={stage} />
      )}
    </article>
  );
}

function Ended({ conflict }: { readonly conflict: Conflict }) {
  return (
    <p className="mg-quiet">
      {conflict.status === 'resolved' ? 'Settled' : `This conflict is ${conflict.status}`}
      {conflict.resolution_note !== undefined && conflict.resolution_note !== '' && (
        <>
          : <MemoryLine text={conflict.resolution_note} />
        </>
      )}
    </p>
  );
}
