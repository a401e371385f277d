import './audit.css';
import { Button, TextInput } from '@mantine/core';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import { usePeople } from '../../bridge/people.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { EntryRow } from './entry-row.tsx';
import { matchesEntry } from './entry-words.ts';

/** Entries on one page. */
const pageSize = 100;

/** The audit ledger: every intent and what came of it, newest first, a page at a time. */
export function AuditScreen() {
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
