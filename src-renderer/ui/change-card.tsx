import type { DiffItem } from '../../src-preload/contract/diff.ts';
import { BeforeAfter } from './before-after.tsx';
import { type Change, categoryWords, changeVerb, fieldChanges, findOther, opWords } from './changes.ts';
import { Evidence } from './evidence.tsx';
import { Id } from './id.tsx';
import { MemoryFacts } from './memory-facts.tsx';
import { MemoryLine, MemoryText } from './memory-text.tsx';
import { plainLine } from './visible-text.ts';
import { shortMemoryId } from './words.ts';

/** How a change that can be ticked is ticked. */
export interface Tick {
  readonly ticked: boolean;
  /** Another ticked change needs it: it comes along, and cannot be left out. */
  readonly along: boolean;
  readonly toggle: () => void;
}

interface ChangeCardProps {
  readonly change: Change;
  readonly nameOf: (principalId: string) => string;
  readonly tick?: Tick | undefined;
}

/** One change: operation, why, before → after, lineage, evidence. */
export function ChangeCard({ change, nameOf, tick }: ChangeCardProps) {
  const { item } = change;
  const words = opWords[item.op_type];
  const fields = fieldChanges(item);
  const why = reasonOf(item);
  const memory = item.after ?? item.before;
  const other = findOther(item);
  return (
    <article className="mg-card mg-change" data-tone={words.tone}>
      <header className="mg-change-head">
        {tick !== undefined && (
          <input
            type="checkbox"
            className="mg-change-tick"
            aria-label={`Pick: ${changeVerb(change)} ${plainLine(shortMemoryId(item.memory_id), 60)}`}
            checked={tick.ticked || tick.along}
            disabled={tick.along}
            onChange={tick.toggle}
          />
        )}
        <strong>{changeVerb(change)}</strong>
        {tick?.along === true && (
          <span className="mg-chip" data-tone="noted">
            needed by what is ticked
          </span>
        )}
        <Id id={item.memory_id} of="memory id" label={shortMemoryId(item.memory_id)} />
        {item.target_event_id !== undefined && item.target_event_id !== item.memory_id && (
          <span>
            in place of <span className="mg-mono">{plainLine(shortMemoryId(item.target_event_id))}</span>
          </span>
        )}
        {other !== undefined && (
          <span>
            <span className="mg-chip">{plainLine(other.words, 80)}</span>{' '}
            <span className="mg-mono">{plainLine(shortMemoryId(other.memoryId))}</span>
          </span>
        )}
        {item.kind !== undefined && (
          <span className="mg-chip" data-tone={item.kind === 'direct_contradiction' ? 'removed' : 'noted'}>
            {item.kind === 'direct_contradiction' ? 'direct contradiction' : 'temporal update'}
          </span>
        )}
        {change.also.map((category) => (
          <span key={category} className="mg-chip">
            {categoryWords[category].heading.toLowerCase()}
          </span>
        ))}
        <span className="mg-change-author">{plainLine(nameOf(item.author_principal), 40)}</span>
      </header>
      {why !== undefined && (
        <p className="mg-change-why">
          <MemoryLine text={why} />
        </p>
      )}
      <ChangeBody item={item} />
      {fields.map((field) => (
        <p key={field} className="mg-change-field">
          {plainLine(field, 240)}
        </p>
      ))}
      {memory !== null && <MemoryFacts memory={memory} />}
      <Evidence memory={item.after} before={item.op_type === 'add_relationship' ? item.after : item.before} />
    </article>
  );
}

function ChangeBody({ item }: { readonly item: DiffItem }) {
  const { before, after } = item;
  // A relationship changes nothing of the memory that it starts at.
  if (item.op_type === 'add_relationship') return <MemoryText text={(after ?? before)?.content ?? item.summary} />;
  if (before !== null && after !== null) {
    if (before.content === after.content) return <MemoryText text={after.content} />;
    return <BeforeAfter before={before.content} after={after.content} />;
  }
  if (after !== null) return <MemoryText text={after.content} />;
  if (before === null) return <MemoryText text={item.summary} />;
  return (
    <div className="mg-diff">
      <span className="mg-hidden-label">No longer accepted: </span>
      <del>
        <MemoryLine text={before.content} />
      </del>
    </div>
  );
}

/** The author's own reason, when the op carries one that is more than the text itself. */
function reasonOf(item: DiffItem): string | undefined {
  // What was attached stands below, among what speaks for the memory.
  if (item.op_type === 'attach_evidence' || item.op_type === 'attach_verification') return undefined;
  const given = [item.payload?.reason, item.payload?.note, item.payload?.summary].find(
    (value) => typeof value === 'string' && value.trim() !== '' && value !== item.after?.content,
  );
  return typeof given === 'string' ? given : undefined;
}
