import './history.css';
import { Button } from '@mantine/core';
import { GitCompareArrows, GitGraph } from 'lucide-react';
import { useState } from 'react';
import { usePeople } from '../../bridge/people.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { ChangesetDetail } from './changeset-detail.tsx';
import { Graph } from './graph.tsx';
import { pairOf, toggleSelected } from './selection.ts';

interface HistoryProps {
  readonly project: string;
  readonly changesetId: string | undefined;
}

/** The commit graph, one changeset, and the way to compare any two. */
export function HistoryScreen({ project, changesetId }: HistoryProps) {
  const answer = useEnginePages('history.graph', { project, limit: 200 });
  const [selected, setSelected] = useState<readonly string[]>([]);
  const nameOf = usePeople();
  const nodes = answer.data?.pages.flatMap((page) => page.nodes) ?? [];
  const ids = nodes.map((node) => node.changeset_id);
  const open = (id: string | undefined): void => goTo({ screen: 'history', changesetId: id });
  const step = (by: number): void => {
    const next = ids[Math.max(0, Math.min(ids.length - 1, ids.findIndex((id) => String(id) === changesetId) + by))];
    if (next !== undefined) open(next);
  };
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['x', () => changesetId !== undefined && setSelected(toggleSelected(selected, changesetId))],
    ['Escape', () => open(undefined)],
  ]);
  const pair = pairOf(selected, ids);
  return (
    <div className="mg-screen">
      <ScreenHead title="History" note={selectionWords(selected.length)}>
        {selected.length > 0 && (
          <Button variant="subtle" color="gray" onClick={() => setSelected([])}>
            Clear selection
          </Button>
        )}
        <Button
          variant={pair === undefined ? 'default' : 'filled'}
          leftSection={<GitCompareArrows size={14} aria-hidden />}
          disabled={pair === undefined}
          onClick={() => pair !== undefined && goTo({ screen: 'compare', ...pair })}
        >
          Compare selected
        </Button>
      </ScreenHead>
      <div className="mg-panes mg-history-panes" data-open={changesetId !== undefined}>
        <div className="mg-pane mg-pane-list">
          {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
          {answer.isPending && <Loading what="history" />}
          <Graph
            nodes={nodes}
            refs={answer.data?.pages[0]?.refs ?? []}
            current={changesetId}
            selected={selected}
            nameOf={nameOf}
            onEnd={answer.hasNextPage && !answer.isFetching ? () => void answer.fetchNextPage() : undefined}
            toggle={(id) => setSelected(toggleSelected(selected, id))}
          />
          {answer.hasNextPage && (
            <Button
              variant="subtle"
              fullWidth
              loading={answer.isFetchingNextPage}
              onClick={() => void answer.fetchNextPage()}
            >
              Load older history
            </Button>
          )}
        </div>
        <div className="mg-pane">
          {changesetId === undefined ? (
            <Empty icon={GitGraph} title="No changeset is open">
              <p>Choose one to see what it did. Tick two to compare them by meaning.</p>
            </Empty>
          ) : (
            <ChangesetDetail key={changesetId} changesetId={changesetId} nameOf={nameOf} />
          )}
        </div>
      </div>
    </div>
  );
}

function selectionWords(selected: number): string {
  if (selected === 0) return 'tick two changesets to compare them';
  return selected === 1 ? 'one ticked; tick another to compare' : 'two ticked';
}
