import type { AuditEntry } from '../../../src-preload/contract/audit.ts';
import { Id } from '../../ui/id.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { doorWords, toneOf } from './entry-words.ts';

/** Objects that a row names; the entry on disk names them all. */
const objectsShown = 4;
/** Names and words up to here are shown whole; ids are longer. Characters. */
const wholeUpTo = 20;

/** One entry: who asked for what through which door, what it was about, and what came of it. */
export function EntryRow({ entry, who }: { readonly entry: AuditEntry; readonly who: string }) {
  const { object_ids: objects } = entry;
  return (
    <div className="mg-row mg-entry">
      <span className="mg-entry-seq">{entry.seq}</span>
      <div>
        <p>
          <strong>{plainLine(who, 60)}</strong> <span className="mg-mono">{plainLine(entry.command, 60)}</span>{' '}
          <span className="mg-chip" data-tone={toneOf(entry)}>
            <span>{entry.phase === 'intent' ? 'intent' : plainLine(entry.outcome, 80)}</span>
          </span>
        </p>
        <p className="mg-row-meta">
          <When at={entry.at} />
          <span>{doorWords[entry.door]}</span>
          {entry.project !== '' && <span>{plainLine(entry.project, 60)}</span>}
          {objects.slice(0, objectsShown).map((id) => (
            <Id key={id} id={id} of="id" label={id.length <= wholeUpTo ? id : undefined} />
          ))}
          {objects.length > objectsShown && <span>and {objects.length - objectsShown} more</span>}
        </p>
      </div>
    </div>
  );
}
