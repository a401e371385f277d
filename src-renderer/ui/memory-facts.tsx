import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { plainLine } from './visible-text.ts';
import { statusWords } from './words.ts';

/** Kind, tags, visibility, scope and confidence of one memory, as small labels. */
export function MemoryFacts({ memory }: { readonly memory: AcceptedMemory }) {
  return (
    <div className="mg-facts">
      {memory.kind !== undefined && (
        <span className="mg-chip" data-tone="accent">
          {plainLine(memory.kind)}
        </span>
      )}
      {memory.status !== 'active' && (
        <span className="mg-chip" data-tone="changed">
          {statusWords[memory.status]}
        </span>
      )}
      {memory.visibility !== undefined && <span className="mg-chip">{plainLine(memory.visibility)}</span>}
      {memory.scope !== undefined && <span className="mg-chip">scope {plainLine(memory.scope, 60)}</span>}
      {memory.confidence !== undefined && <span className="mg-chip">{confidenceWords(memory.confidence)}</span>}
      {memory.tags?.map((tag) => (
        <span key={tag} className="mg-chip">
          #{plainLine(tag, 60)}
        </span>
      ))}
    </div>
  );
}

/** "confidence 90 %". */
export function confidenceWords(confidence: number): string {
  return `confidence ${Math.round(confidence * 100)} %`;
}
