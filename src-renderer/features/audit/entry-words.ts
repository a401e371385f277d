import type { AuditEntry, Door } from '../../../src-preload/contract/audit.ts';

/** Where somebody came in. */
export const doorWords: Readonly<Record<Door, string>> = {
  agent: 'agent door',
  window: 'desk window',
  owner_page: 'owner page',
  owner_socket: 'command line',
  files: 'command line on the closed files',
  system: 'the engine itself',
};

export type EntryTone = 'added' | 'removed' | 'noted';

/** How an entry is marked: an intent, what was done, or what was refused. */
export function toneOf({ phase, outcome }: Pick<AuditEntry, 'phase' | 'outcome'>): EntryTone {
  if (phase === 'intent') return 'noted';
  return /^(denied|conflict|invalid|not_found|read_only|unavailable)\b/.test(outcome) ? 'removed' : 'added';
}

/** Whether an entry has every one of the words somewhere: who, command, door, project, objects, outcome. */
export function matchesEntry(entry: AuditEntry, who: string, wanted: string): boolean {
  const text = [who, entry.command, doorWords[entry.door], entry.project, entry.outcome, ...entry.object_ids]
    .join(' ')
    .toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
