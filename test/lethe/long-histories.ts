import { findPlace } from '../../src-main/lethe/tables/chains.ts';
import type { HistoryStore } from '../fuzz/history-store.ts';
import { add, addAs, correct, type OpDraft, relate } from '../support/history-builder.ts';

/** Two places of a history: its head, and a changeset in its middle. Both lie 40 steps after a recency page. */
export interface Grown {
  readonly head: number;
  readonly middle: number;
}

/** Makes a history of `size` changesets and a few. */
export type Grow = (store: HistoryStore, size: number) => Grown;

const branches = 200;

/** The memory that one of the histories corrects over and over, the first that every history makes. */
export const mostCorrected = 'one';

/** Memories that two sides will change, the most corrected one first. */
export const contestedIds: readonly string[] = [
  mostCorrected,
  ...Array.from({ length: 9 }, (_, index) => `plan-${index + 1}`),
];

/** What the two sides will not go together with: it lies at the beginning of every history. */
const claims: readonly OpDraft[] = [
  ...contestedIds.map((id) => addAs(id, `the ${id}`)),
  addAs('anchor', 'what a relationship starts at'),
  addAs('decision', 'use one', { kind: 'decision', scope: 'net' }),
  addAs('fact', 'it is 7', { kind: 'fact', fact_key: 'size' }),
  addAs('note', 'said before'),
];

/** The number of the changeset that makes the claims, and of the one after it, which relates the anchor. */
export const claimsSeq = 2;

function start(store: HistoryStore): number {
  const made = store.commit([store.commit([], [])], claims);
  return store.commit([made], [relate('anchor', 'kept', mostCorrected)]);
}

/** On to a recency page, so that the next one is equally far at every size. */
export function toPage(store: HistoryStore, from: number): number {
  let head = from;
  do head = store.commit([head], [add('on to the next page')]);
  while (findPlace(store.db, head)?.steps !== 0);
  return head;
}

function pastPage(store: HistoryStore, from: number): number {
  let head = toPage(store, from);
  for (let step = 0; step < 40; step += 1) head = store.commit([head], [add(`past the page ${step}`)]);
  return head;
}

/** A history of steps, each of which goes on from a head and answers the next. */
function grow(store: HistoryStore, steps: number, step: (head: number, count: number) => number): Grown {
  let head = start(store);
  for (let count = 0; count < steps / 2; count += 1) head = step(head, count);
  const middle = pastPage(store, head);
  head = middle;
  for (let count = steps / 2; count < steps; count += 1) head = step(head, count);
  return { head: pastPage(store, head), middle };
}

/** Many memories, of scopes and keys of their own. */
export function manyMemories(store: HistoryStore, size: number): Grown {
  return grow(store, size, (head, step) => {
    const kind = step % 2 === 0 ? { kind: 'decision', scope: `s${step}` } : { kind: 'fact', fact_key: `k${step}` };
    return store.commit([head], [add(`memory ${step}`, kind)]);
  });
}

/** One memory corrected over and over. */
export function oneMemory(store: HistoryStore, size: number): Grown {
  return grow(store, size, (head, step) =>
    store.commit([head], [correct(mostCorrected, { content: `corrected ${step}`, subject: `s${step}` })]),
  );
}

/**
 * 200 branches, each made from the last: at every fork a line is left behind that took the place of the next changeset, so that
 * what goes on is a chain of its own and the head sees 200 of them.
 */
export function chainOfBranches(store: HistoryStore, size: number): Grown {
  return grow(store, branches, (fork, branch) => {
    store.commit([fork], [add(`left behind ${branch}`, { kind: 'decision', scope: 'net' })]);
    let head = fork;
    for (let step = 0; step < size / branches; step += 1)
      head = store.commit([head], [add(`memory ${branch}.${step}`)]);
    return head;
  });
}
