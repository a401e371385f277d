import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';

/** A memory's status as it is read. */
export const statusWords: Readonly<Record<AcceptedMemory['status'], string>> = {
  active: 'active',
  corrected: 'corrected',
  superseded: 'superseded',
  duplicate: 'duplicate',
  deprecation_proposed: 'deprecation proposed',
  conflicted: 'in conflict',
};

/** "1 memory", "3 memories", "no memories"; the plural defaults to the noun with an s. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  if (amount === 0) return `no ${plural}`;
  return `${amount.toLocaleString('en')} ${amount === 1 ? noun : plural}`;
}

/** Words joined as one says them: "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1] ?? ''}`;
}

/** The end of an id, which is what differs between ids made close together; ids up to 14 characters stay whole. */
export function shortId(id: string): string {
  if (id.length <= 14) return id;
  if (/^[0-9a-f]{8}-/.test(id)) return id.slice(-8);
  return id.startsWith('principal_')
    ? id.slice('principal_'.length, 'principal_'.length + 8)
    : `${id.slice(0, 6)}…${id.slice(-6)}`;
}

/** A memory's id as it is shown: names that people gave stay whole up to 40 characters; given ones keep their end and ordinal. */
export function shortMemoryId(memoryId: string): string {
  const given = /^mem:[0-9a-f-]{28}([0-9a-f]{8}):(\d+)$/.exec(memoryId);
  if (given !== null) return `mem:${given[1]}:${given[2]}`;
  return memoryId.length <= 40 ? memoryId : `${memoryId.slice(0, 20)}…${memoryId.slice(-18)}`;
}

const steps = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const;

const clockSlackMs = 5_000;

/** "just now", "3 minutes ago", "in 6 days"; times in milliseconds since 1970. */
export function relativeTime(atMs: number, nowMs: number): string {
  const distance = Math.abs(nowMs - atMs);
  const step = steps.find((candidate) => distance >= candidate.ms);
  // The engine's clock may be a moment ahead of the drawing: what it just did is not to come.
  if (step === undefined) return atMs > nowMs + clockSlackMs ? 'in under a minute' : 'just now';
  // Six days and 23 hours ahead are seven days to people, but as long ago they are six.
  const amount = atMs > nowMs ? Math.round(distance / step.ms) : Math.floor(distance / step.ms);
  const words = count(amount, step.unit);
  return atMs > nowMs ? `in ${words}` : `${words} ago`;
}

const stampFormat = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
});

/** "30 Nov 2026, 18:24" in the owner's time zone. */
export function stamp(at: string | number): string {
  return stampFormat.format(new Date(at));
}

/** The first line of a message, cut to so many characters. */
export function firstLine(message: string, charsMax: number): string {
  const [line = ''] = message.split('\n');
  const characters = [...line];
  return characters.length <= charsMax ? line : `${characters.slice(0, charsMax - 1).join('')}…`;
}

/** A ref without the part that every ref has: "shared/main". */
export function shortRef(refName: string): string {
  return refName.replace(/^refs\//, '');
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** "812 B", "1.4 kB", in steps of 1 000. */
export function sizeWords(bytes: number): string {
  let amount = bytes;
  let at = 0;
  while (amount >= 1_000 && at < byteUnits.length - 1) {
    amount /= 1_000;
    at += 1;
  }
  return `${at === 0 ? amount : amount.toFixed(1)} ${byteUnits[at] ?? 'B'}`;
}
