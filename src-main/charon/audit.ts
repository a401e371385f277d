import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { Batch } from '../sqlite/batch.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { AuditLedger, AuditSubject } from './api.ts';
import type { Anchor } from './audit-anchor.ts';
import { verifyLedger } from './audit-verify.ts';
import { type AuditRecord, ambiguousOutcome, type MacKey, nextEntry } from './rules/audit-entry.ts';
import { updateAnchorState } from './tables/anchor-state.ts';
import { auditHead, insertAuditEntry, listAuditEntries } from './tables/audit-entries.ts';
import { deleteOpenIntents, insertOpenIntent } from './tables/open-intents.ts';

export const auditBacklogMax = 10_000;
const outcomeDelayMs = 50;
const noteDelayMs = 1_000;
const retryDelayMs = 1_000;
const anchorDelayMs = 1_000;
/** Entries of one verb: some 10 ms of work. */
const entriesPerVerb = 200;

export interface AuditOptions {
  readonly db: ReadableDb;
  readonly batch: Batch<EngineEvent>;
  readonly clock: Clock;
  readonly macKey: MacKey;
  readonly anchor: Anchor;
  readonly anchorPath: string;
  readonly log: Log;
}

/** The ledger as Charon's own verbs use it. */
export interface AuditWriter extends AuditLedger {
  /** Appends inside a write verb of the caller's: the entry stands and falls with what the verb does. */
  append(db: WritableDb, record: AuditRecord): void;
  /** Records something that the engine itself did or found. */
  noteSystem(command: string, outcome: string, objectIds: readonly string[]): void;
  close(): Promise<void>;
}

interface Timer {
  /** Runs the work after `delayMs` unless it is already due sooner. */
  due(delayMs: number): void;
  cancel(): void;
}

/**
 * The audit ledger (`charon.md` §6): intents are durable before they resolve, outcomes and notes follow in batches. What
 * could not be written waits and is tried again; from 10 000 waiting on no intent is taken.
 */
