import './conflicts.css';
import { Button, SegmentedControl } from '@mantine/core';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { Conflict } from '../../../src-preload/contract/conflict.ts';
import { useEnginePages, useEngineQuery } from '../../bridge/queries.tsx';
import { conflictWords, memoriesOf } from '../../ui/conflicts.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count, shortMemoryId } from '../../ui/words.ts';
import { groupConflicts } from './group-conflicts.ts';

const tabs = [
  { value: 'open', label: 'Open' },
  { value: 'resolved', label: 'Settled' },
  { value: 'all', label: 'All' },
] as const;
type Tab = (typeof tabs)[number]['value'];

/** Every conflict that was kept for a proposal, by severity and type, each a way to where it is settled. */
export function ConflictsScreen({ project }: { readonly project: string }) {
  const [tab, setTab] = useState<Tab>('open');
  const answer = useEnginePages('conflict.list', { project, limit: 200, ...(tab === 'all' ? {} : { status: tab }) });
  const proposals = useEngineQuery('memory.proposal_list', { project, limit: 200 });
  const conflicts = answer.data?.pages.flatMap((page) => page.conflicts) ?? [];
  const messageOf = new Map(proposals.data?.proposals.map((row) => [String(row.proposal_id), row.message]));
  return (
    <div className="mg-screen">
      <ScreenHead
        title="Conflicts"
        note={
          answer.data === undefined
            ? undefined
            : `${count(conflicts.length, 'conflict')}${answer.hasNextPage ? ' so far' : ''}`
        }
      >
        <SegmentedControl
          size="xs"
          aria-label="Which conflicts"
          data={[...tabs]}
          value={tab}
          onChange={(value) => setTab(tabs.find((candidate) => candidate.value === value)?.value ?? 'open')}
        />
      </ScreenHead>
      <div className="mg-conflicts-body">
        {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
        {answer.isPending && <Loading what="conflicts" />}
        {answer.data !== undefined && conflicts.length === 0 && <NoConflicts tab={tab} />}
        {groupConflicts(conflicts).map(({ type, severity, conflicts: rows }) => (
          <section key={`${severity} ${type}`} className="mg-section" aria-label={conflictWords[type].label}>
            <h2>
              <span className="mg-chip" data-tone={severityTones[severity]}>
                {conflictWords[type].label}
              </span>
              <span className="mg-quiet">
                {rows.length.toLocaleString('en')}, {severity === 'blocking' ? 'blocks merging' : severity}
              </span>
            </h2>
            <p className="mg-quiet">{conflictWords[type].means}</p>
            <ul className="mg-list mg-card">
              {rows.map((conflict) => (
                <li key={conflict.conflict_id}>
                  <ConflictRow conflict={conflict} message={messageOf.get(conflict.proposal_id ?? '')} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {answer.hasNextPage && (
          <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            Load older conflicts
          </Button>
        )}
      </div>
    </div>
  );
}

const severityTones = { blocking: 'removed', warning: 'changed', info: 'noted' } as const;

interface ConflictRowProps {
  readonly conflict: Conflict;
  /** What its proposal says of itself, when that proposal is among the newest. */
  readonly message: string | undefined;
}

function ConflictRow({ conflict, message }: ConflictRowProps) {
  const body = (
    <>
      <span className="mg-row-title">
        <MemoryLine text={conflict.summary} />
      </span>
      <span className="mg-row-meta">
        {conflict.status !== 'open' && <span className="mg-chip">{conflict.status}</span>}
        <span>{message === undefined ? 'a proposal' : plainLine(message, 80)}</span>
        <When at={conflict.created_at} />
        {memoriesOf(conflict).map((id) => (
          <span key={id} className="mg-mono">
            {plainLine(shortMemoryId(id), 60)}
          </span>
        ))}
      </span>
    </>
  );
  if (conflict.proposal_id === undefined) return <div className="mg-row">{body}</div>;
  return (
    <a className="mg-row" href={formatRoute({ screen: 'inbox', proposalId: conflict.proposal_id })}>
      {body}
    </a>
  );
}

function NoConflicts({ tab }: { readonly tab: Tab }) {
  if (tab !== 'open') return <Empty icon={ShieldCheck} title="None of these yet" />;
  return (
    <Empty icon={ShieldCheck} title="Nothing contradicts">
      <p>
        When a proposal and shared memory say different things about the same memory, it stands here until you settle it
        in the proposal. Nothing is ever decided by which came last.
      </p>
    </Empty>
  );
}
