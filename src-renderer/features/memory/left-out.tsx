import { Button } from '@mantine/core';
import { CircleCheckBig } from 'lucide-react';
import { useEnginePages } from '../../bridge/queries.tsx';
import { formatRoute, type Moment } from '../../ui/routes.ts';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { shortMemoryId } from '../../ui/words.ts';
import { listLeftOut } from './list-left-out.ts';

interface LeftOutProps {
  readonly project: string;
  readonly head: string | undefined;
  readonly moment: Moment;
  readonly memoryId: string | undefined;
}

/** What was memory and is not accepted at this moment: retired, or withheld by a conflict, each with its reason. */
export function LeftOut({ project, head, moment, memoryId }: LeftOutProps) {
  const answer = useEnginePages('memory.context_at', {
    ...{ project, pin: false, excluded: true, limit: 100 },
    ...(head === undefined ? {} : { head_changeset_id: head }),
  });
  const rows = listLeftOut(answer.data?.pages ?? []);
  return (
    <>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="what is left out" />}
      {answer.data !== undefined && rows.length === 0 && !answer.hasNextPage && (
        <Empty icon={CircleCheckBig} title="Nothing is left out">
          <p>Corrected, superseded and withheld memories are listed here. Nothing of them is ever deleted.</p>
        </Empty>
      )}
      <VirtualList
        label="Left out"
        items={rows}
        keyOf={(row) => row.memoryId}
        estimatePx={56}
        current={rows.findIndex((row) => row.memoryId === memoryId)}
        onEnd={undefined}
        renderRow={(row) => (
          <a
            className="mg-row"
            href={formatRoute({ screen: 'memory', memoryId: row.memoryId, moment })}
            aria-current={row.memoryId === memoryId ? 'true' : undefined}
          >
            <span className="mg-row-title mg-mono">{plainLine(shortMemoryId(row.memoryId), 120)}</span>
            <span className="mg-row-meta">{plainLine(row.reason, 200)}</span>
          </a>
        )}
      />
      {answer.hasNextPage && (
        <Button
          variant="subtle"
          fullWidth
          loading={answer.isFetchingNextPage}
          onClick={() => void answer.fetchNextPage()}
        >
          Look further back
        </Button>
      )}
    </>
  );
}
