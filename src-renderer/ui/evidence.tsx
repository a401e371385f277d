import { BadgeCheck, type LucideIcon, Paperclip } from 'lucide-react';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { MemoryLine } from './memory-text.tsx';

/** Evidence and verification that a memory carries, one line each. */
export function Evidence({ memory }: { readonly memory: AcceptedMemory | null }) {
  const evidence = linesOf(memory?.evidence);
  const verification = linesOf(memory?.verification);
  if (evidence.length + verification.length === 0) return null;
  return (
    <ul className="mg-evidence">
      {evidence.map((line) => (
        <EvidenceLine key={`evidence ${line}`} icon={Paperclip} what="Evidence" line={line} />
      ))}
      {verification.map((line) => (
        <EvidenceLine key={`verification ${line}`} icon={BadgeCheck} what="Verification" line={line} />
      ))}
    </ul>
  );
}

interface EvidenceLineProps {
  readonly icon: LucideIcon;
  readonly what: string;
  readonly line: string;
}

function EvidenceLine({ icon: Icon, what, line }: EvidenceLineProps) {
  return (
    <li>
      <Icon size={13} aria-hidden />
      <span className="mg-hidden-label">{what}: </span>
      <MemoryLine text={line} />
    </li>
  );
}

/** Attestations as lines, equal ones once. */
function linesOf(items: readonly JsonObject[] | undefined): readonly string[] {
  return [...new Set(items?.map(attestationWords))];
}

/** One attestation as a line: its summary first, then every other field. */
function attestationWords({ summary, ...rest }: JsonObject): string {
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [...(typeof summary === 'string' ? [summary] : []), ...fields].join(' · ');
}
