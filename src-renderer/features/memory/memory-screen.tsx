import './memory.css';
import { Brain, OctagonAlert } from 'lucide-react';
import { useEngineQuery } from '../../bridge/queries.tsx';
import type { Moment } from '../../ui/routes.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import { MemoryBrowser } from './memory-browser.tsx';
import { MemoryDetail } from './memory-detail.tsx';
import { MomentBanner, MomentControl } from './moment-control.tsx';

interface MemoryScreenProps {
  readonly project: string;
  readonly memoryId: string | undefined;
  readonly moment: Moment;
}

/** What is accepted, now or as it was: a list to search and filter, and one memory with its life. */
export function MemoryScreen({ project, memoryId, moment }: MemoryScreenProps) {
  const at = useMomentHead(project, moment);
  const total = at.data?.total_active;
  const head = moment.kind === 'now' ? undefined : at.data?.head_changeset_id;
  const past = moment.kind !== 'now';
  return (
    <div className="mg-screen mg-memory-screen" data-past={past}>
      <div>
        <ScreenHead
          title="Memory"
          note={
            total === undefined
              ? undefined
              : `${count(total, 'memory', 'memories')} accepted${past ? ' at that moment' : ''}`
          }
        >
          <MomentControl moment={moment} memoryId={memoryId} />
        </ScreenHead>
        {at.data?.withheld_total !== undefined && (
          <p className="mg-memory-withheld" role="status">
            <OctagonAlert size={15} aria-hidden />
            {count(at.data.withheld_total, 'memory', 'memories')} withheld until conflicts are settled.{' '}
            <a href="#/conflicts">Show the conflicts</a>
          </p>
        )}
        {past && <MomentBanner moment={moment} head={head} memoryId={memoryId} />}
      </div>
      {at.error !== null && <Refused refusal={at.error} retry={() => void at.refetch()} />}
      {at.isPending && <Loading what="memory" />}
      {at.data !== undefined && (
        <div className="mg-panes" data-open={memoryId !== undefined}>
          <MemoryBrowser project={project} head={head} moment={moment} memoryId={memoryId} />
          <div className="mg-pane">
            {memoryId === undefined ? (
              <Empty icon={Brain} title="No memory is open">
                <p>Choose one to see its text, where it came from, and every change to it.</p>
              </Empty>
            ) : (
              <MemoryDetail
                key={`${memoryId} ${head}`}
                project={project}
                memoryId={memoryId}
                head={head}
                moment={moment}
              />
            )}
          </div>
        </div>
      )}
    </div>
  );
}

/** The head that a moment means; total and head come with the smallest page there is. */
function useMomentHead(project: string, moment: Moment) {
  return useEngineQuery('memory.context_at', {
    project,
    pin: false,
    limit: 1,
    ...(moment.kind === 'changeset' ? { head_changeset_id: moment.id } : {}),
    ...(moment.kind === 'time' ? { at: moment.at } : {}),
  });
}
