import { Button } from '@mantine/core';
import { ArrowLeft } from 'lucide-react';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { ChangeList } from '../../ui/change-list.tsx';
import { groupChanges, measureChanges } from '../../ui/changes.ts';
import { MemoryText } from '../../ui/memory-text.tsx';
import { useNow } from '../../ui/now.ts';
import { Loading, Refused } from '../../ui/states.tsx';
import { decideButtons, decideVerdictLine } from './decide.ts';
import { ProposalFacts } from './proposal-facts.tsx';
import { ReviewActions } from './review-actions.tsx';
import { VerdictBanner } from './verdict-banner.tsx';
import { VerdictThread } from './verdict-thread.tsx';

interface ReviewProps {
  readonly proposalId: string;
  readonly ownerId: string;
  readonly nameOf: (principalId: string) => string;
}

/** One proposal: the verdict line first, then who and what, then the changes by meaning, then the thread. */
export function Review({ proposalId, ownerId, nameOf }: ReviewProps) {
  const answer = useEnginePages('memory.proposal_show', { proposal_id: proposalId });
  if (answer.isPending) return <Loading what="the proposal" />;
  const pages: readonly ProposalDetail[] = answer.data?.pages ?? [];
  const proposal = pages[0];
  if (proposal === undefined) {
    return answer.error === null ? null : <Refused refusal={answer.error} retry={() => void answer.refetch()} />;
  }
  return (
    <ReviewOf
      proposal={proposal}
      pages={pages}
      ownerId={ownerId}
      nameOf={nameOf}
      more={answer.hasNextPage ? () => void answer.fetchNextPage() : undefined}
    />
  );
}

interface ReviewOfProps {
  readonly proposal: ProposalDetail;
  readonly pages: readonly ProposalDetail[];
  readonly ownerId: string;
  readonly nameOf: (principalId: string) => string;
  readonly more: (() => void) | undefined;
}

function ReviewOf({ proposal, pages, ownerId, nameOf, more }: ReviewOfProps) {
  const now = useNow();
  const diffs = pages.map((page) => page.diff);
  const groups = groupChanges(diffs);
  const unfinished = more === undefined ? '' : ' so far';
  return (
    <div className="mg-page">
      <a className="mg-back" href="#/inbox">
        <ArrowLeft size={14} aria-hidden /> Inbox
      </a>
      <VerdictBanner line={decideVerdictLine(proposal, now)} />
      <div className="mg-proposal-message">
        <MemoryText text={proposal.message} />
      </div>
      <ProposalFacts proposal={proposal} nameOf={nameOf} />
      <ReviewActions proposal={proposal} buttons={decideButtons(proposal, ownerId, now)} />
      <p className="mg-changes-measure">
        {measureChanges(groups)}
        {unfinished}
      </p>
      <ChangeList diffs={diffs} nameOf={nameOf} />
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Load more changes
        </Button>
      )}
      <VerdictThread verdicts={proposal.verdicts} nameOf={nameOf} />
    </div>
  );
}
