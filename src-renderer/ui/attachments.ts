import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';

/** One line of what is attached to a memory. */
export interface AttachedLine {
  readonly list: 'evidence' | 'verification';
  readonly line: string;
  /** Whether it came or went between two states that are compared. */
  readonly change: 'new' | 'gone' | undefined;
}

export interface Attached {
  readonly lines: readonly AttachedLine[];
  /** How many older ones are not listed. */
  readonly older: number;
}

type Carrier = Pick<AcceptedMemory, 'evidence' | 'evidence_total' | 'verification' | 'verification_total'> | null;

const lists = ['evidence', 'verification'] as const;

/**
 * Evidence and verification of a memory, equal ones once, oldest first; compared with an earlier state, what is new since
 * then is marked, and what is no longer there comes last.
 * @param before the state to compare with; undefined compares with none
 */
export function listAttached(memory: Carrier, before?: Carrier): Attached {
  const lines = lists.flatMap((list) => linesOf(list, memory, before));
  const older = lists.reduce((sum, list) => sum + olderOf(memory, list), 0);
  return { lines, older };
}

function linesOf(list: (typeof lists)[number], memory: Carrier, before: Carrier | undefined): readonly AttachedLine[] {
  const had = wordsOf(before?.[list]);
  const has = wordsOf(memory?.[list]);
  const isNew = (line: string): boolean => before !== undefined && before !== null && !had.includes(line);
  // What is no longer among the newest may still be there.
  const gone = memory === null || olderOf(memory, list) > 0 ? [] : had.filter((line) => !has.includes(line));
  return [
    ...has.map((line): AttachedLine => ({ list, line, change: isNew(line) ? 'new' : undefined })),
    ...gone.map((line): AttachedLine => ({ list, line, change: 'gone' })),
  ];
}

function olderOf(memory: Carrier, list: (typeof lists)[number]): number {
  const total = memory?.[`${list}_total`];
  return total === undefined ? 0 : total - (memory?.[list]?.length ?? 0);
}

function wordsOf(items: readonly JsonObject[] | undefined): readonly string[] {
  return [...new Set(items?.map(attachmentWords))];
}

/** One attachment as a line: its summary first, then every other field. */
export function attachmentWords({ summary, ...rest }: JsonObject): string {
  const fields = Object.entries(rest).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [...(typeof summary === 'string' ? [summary] : []), ...fields].join(' · ');
}
