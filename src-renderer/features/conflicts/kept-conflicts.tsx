import { Button } from '@mantine/core';
import { ShieldCheck } from 'lucide-react';
import { useEnginePages, useEngineQuery } from '../../bridge/queries.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { ConflictGroups } from './conflict-groups.tsx';

interface KeptConflictsProps {
  readonly project: string;
  readonly status: 'resolved' | undefined;
}

/** Conflicts that the store keeps with what became of them, newest first within each type. */
export function KeptConflicts({ project, status }: KeptConflictsProps) {
  const answer = useEnginePages('conflict.list', { project, limit: 200, ...(status === undefined ? {} : { status }) });
  const proposals = useEngineQuery('memory.proposal_list', { project, limit: 200 });
  const messageOf = new Map(proposals.data?.proposals.map((row) => [String(row.proposal_id), row.message]));
  const conflicts = answer.data?.pages.flatMap((page) => page.conflicts) ?? [];
  return (
    <>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="conflicts" />}
      {answer.data !== undefined && conflicts.length === 0 && <Empty icon={ShieldCheck} title="None of these yet" />}
      <ConflictGroups
        rows={conflicts.map((conflict) => ({ conflict, message: messageOf.get(conflict.proposal_id ?? '') }))}
      />
      {answer.hasNextPage && (
        <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
          Load older conflicts
        </Button>
      )}
    </>
  );
}
