import type { Log } from '../base/log.ts';
import type { AuditRecord } from './rules/audit-entry.ts';
import { createTimer } from './timer.ts';

/** Records that nobody waits for, on their way into the ledger. */
export interface AuditQueue {
  /** Takes a record that is to be written within `delayMs`. */
  add(record: AuditRecord, delayMs: number): void;
  /**
   * Hands everything that waits to the batch, so that it shares the transaction of whatever is written in the same tick.
   * Resolves once it is durable; rejects when it is not, and then it waits again.
   */
  send(): Promise<void>;
  /** As `send`, and waits for what was on its way before. */
  drain(): Promise<void>;
  /** Records that are not durable yet. */
  backlog(): number;
  /** Writes that failed so far. */
  failures(): number;
  /** Takes nothing more and tries nothing again. */
  close(): void;
}

const retryDelayMs = 1_000;
/** Records of one write: some 10 ms of work. */
const recordsPerWrite = 200;

/**
 * A queue in front of the ledger. `write` makes some records durable in one verb, or rejects and has written none of them:
 * then they wait for another try, in their order, one second later.
 */
export function createAuditQueue(write: (records: readonly AuditRecord[]) => Promise<void>, log: Log): AuditQueue {
  const waiting: AuditRecord[] = [];
  let inFlight = 0;
  let failures = 0;
  let closed = false;
  let sending: Promise<unknown> = Promise.resolve();

  const sendSome = async (records: readonly AuditRecord[]): Promise<void> => {
    inFlight += records.length;
    try {
      await write(records);
    } catch (thrown) {
      failures += 1;
      waiting.unshift(...records);
      if (!closed) timer.due(retryDelayMs);
      throw thrown;
    } finally {
      inFlight -= records.length;
    }
  };
  const send = async (): Promise<void> => {
    const sent: Promise<void>[] = [];
    while (waiting.length > 0) sent.push(sendSome(waiting.splice(0, recordsPerWrite)));
    if (sent.length > 0) sending = Promise.allSettled([sending, ...sent]);
    await Promise.all(sent);
  };
  const told = (thrown: unknown): void => log.error({ err: thrown }, 'audit entries wait: they could not be written');
  const timer = createTimer(() => void send().catch(told));

  return {
    add: (record, delayMs) => {
      waiting.push(record);
      if (closed) log.error({ audit: record.subject.correlationId }, 'an audit entry came after the ledger was closed');
      else timer.due(delayMs);
    },
    send,
    drain: async () => {
      await send();
      await sending;
    },
    backlog: () => waiting.length + inFlight,
    failures: () => failures,
    close: () => {
      closed = true;
      timer.cancel();
    },
  };
}
