import './inbox.css';
import { SegmentedControl } from '@mantine/core';
import { GitPullRequestArrow, MailOpen } from 'lucide-react';
import { useState } from 'react';
import { usePeople } from '../../bridge/people.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import { proposalsOfTab, type QueueTab, queueTabs, statusOfTab, stepTo } from './queue.ts';
import { Queue } from './queue-list.tsx';
import { Review } from './review.tsx';

interface InboxProps {
  readonly project: string;
  readonly proposalId: string | undefined;
  readonly ownerId: string;
  readonly chooseProject: (project: string) => void;
}

/** What agents propose: a queue, and one proposal under review. */
export function InboxScreen({ project, proposalId, ownerId, chooseProject }: InboxProps) {
  const [tab, setTab] = useState<QueueTab>('waiting');
  const status = statusOfTab(tab);
  const answer = useEnginePages('memory.proposal_list', {
    project,
    limit: 100,
    ...(status === undefined ? {} : { status }),
  });
  const nameOf = usePeople();
  const proposals = proposalsOfTab(answer.data?.pages.flatMap((page) => page.proposals) ?? [], tab);
  const ids = proposals.map((proposal) => proposal.proposal_id);
  const open = (id: string | undefined): void => goTo({ screen: 'inbox', proposalId: id });
  const step = (by: number): void => {
    const next = stepTo(ids, proposalId, by);
    if (next !== undefined) open(next);
  };
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['Enter', () => step(0)],
    ['Escape', () => open(undefined)],
  ]);

  const nothing = answer.data !== undefined && proposals.length === 0 && proposalId === undefined;

  return (
    <div className="mg-screen">
      <ScreenHead
        title="Inbox"
        note={
          tab === 'waiting' && answer.data !== undefined ? `${count(proposals.length, 'proposal')} waiting` : undefined
        }
      >
        <SegmentedControl
          size="xs"
          aria-label="Which proposals"
          data={[...queueTabs]}
          value={tab}
          onChange={(value) => setTab(queueTabs.find((candidate) => candidate.value === value)?.value ?? 'waiting')}
        />
      </ScreenHead>
      {nothing && <NothingHere tab={tab} />}
      <div className="mg-panes" data-open={proposalId !== undefined} hidden={nothing}>
        <div className="mg-pane mg-pane-list">
          {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
          {answer.isPending && <Loading what="the inbox" />}
          {answer.data !== undefined && proposals.length === 0 && <NothingHere tab={tab} />}
          <Queue
            proposals={proposals}
            current={proposalId}
            nameOf={nameOf}
            more={answer.hasNextPage && !answer.isFetching ? () => void answer.fetchNextPage() : undefined}
          />
        </div>
        <div className="mg-pane">
          {proposalId === undefined ? (
            <Empty icon={GitPullRequestArrow} title="No proposal is open">
              <p>Choose one from the list, or press j.</p>
            </Empty>
          ) : (
            <Review
              key={proposalId}
              project={project}
              chooseProject={chooseProject}
              proposalId={proposalId}
              ownerId={ownerId}
              nameOf={nameOf}
            />
          )}
        </div>
      </div>
    </div>
  );
}

function NothingHere({ tab }: { readonly tab: QueueTab }) {
  if (tab !== 'waiting') return <Empty icon={MailOpen} title="None of these yet" />;
  return (
    <Empty icon={MailOpen} title="Nothing waits for you">
      <p>
        When an agent proposes memory, it appears here to be read, compared and decided. No agent yet?{' '}
        <a href="#/agents">Connect one</a>.
      </p>
    </Empty>
  );
}
