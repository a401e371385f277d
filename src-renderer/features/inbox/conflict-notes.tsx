import { TriangleAlert } from 'lucide-react';
import type { Conflict } from '../../../src-preload/contract/conflict.ts';
import { conflictWords, memoriesOf } from '../../ui/conflicts.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { count, shortMemoryId } from '../../ui/words.ts';

/** Findings that block nothing: warnings first, then what is merely worth knowing. */
export function ConflictNotes({ conflicts }: { readonly conflicts: readonly Conflict[] }) {
  if (conflicts.length === 0) return null;
  return (
    <details className="mg-conflict-notes" open={conflicts.length <= 3}>
      <summary>
        <TriangleAlert size={14} aria-hidden /> {count(conflicts.length, 'finding')} that{' '}
        {conflicts.length === 1 ? 'blocks' : 'block'} nothing
      </summary>
      <ul>
        {conflicts.map((conflict) => (
          <li key={conflict.conflict_id}>
            <span className="mg-chip" data-tone={conflict.severity === 'warning' ? 'changed' : 'noted'}>
              {conflictWords[conflict.conflict_type].label}
            </span>{' '}
            <MemoryLine text={conflict.summary} />
            {memoriesOf(conflict).map((memoryId) => (
              <a
                key={memoryId}
                className="mg-mono"
                href={formatRoute({ screen: 'memory', memoryId, moment: { kind: 'now' } })}
              >
                {plainLine(shortMemoryId(memoryId), 60)}
              </a>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}
