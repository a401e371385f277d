import { Button } from '@mantine/core';
import { ShieldCheck } from 'lucide-react';
import { useEnginePages } from '../../bridge/queries.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import { ConflictGroups } from './conflict-groups.tsx';
import { listOpen } from './group-conflicts.ts';

/** What stands between waiting proposals and their targets as they are now. */
export function OpenConflicts({ project }: { readonly project: string }) {
  const answer = useEnginePages('memory.proposal_list', { project, status: 'pending', limit: 100 });
  const { rows, more } = listOpen(answer.data?.pages.flatMap((page) => page.proposals) ?? []);
  return (
    <>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="conflicts" />}
      {answer.data !== undefined && rows.length === 0 && !answer.hasNextPage && (
        <Empty icon={ShieldCheck} title="Nothing contradicts">
          <p>
            When a proposal and shared memory say different things about the same memory, it stands here until you
            settle it in the proposal. Nothing is ever decided by which came last.
          </p>
        </Empty>
      )}
      <ConflictGroups rows={rows} />
      {more > 0 && <p className="mg-quiet">and {count(more, 'more', 'more')}, listed in their proposals</p>}
      {answer.hasNextPage && (
        <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
          Look at older proposals
        </Button>
      )}
    </>
  );
}
