import { Button } from '@mantine/core';
import type { Proposal } from '../../../src-preload/contract/proposal.ts';
import { formatRoute } from '../../ui/routes.ts';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { shortRef } from '../../ui/words.ts';
import { stateWords } from './queue.ts';

interface QueueProps {
  readonly proposals: readonly Proposal[];
  readonly current: string | undefined;
  readonly nameOf: (principalId: string) => string;
  readonly more: (() => void) | undefined;
}

/** The proposals of a tab, one row each. */
export function Queue({ proposals, current, nameOf, more }: QueueProps) {
  return (
    <>
      <VirtualList
        label="Proposals"
        items={proposals}
        keyOf={(proposal) => proposal.proposal_id}
        estimatePx={72}
        current={proposals.findIndex((proposal) => proposal.proposal_id === current)}
        onEnd={more}
        renderRow={(proposal) => (
          <QueueRow proposal={proposal} current={proposal.proposal_id === current} nameOf={nameOf} />
        )}
      />
      {more !== undefined && (
        <Button variant="subtle" fullWidth onClick={more}>
          Load older proposals
        </Button>
      )}
    </>
  );
}

interface QueueRowProps {
  readonly proposal: Proposal;
  readonly current: boolean;
  readonly nameOf: (principalId: string) => string;
}

function QueueRow({ proposal, current, nameOf }: QueueRowProps) {
  const state = stateWords(proposal);
  return (
    <a
      className="mg-row"
      href={formatRoute({ screen: 'inbox', proposalId: proposal.proposal_id })}
      aria-current={current ? 'true' : undefined}
    >
      <span className="mg-row-title">{plainLine(proposal.message, 200)}</span>
      <span className="mg-row-meta">
        <span className="mg-chip" data-tone={state.tone}>
          {state.text}
        </span>
        <span>{plainLine(nameOf(proposal.originator), 40)}</span>
        <When at={proposal.created_at} />
        {proposal.target_ref !== 'refs/shared/main' && <span className="mg-mono">{shortRef(proposal.target_ref)}</span>}
      </span>
    </a>
  );
}
