import { Button, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { BookOpen, Search, SearchX } from 'lucide-react';
import { useRef, useState } from 'react';
import { memoryKinds } from '../../../src-preload/contract/changeset.ts';
import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { useKeys } from '../../ui/keys.tsx';
import { MemoryFacts } from '../../ui/memory-facts.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute, type Moment } from '../../ui/routes.ts';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { LeftOut } from './left-out.tsx';
import { changed, type MemoryFilter } from './memory-filter.ts';
import { MemoryFilters } from './memory-filters.tsx';
import { useMemories } from './use-memories.ts';

interface MemoryBrowserProps {
  readonly project: string;
  readonly head: string | undefined;
  readonly moment: Moment;
  readonly memoryId: string | undefined;
}

/** Search, filters, and the memories that fit, page after page. */
export function MemoryBrowser({ project, head, moment, memoryId }: MemoryBrowserProps) {
  const [query, setQuery] = useState('');
  const [filter, setFilter] = useState<MemoryFilter>({});
  const [leftOut, setLeftOut] = useState(false);
  const [settled] = useDebouncedValue(query.trim(), 180);
  const searchRef = useRef<HTMLInputElement>(null);
  const found = useMemories(project, head, settled, filter);
  const open = (id: string | undefined): void => goTo({ screen: 'memory', memoryId: id, moment });
  const step = (by: number): void => {
    const at = found.rows.findIndex((row) => row.memory.memory_id === memoryId);
    const next = found.rows[Math.max(0, Math.min(found.rows.length - 1, at + by))];
    if (next !== undefined) open(next.memory.memory_id);
  };
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['Escape', () => open(undefined)],
    ['/', () => searchRef.current?.focus()],
  ]);
  const filtered = settled !== '' || Object.keys(filter).length > 0;
  return (
    <div className="mg-pane mg-pane-list">
      <div className="mg-memory-tools">
        <TextInput
          ref={searchRef}
          type="search"
          size="xs"
          aria-label="Search memory"
          placeholder="Search memory"
          leftSection={<Search size={14} aria-hidden />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
        <div className="mg-memory-filters">
          <Select
            size="xs"
            aria-label="Kind"
            placeholder="Any kind"
            clearable
            data={[...memoryKinds]}
            value={filter.kinds?.[0] ?? null}
            onChange={(kind) => setFilter(changed(filter, { kinds: memoryKinds.filter((one) => one === kind) }))}
          />
          <TagsInput
            size="xs"
            aria-label="Tags"
            placeholder={filter.tags === undefined ? 'Any tag' : ''}
            clearable
            maxTags={8}
            value={[...(filter.tags ?? [])]}
            onChange={(tags) => setFilter(changed(filter, { tags }))}
          />
          <MemoryFilters filter={filter} change={setFilter} />
        </div>
      </div>
      <SegmentedControl
        size="xs"
        fullWidth
        radius={0}
        aria-label="Which memories"
        data={[
          { value: 'accepted', label: 'Accepted' },
          { value: 'left_out', label: 'Left out' },
        ]}
        value={leftOut ? 'left_out' : 'accepted'}
        onChange={(value) => setLeftOut(value === 'left_out')}
      />
      {leftOut ? (
        <LeftOut project={project} head={head} moment={moment} memoryId={memoryId} />
      ) : (
        <Found found={found} filtered={filtered} moment={moment} memoryId={memoryId} />
      )}
    </div>
  );
}

interface FoundProps {
  readonly found: ReturnType<typeof useMemories>;
  readonly filtered: boolean;
  readonly moment: Moment;
  readonly memoryId: string | undefined;
}

/** The memories that fit, or why there are none. */
function Found({ found, filtered, moment, memoryId }: FoundProps) {
  return (
    <>
      {found.refusal !== null && <Refused refusal={found.refusal} retry={found.retry} />}
      {found.pending && <Loading what="memories" />}
      {!found.pending && found.refusal === null && found.rows.length === 0 && <NothingFound filtered={filtered} />}
      <VirtualList
        label="Memories"
        items={found.rows}
        keyOf={(row) => row.memory.memory_id}
        estimatePx={86}
        current={found.rows.findIndex((row) => row.memory.memory_id === memoryId)}
        onEnd={found.loadingMore ? undefined : found.more}
        renderRow={(row) => (
          <MemoryRow memory={row.memory} why={row.why} moment={moment} current={row.memory.memory_id === memoryId} />
        )}
      />
      {found.more !== undefined && (
        <Button variant="subtle" fullWidth loading={found.loadingMore} onClick={found.more}>
          Load more
        </Button>
      )}
      {found.partial && (
        <p className="mg-memory-partial">
          Only the newest of very common words were looked at. More words find more exactly.
        </p>
      )}
    </>
  );
}

function NothingFound({ filtered }: { readonly filtered: boolean }) {
  if (filtered) {
    return (
      <Empty icon={SearchX} title="Nothing matches">
        <p>Words are matched as written. Try fewer words, or lift a filter.</p>
      </Empty>
    );
  }
  return (
    <Empty icon={BookOpen} title="Nothing is accepted yet">
      <p>
        Memory becomes accepted when a proposal is merged. <a href="#/inbox">Look at the inbox</a>, or{' '}
        <a href="#/agents">connect an agent</a>.
      </p>
    </Empty>
  );
}

interface MemoryRowProps {
  readonly memory: AcceptedMemory;
  readonly why: string | undefined;
  readonly moment: Moment;
  readonly current: boolean;
}

function MemoryRow({ memory, why, moment, current }: MemoryRowProps) {
  return (
    <a
      className="mg-row"
      href={formatRoute({ screen: 'memory', memoryId: memory.memory_id, moment })}
      aria-current={current ? 'true' : undefined}
    >
      <span className="mg-row-title mg-memory-line" dir="auto">
        {plainLine(memory.content, 240)}
      </span>
      <MemoryFacts memory={memory} />
      {why !== undefined && <span className="mg-row-meta">{plainLine(why, 120)}</span>}
    </a>
  );
}