export function openAuditLedger(options: AuditOptions): AuditWriter {
  const { db, batch, clock, macKey, anchor, log } = options;
  const waiting: AuditRecord[] = [];
  let inFlight = 0;
  let dropped = 0;
  let failures = 0;
  let writing: Promise<void> = Promise.resolve();
  let anchoring: Promise<void> = Promise.resolve();

  const append = (target: WritableDb, record: AuditRecord): void => {
    const entry = nextEntry(auditHead(target), record, macKey);
    insertAuditEntry(target, entry);
    if (record.phase === 'intent')
      insertOpenIntent(target, entry.seq, entry.correlation_id, record.subject.idempotencyKey);
    else if (entry.outcome !== ambiguousOutcome) deleteOpenIntents(target, entry.correlation_id);
  };

  const writeAnchor = (): Promise<void> => {
    anchoring = anchoring
      .then(() => anchor.append(auditHead(db)))
      .catch((thrown: unknown) => log.error({ err: thrown }, 'the anchor of the audit ledger could not be written'));
    return anchoring;
  };
  const anchorTimer = timer(() => void writeAnchor());

  /** Hands what waits to the batch, so that it shares the transaction of whatever is written in the same tick. */
  const sendWaiting = (): Promise<void> => {
    const sent: Promise<void>[] = [];
    if (dropped > 0) {
      waiting.push(systemRecord(clock, 'audit.dropped', `${dropped} notes could not be kept`, []));
      dropped = 0;
    }
    while (waiting.length > 0) sent.push(send(waiting.splice(0, entriesPerVerb)));
    if (sent.length > 0) writing = Promise.allSettled([writing, ...sent]).then(() => undefined);
    return Promise.all(sent).then(() => undefined);
  };

  const send = async (records: readonly AuditRecord[]): Promise<void> => {
    inFlight += records.length;
    try {
      await batch.write((target) => {
        for (const record of records) append(target, record);
        updateAnchorState(target, anchor.state());
      });
      anchorTimer.due(anchorDelayMs);
    } catch (thrown) {
      failures += 1;
      waiting.unshift(...records);
      sendTimer.due(retryDelayMs);
      throw thrown;
    } finally {
      inFlight -= records.length;
    }
  };
  const sendTimer = timer(
    () =>
      void sendWaiting().catch((thrown: unknown) =>
        log.error({ err: thrown }, 'audit entries wait: the ledger could not be written'),
      ),
  );

  const backlog = (): number => waiting.length + inFlight;
  const hand = (record: AuditRecord, delayMs: number): void => {
    waiting.push(record);
    sendTimer.due(delayMs);
  };

  const intent = async (subject: AuditSubject): Promise<void> => {
    if (backlog() >= auditBacklogMax) throw unavailable();
    void sendWaiting().catch(() => undefined);
    const record: AuditRecord = { at: toTimestamp(clock.nowMs()), subject, phase: 'intent', outcome: '' };
    try {
      await batch.write((target) => append(target, record));
    } catch (thrown) {
      failures += 1;
      throw unavailable(thrown);
    }
    anchorTimer.due(anchorDelayMs);
  };

  const note = (subject: AuditSubject, outcome: string): void => {
    if (backlog() >= auditBacklogMax) {
      dropped += 1;
      return;
    }
    hand({ at: toTimestamp(clock.nowMs()), subject, phase: 'outcome', outcome }, noteDelayMs);
  };

  const flush = async (): Promise<void> => {
    await sendWaiting();
    await writing;
    anchorTimer.cancel();
    await writeAnchor();
  };

  return {
    append,
    intent,
    outcome: (subject, outcome) =>
      hand({ at: toTimestamp(clock.nowMs()), subject, phase: 'outcome', outcome }, outcomeDelayMs),
    note,
    noteSystem: (command, outcome, objectIds) => hand(systemRecord(clock, command, outcome, objectIds), noteDelayMs),
    flush,
    backlog,
    appendFailures: () => failures,
    tail: ({ limit, beforeSeq }) => listAuditEntries(db, limit, beforeSeq),
    verify: async (): Promise<VerifyReport> => {
      const anchoredSeq = auditHead(db).seq;
      await flush().catch(() => writeAnchor());
      const keys = new Map([[macKey.id, macKey.key]]);
      const report = await verifyLedger({ db, keys, anchorPath: options.anchorPath, anchoredSeq });
      if (backlog() === 0) return report;
      return { ...report, notes: [...report.notes, `entries waiting to be written: ${backlog()}`] };
    },
    close: async () => {
      try {
        await flush();
        await batch.write((target) => updateAnchorState(target, anchor.state()));
      } finally {
        sendTimer.cancel();
        anchorTimer.cancel();
        await anchor.close();
      }
    },
  };
}

/** A record of the engine's own. */
export function systemRecord(
  clock: Clock,
  command: string,
  outcome: string,
  objectIds: readonly string[],
): AuditRecord {
  const subject: AuditSubject = {
    principal: 'system',
    credentialKind: 'system',
    credentialId: '',
    door: 'system',
    command,
    project: '',
    objectIds,
    requestDigest: '',
    correlationId: '',
  };
  return { at: toTimestamp(clock.nowMs()), subject, phase: 'outcome', outcome };
}

function unavailable(cause?: unknown): Fault {
  return new Fault(
    'AUDIT_UNAVAILABLE',
    'The audit ledger cannot be written, so nothing was changed. Free disk space or check the disk, then try again.',
    {},
    { cause },
  );
}

function timer(work: () => void): Timer {
  let running: { readonly handle: NodeJS.Timeout; readonly atMs: number } | undefined;
  const cancel = (): void => {
    if (running !== undefined) clearTimeout(running.handle);
    running = undefined;
  };
  return {
    cancel,
    due: (delayMs) => {
      const atMs = performance.now() + delayMs;
      if (running !== undefined && running.atMs <= atMs) return;
      cancel();
      const handle = setTimeout(() => {
        running = undefined;
        work();
      }, delayMs);
      handle.unref();
      running = { handle, atMs };
    },
  };
}
