import './audit.css';
import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePeople } from '../../bridge/people.ts';
import { useEnginePages, useEngineQuery } from '../../bridge/queries.tsx';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { Acts } from './acts.tsx';
import { EntryRow } from './entry-row.tsx';
import { matchesEntry } from './entry-words.ts';

/** Entries on one page. */
const pageSize = 100;

type Shown = 'everything' | 'outside';

/** The audit ledger, or of it what was done outside the desk. */
export function AuditScreen() {
  const [shown, setShown] = useState<Shown>('everything');
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label="What is shown"
      data={[
        { value: 'everything', label: 'Everything' },
        { value: 'outside', label: 'Acts of power outside the desk' },
      ]}
      value={shown}
      onChange={setShown}
    />
  );
  return shown === 'everything' ? <Entries choice={choice} /> : <ActsOutside choice={choice} />;
}

/** What command lines did that gives rights or puts memory into main. */
function ActsOutside({ choice }: { readonly choice: ReactNode }) {
  const answer = useEnginePages('audit.acts_of_power', { since: 0, limit: pageSize });
  const acts = answer.data?.pages.flatMap((page) => page.acts) ?? [];
  return (
    <div className="mg-screen">
      <ScreenHead title="Audit">{choice}</ScreenHead>
      <div className="mg-pane">
        {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
        {answer.isPending && <Loading what="acts of power" />}
        {answer.data !== undefined && acts.length === 0 && (
          <Empty icon={ScrollText} title="Nothing was done outside the desk">
            <p>A review, a merge, a token, a right, a key or a setting from a command line is listed here.</p>
          </Empty>
        )}
        {acts.length > 0 && (
          <div className="mg-page">
            <Acts acts={acts} />
            {answer.hasNextPage && (
              <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
                Older
              </Button>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

/** Every intent and what came of it, newest first, a page at a time. */
function Entries({ choice }: { readonly choice: ReactNode }) {
  const [before, setBefore] = useState<readonly number[]>([]);
  const [wanted, setWanted] = useState('');
  const at = before.at(-1);
  const answer = useEngineQuery('audit.tail', {
    limit: pageSize,
    ...(at === undefined ? {} : { before_seq: at }),
  });
  const nameOf = usePeople();
  const entries = answer.data?.entries ?? [];
  const shown = entries.filter((entry) => matchesEntry(entry, nameOf(entry.principal), wanted));
  const [newest, oldest] = [entries[0]?.seq, entries.at(-1)?.seq];
  return (
    <div className="mg-screen">
      <ScreenHead
        title="Audit"
        note={newest === undefined || oldest === undefined ? undefined : `entries ${newest} to ${oldest}`}
      >
        {choice}
        <TextInput
          size="xs"
          className="mg-entry-words"
          aria-label="Only entries of this page with these words"
          placeholder="agent, command, door, outcome…"
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
        <Button variant="default" disabled={at === undefined} onClick={() => setBefore(before.slice(0, -1))}>
          Newer
        </Button>
        <Button
          variant="default"
          disabled={oldest === undefined || oldest <= 1}
          onClick={() => oldest !== undefined && setBefore([...before, oldest])}
        >
          Older
        </Button>
      </ScreenHead>
      <div className="mg-pane">
        {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
        {answer.isPending && <Loading what="the audit ledger" />}
        {answer.data !== undefined && shown.length === 0 && (
          <Empty icon={ScrollText} title={entries.length === 0 ? 'Nothing was recorded yet' : 'No entry matches'}>
            <p>
              {entries.length === 0
                ? 'What anybody asks for, and what comes of it, is kept here. Never what a memory says.'
                : 'The words are looked for on this page only; Older shows the entries before it.'}
            </p>
          </Empty>
        )}
        {shown.length > 0 && (
          <ul className="mg-list" aria-label="Audit entries">
            {shown.map((entry) => (
              <li key={entry.seq}>
                <EntryRow entry={entry} who={nameOf(entry.principal)} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
