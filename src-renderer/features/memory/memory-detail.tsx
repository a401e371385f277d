import { ArrowLeft } from 'lucide-react';
import type { AcceptedMemory, Relationship } from '../../../src-preload/contract/memory.ts';
import { usePeople } from '../../bridge/people.ts';
import { useEnginePages } from '../../bridge/queries.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Evidence } from '../../ui/evidence.tsx';
import { Id } from '../../ui/id.tsx';
import { MemoryFacts } from '../../ui/memory-facts.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { formatRoute, type Moment } from '../../ui/routes.ts';
import { Loading, Refused } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { Lineage } from './lineage.tsx';
import { listRelated } from './related.ts';

interface MemoryDetailProps {
  readonly project: string;
  readonly memoryId: string;
  readonly head: string | undefined;
  readonly moment: Moment;
}

/** One memory in its state at the moment: text, facts, evidence, relationships, and its life so far. */
export function MemoryDetail({ project, memoryId, head, moment }: MemoryDetailProps) {
  const answer = useEnginePages('memory.get', {
    project,
    memory_id: memoryId,
    ...(head === undefined ? {} : { head_changeset_id: head }),
  });
  const nameOf = usePeople();
  if (answer.isPending) return <Loading what="the memory" />;
  const pages = answer.data?.pages ?? [];
  const first = pages[0];
  if (first === undefined) {
    return answer.error === null ? null : <Refused refusal={answer.error} retry={() => void answer.refetch()} />;
  }
  const { memory } = first;
  return (
    <article className="mg-page" aria-label="Memory">
      <a className="mg-memory-back" href={formatRoute({ screen: 'memory', moment })}>
        <ArrowLeft size={14} aria-hidden /> All memories
      </a>
      <div className="mg-card mg-memory-card">
        <div className="mg-memory-content">
          <MemoryText text={memory.content} />
        </div>
        <MemoryFacts memory={memory} />
        <Evidence memory={memory} />
      </div>
      <div className="mg-memory-copies">
        <CopyButton label="Copy text" text={memory.content} />
        <CopyButton label="Copy id" text={memory.memory_id} />
      </div>
      <Origin memory={memory} />
      <Relationships memoryId={memoryId} relationships={pages.flatMap((page) => page.relationships)} moment={moment} />
      <Lineage
        steps={pages.flatMap((page) => page.lineage)}
        nameOf={nameOf}
        more={answer.hasNextPage ? () => void answer.fetchNextPage() : undefined}
      />
    </article>
  );
}

function Origin({ memory }: { readonly memory: AcceptedMemory }) {
  return (
    <dl className="mg-pairs">
      <dt>Id</dt>
      <dd className="mg-mono">{plainLine(memory.memory_id, 1_024)}</dd>
      {memory.introduced_changeset_id !== undefined && (
        <>
          <dt>Introduced in</dt>
          <dd>
            <ChangesetLink id={memory.introduced_changeset_id} />
          </dd>
        </>
      )}
      {memory.last_changeset_id !== undefined && memory.last_changeset_id !== memory.introduced_changeset_id && (
        <>
          <dt>Last changed in</dt>
          <dd>
            <ChangesetLink id={memory.last_changeset_id} />
          </dd>
        </>
      )}
      {memory.source === 'legacy_event' && (
        <>
          <dt>Source</dt>
          <dd>an event from before Memory Git</dd>
        </>
      )}
    </dl>
  );
}

function ChangesetLink({ id }: { readonly id: string }) {
  return (
    <>
      <Id id={id} of="changeset id" /> <a href={formatRoute({ screen: 'history', changesetId: id })}>show</a>
    </>
  );
}

interface RelationshipsProps {
  readonly memoryId: string;
  readonly relationships: readonly Relationship[];
  readonly moment: Moment;
}

function Relationships({ memoryId, relationships, moment }: RelationshipsProps) {
  if (relationships.length === 0) return null;
  return (
    <section className="mg-section" aria-label="Relationships">
      <h2>Relationships</h2>
      <ul className="mg-relationships">
        {listRelated(memoryId, relationships).map(({ key, outgoing, kind, other, times }) => (
          <li key={key}>
            {outgoing ? 'this' : 'it is'} <span className="mg-chip">{plainLine(kind, 80)}</span> {outgoing ? '→' : '←'}{' '}
            <a className="mg-mono" href={formatRoute({ screen: 'memory', memoryId: other, moment })}>
              {plainLine(other, 80)}
            </a>
            {times > 1 && <span className="mg-quiet"> {times.toLocaleString('en')} times</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
