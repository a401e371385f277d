import { BadgeCheck, Paperclip } from 'lucide-react';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { MemoryLine } from './memory-text.tsx';

/** Evidence and verification that a memory carries, one line each. */
export function Evidence({ memory }: { readonly memory: AcceptedMemory | null }) {
  const evidence = memory?.evidence ?? [];
  const verification = memory?.verification ?? [];
  if (evidence.length + verification.length === 0) return null;
  return (
    <ul className="mg-evidence">
      {evidence.map((item) => (
        <li key={`evidence ${attestationWords(item)}`}>
          <Paperclip size={13} aria-hidden />
          <span className="mg-hidden-label">Evidence: </span>
          <MemoryLine text={attestationWords(item)} />
        </li>
      ))}
      {verification.map((item) => (
        <li key={`verification ${attestationWords(item)}`}>
          <BadgeCheck size={13} aria-hidden />
          <span className="mg-hidden-label">Verification: </span>
          <MemoryLine text={attestationWords(item)} />
        </li>
      ))}
    </ul>
  );
}

/** One attestation as a line: its summary first, then every other plain field. */
export function attestationWords(item: JsonObject): string {
  const { summary, ...rest } = item;
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [...(typeof summary === 'string' ? [summary] : []), ...fields].join(' · ');
}
