import { Button } from '@mantine/core';
import { ArrowLeft, GitCommitVertical } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { ChangeList } from '../../ui/change-list.tsx';
import { groupChanges, measureChanges } from '../../ui/changes.ts';
import { useKeys } from '../../ui/keys.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { useNow } from '../../ui/now.ts';
import { Loading, Refused } from '../../ui/states.tsx';
import { ConflictPanel } from './conflict-panel.tsx';
import { decideButtons, decideVerdictLine } from './decide.ts';
import { PickBar } from './pick-bar.tsx';
import { ProposalFacts } from './proposal-facts.tsx';
import { joinProposalPages } from './proposal-pages.ts';
import { ReviewActions } from './review-actions.tsx';
import { usePick } from './use-pick.ts';
import { VerdictBanner } from './verdict-banner.tsx';
import { VerdictThread } from './verdict-thread.tsx';

interface ReviewProps {
  readonly project: string;
  /** A proposal may belong to another project than the chosen one: a link was followed. */
  readonly chooseProject: (project: string) => void;
  readonly proposalId: string;
  readonly ownerId: string;
  readonly nameOf: (principalId: string) => string;
}

/** A page holds what fits into an agent's result, some 20 changes: the owner reads on by more at once. */
const pagesAtOnce = 10;

/** One proposal: the verdict line first, then who and what, then the changes by meaning, then the thread. */
export function Review({ project, chooseProject, proposalId, ownerId, nameOf }: ReviewProps) {
  const answer = useEnginePages('memory.proposal_show', { proposal_id: proposalId });
  const proposal = joinProposalPages(answer.data?.pages ?? []);
  const itsProject = proposal?.project_id ?? project;
  useEffect(() => {
    if (itsProject !== project) chooseProject(itsProject);
  }, [itsProject, project, chooseProject]);
  const readOn = async (): Promise<void> => {
    for (let page = 0; page < pagesAtOnce; page += 1) if (!(await answer.fetchNextPage()).hasNextPage) return;
  };
  if (answer.isPending) return <Loading what="the proposal" />;
  if (proposal === undefined) {
    return answer.error === null ? null : <Refused refusal={answer.error} retry={() => void answer.refetch()} />;
  }
  return (
    <ReviewOf
      proposal={proposal}
      ownerId={ownerId}
      nameOf={nameOf}
      more={answer.hasNextPage ? () => void readOn() : undefined}
    />
  );
}

/** Says so when main moved while the proposal was open: what is shown now is not what was read before. */
function MovedNotice({ proposal }: { readonly proposal: ProposalDetail }) {
  const head = proposal.preview?.target_head;
  const [read, setRead] = useState(head);
  if (proposal.status !== 'pending' || head === read) return null;
  return (
    <div className="mg-notice" data-tone="changed" role="status">
      <GitCommitVertical size={16} aria-hidden />
      <p>The target moved while this was open. The line above and your decision are about its new head.</p>
      <Button size="compact-xs" variant="default" onClick={() => setRead(head)}>
        Understood
      </Button>
    </div>
  );
}

interface ReviewOfProps {
  readonly proposal: ProposalDetail;
  readonly ownerId: string;
  readonly nameOf: (principalId: string) => string;
  readonly more: (() => void) | undefined;
}

function ReviewOf({ proposal, ownerId, nameOf, more }: ReviewOfProps) {
  const now = useNow();
  const diffs = [proposal.diff];
  const groups = groupChanges(diffs);
  const changes = groups.flatMap((group) => group.changes);
  const pick = usePick(proposal, changes);
  const pickable = proposal.status === 'pending' && proposal.selected_ops === null && changes.length > 1;
  useKeys([['x', () => pickable && tickFocused()]]);
  const unfinished = more === undefined ? '' : ' so far';
  return (
    <div className="mg-page">
      <a className="mg-back" href="#/inbox">
        <ArrowLeft size={14} aria-hidden /> Inbox
      </a>
      <VerdictBanner line={decideVerdictLine(proposal, now)} />
      <MovedNotice proposal={proposal} />
      <div className="mg-proposal-message">
        <MemoryText text={proposal.message} />
      </div>
      <ProposalFacts proposal={proposal} nameOf={nameOf} />
      {proposal.status === 'pending' && (
        <ReviewActions proposal={proposal} buttons={decideButtons(proposal, ownerId, now)} />
      )}
      <ConflictPanel proposal={proposal} more={more} />
      <p className="mg-changes-measure">
        {measureChanges(groups)}
        {unfinished}
      </p>
      {pickable && <PickBar pick={pick} total={changes.length} />}
      <ChangeList
        diffs={diffs}
        nameOf={nameOf}
        tickOf={
          pickable
            ? ({ key }) => ({
                ticked: pick.ticked.has(key),
                along: pick.along.has(key),
                toggle: () => pick.toggle(key),
              })
            : undefined
        }
      />
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Load more changes
        </Button>
      )}
      <VerdictThread verdicts={proposal.verdicts} nameOf={nameOf} />
    </div>
  );
}

/** Ticks the change that the keyboard is in, or the first one. */
function tickFocused(): void {
  const card = document.activeElement?.closest('.mg-change') ?? document;
  card.querySelector<HTMLInputElement>('.mg-change-tick')?.click();
}
