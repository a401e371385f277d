import { BadgeCheck, Paperclip } from 'lucide-react';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { type AttachedLine, listAttached } from './attachments.ts';
import { MemoryLine } from './memory-text.tsx';

interface EvidenceProps {
  readonly memory: AcceptedMemory | null;
  /** The state to compare with, where two are. */
  readonly before?: AcceptedMemory | null;
}

/** Evidence and verification that a memory carries, one line each; what came or went between two states says so. */
export function Evidence({ memory, before }: EvidenceProps) {
  const { lines, older } = listAttached(memory, before);
  if (lines.length === 0) return null;
  return (
    <ul className="mg-evidence">
      {lines.map((line) => (
        <EvidenceLine key={`${line.list} ${line.line}`} attached={line} />
      ))}
      {older > 0 && <li className="mg-quiet">and {older.toLocaleString('en')} older</li>}
    </ul>
  );
}

function EvidenceLine({ attached }: { readonly attached: AttachedLine }) {
  const { list, line, change } = attached;
  const Icon = list === 'evidence' ? Paperclip : BadgeCheck;
  return (
    <li>
      <Icon size={13} aria-hidden />
      <span className="mg-hidden-label">{list === 'evidence' ? 'Evidence' : 'Verification'}: </span>
      {change === 'gone' ? (
        <del>
          <MemoryLine text={line} />
        </del>
      ) : (
        <MemoryLine text={line} />
      )}
      {change === 'new' && (
        <span className="mg-chip" data-tone="added">
          new
        </span>
      )}
      {change === 'gone' && <span className="mg-hidden-label">no longer there</span>}
    </li>
  );
}
