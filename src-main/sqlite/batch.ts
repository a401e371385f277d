import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { Connection, WritableDb } from './driver.ts';

/** A write, run inside a transaction and a savepoint of its own. It must not await, BEGIN or COMMIT. */
export type WriteVerb<Result, Event> = (db: WritableDb, emit: (event: Event) => void) => Result;

/** The one way to write to a store: verbs of the same moment share a transaction, and so one fsync. */
export interface Batch<Event> {
  /**
   * Resolves after the transaction that holds the verb's writes is durable; rejects with what the verb threw, when its
   * own writes are undone and those of its neighbours are not.
   */
  write<Result>(verb: WriteVerb<Result, Event>): Promise<Result>;
  /** How often writing was tried again because somebody else held the database. */
  busyRetries(): number;
  /** Runs everything that waits, then refuses more with `CLOSED`. */
  close(): void;
}

export interface BatchOptions<Event> {
  /** Called once per batch after the commit, with the events in the order of the verbs. Must not throw. */
  readonly onCommitted: (events: readonly Event[]) => void;
  /** Milliseconds of a monotonic clock, to end a batch that runs long. */
  readonly monotonicMs: () => number;
  /** A number from 0 to 1 that spreads out who waits for the same lock. */
  readonly random?: (() => number) | undefined;
}

interface Waiting<Event> {
  readonly verb: WriteVerb<unknown, Event>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

type Outcome =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: unknown };

export const batchVerbsMax = 64;
export const batchMsMax = 20;
/** How often a batch that finds the database held is tried again, and how long after the first try (`lethe.md` §9.3). */
export const busyRetriesMax = 5;
const busyRetryMs = 25;

/**
 * Builds the batch writer of a store (`design.md` §3). A batch that cannot begin because another process holds the database is
 * tried again up to five times, after 25 ms · 2ⁿ and up to half of that more; then all that waits is refused with
 * `STORE_BUSY`. The queue is drained in one tick: BEGIN IMMEDIATE, each verb in
 * its savepoint, COMMIT, then promises settle and events go out. A batch ends at 64 verbs or 20 ms. When SQLite itself
 * rolled the whole transaction back (a full disk does), every verb of the batch runs again alone, once.
 */
export function createBatch<Event>(connection: Connection, options: BatchOptions<Event>): Batch<Event> {
  const queue: Waiting<Event>[] = [];
  const { random = Math.random } = options;
  let scheduled: NodeJS.Immediate | undefined;
  let retrying: NodeJS.Timeout | undefined;
  let triesFailed = 0;
  let busyRetries = 0;
  let closed = false;

  const drain = (): void => {
    scheduled = undefined;
    retrying = undefined;
    const begun = runBatch(connection, queue, options);
    if (begun.kind === 'busy' && triesFailed < busyRetriesMax) {
      const waitMs = busyRetryMs * 2 ** triesFailed * (1 + random() / 2);
      triesFailed += 1;
      busyRetries += 1;
      retrying = setTimeout(drain, waitMs);
      return;
    }
    triesFailed = 0;
    if (begun.kind === 'busy') refuseAll(queue, begun.reason);
    schedule();
  };

  const schedule = (): void => {
    if (queue.length > 0 && retrying === undefined) scheduled ??= setImmediate(drain);
  };

  return {
    write: <Result>(verb: WriteVerb<Result, Event>) =>
      new Promise<Result>((resolve, reject) => {
        if (closed) {
          reject(new Fault('CLOSED', 'Memory Git is shutting down. Nothing was written; try again when it is back.'));
          return;
        }
        queue.push({ verb, resolve: (value) => resolve(value as Result), reject });
        schedule();
      }),
    busyRetries: () => busyRetries,
    close: () => {
      closed = true;
      if (scheduled !== undefined) clearImmediate(scheduled);
      clearTimeout(retrying);
      scheduled = undefined;
      retrying = undefined;
      while (queue.length > 0) {
        const begun = runBatch(connection, queue, options);
        if (begun.kind === 'busy') refuseAll(queue, begun.reason);
      }
    },
  };
}

/** What became of a batch: one that is busy could not begin, and has taken nothing off the queue. */
type Begun = { readonly kind: 'settled' } | { readonly kind: 'busy'; readonly reason: unknown };

const settled: Begun = { kind: 'settled' };

function refuseAll<Event>(queue: Waiting<Event>[], reason: unknown): void {
  for (const waiting of queue.splice(0)) waiting.reject(reason);
}

/** Takes one batch off the queue and runs it to its end: every verb taken is settled when this returns. */
function runBatch<Event>(connection: Connection, queue: Waiting<Event>[], options: BatchOptions<Event>): Begun {
  const taken: Waiting<Event>[] = [];
  const outcomes: Outcome[] = [];
  const events: Event[] = [];
  try {
    connection.exec('BEGIN IMMEDIATE');
    const startedAt = options.monotonicMs();
    while (
      queue.length > 0 &&
      taken.length < batchVerbsMax &&
      (taken.length === 0 || options.monotonicMs() - startedAt < batchMsMax)
    ) {
      const waiting = queue.shift();
      assert(waiting !== undefined, 'a queue with a length has a first entry');
      taken.push(waiting);
      outcomes.push(runVerb(connection, waiting, events));
      if (!connection.inTransaction) {
        rerunAlone(connection, taken, options);
        return settled;
      }
    }
    connection.exec('COMMIT');
  } catch (thrown) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    if (taken.length === 0 && thrown instanceof Fault && thrown.code === 'STORE_BUSY')
      return { kind: 'busy', reason: thrown };
    const refused = taken.length > 0 ? taken : queue.splice(0, batchVerbsMax);
    for (const waiting of refused) waiting.reject(thrown);
    return settled;
  }
  for (const [index, waiting] of taken.entries()) settle(waiting, outcomes[index]);
  if (events.length > 0) options.onCommitted(events);
  return settled;
}

/** Runs one verb in its savepoint; its events count only when it succeeded. */
function runVerb<Event>(connection: Connection, waiting: Waiting<Event>, events: Event[]): Outcome {
  const own: Event[] = [];
  try {
    const value = connection.savepoint(() => {
      const result = waiting.verb(connection, (event) => own.push(event));
      assert(!(result instanceof Promise), 'a write verb must not await');
      return result;
    });
    events.push(...own);
    return { kind: 'done', value };
  } catch (reason) {
    return { kind: 'failed', reason };
  }
}

/** After SQLite dropped a whole transaction: each verb of it once more, in a transaction of its own. */
function rerunAlone<Event>(
  connection: Connection,
  taken: readonly Waiting<Event>[],
  options: BatchOptions<Event>,
): void {
  for (const waiting of taken) {
    const events: Event[] = [];
    let outcome: Outcome;
    try {
      connection.exec('BEGIN IMMEDIATE');
      outcome = runVerb(connection, waiting, events);
      if (connection.inTransaction) connection.exec(outcome.kind === 'done' ? 'COMMIT' : 'ROLLBACK');
    } catch (reason) {
      if (connection.inTransaction) connection.exec('ROLLBACK');
      outcome = { kind: 'failed', reason };
    }
    settle(waiting, outcome);
    if (outcome.kind === 'done' && events.length > 0) options.onCommitted(events);
  }
}

function settle<Event>(waiting: Waiting<Event>, outcome: Outcome | undefined): void {
  assert(outcome !== undefined, 'every verb of a batch has an outcome');
  if (outcome.kind === 'done') waiting.resolve(outcome.value);
  else waiting.reject(outcome.reason);
}
