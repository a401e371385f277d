import type { AuditEntry, VerifyReport } from '../../src-preload/contract/audit.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { Batch } from '../sqlite/batch.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { AuditLedger, AuditSubject } from './api.ts';
import type { Anchor } from './audit-anchor.ts';
import { type AuditQueue, createAuditQueue } from './audit-queue.ts';
import { verifyLedger } from './audit-verify.ts';
import { isActOfPower } from './rules/act-of-power.ts';
import { type AuditRecord, ambiguousOutcome, type MacKey, nextEntry } from './rules/audit-entry.ts';
import { insertAct } from './tables/acts.ts';
import { updateAnchorState } from './tables/anchor-state.ts';
import { auditHead, insertAuditEntry, listAuditEntries } from './tables/audit-entries.ts';
import { deleteOpenIntents, insertOpenIntent } from './tables/open-intents.ts';
import { createTimer } from './timer.ts';

/** Records waiting from which on no intent is taken (`charon.md` §6). */
export const auditBacklogMax = 10_000;
const outcomeDelayMs = 50;
const noteDelayMs = 1_000;
const anchorDelayMs = 1_000;

/** Where the anchor is, as far as it is said: its path may name more than a report should. */
const elsewhereNote = 'the anchor is kept outside the home, where CHARON_LEDGER_ANCHOR_PATH says';

/** What a ledger is made of. */
export interface AuditOptions {
  readonly db: ReadableDb;
  readonly batch: Batch<EngineEvent>;
  readonly clock: Clock;
  readonly macKey: MacKey;
  /** Keys of before, by id, which verify. */
  readonly earlierKeys: ReadonlyMap<string, Buffer>;
  readonly anchor: Anchor;
  readonly anchorPath: string;
  /** The anchor is not beside charon.db, but where the environment keeps it. */
  readonly anchorElsewhere: boolean;
  /** Hears every entry as it is appended, where the ledger itself will not be kept. */
  readonly echo?: ((entry: AuditEntry) => void) | undefined;
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

/**
 * The audit ledger (`charon.md` §6): intents are durable before they resolve, outcomes and notes follow in batches. What
 * could not be written waits and is tried again; from 10 000 waiting on no intent is taken.
 */
export function openAuditLedger(options: AuditOptions): AuditWriter {
  const { db, batch, clock, macKey, anchor, log } = options;
  const append = (target: WritableDb, record: AuditRecord): void => {
    const entry = appendRecord(target, record, macKey);
    options.echo?.(entry);
  };
  const anchoring = createAnchoring(db, anchor, log);
  let failing = false;
  const writeNow = async (verb: (target: WritableDb) => void): Promise<void> => {
    try {
      await batch.write(verb);
      failing = false;
    } catch (thrown) {
      failing = true;
      throw thrown;
    }
  };
  const queue = createAuditQueue(async (records) => {
    await writeNow((target) => {
      for (const record of records) append(target, record);
      updateAnchorState(target, anchor.state());
    });
    anchoring.due();
  }, log);
  const notes = createNotes(queue, clock);
  let refusedIntents = 0;

  const flush = async (): Promise<void> => {
    await queue.drain();
    notes.tellDropped();
    await queue.drain();
    await anchoring.now();
  };

  return {
    append,
    flush,
    intent: async (subject) => {
      if (queue.backlog() >= auditBacklogMax) {
        refusedIntents += 1;
        throw unavailable();
      }
      queue.send().catch(() => undefined);
      try {
        await writeNow((target) => append(target, recordOf(clock, subject, 'intent', '')));
      } catch (thrown) {
        refusedIntents += 1;
        throw unavailable(thrown);
      }
      anchoring.due();
    },
    outcome: (subject, outcome) => queue.add(recordOf(clock, subject, 'outcome', outcome), outcomeDelayMs),
    note: (subject, outcome) => notes.add(recordOf(clock, subject, 'outcome', outcome)),
    noteSystem: (command, outcome, objectIds) => notes.add(systemRecord(clock, command, outcome, objectIds)),
    backlog: queue.backlog,
    isFailing: () => failing,
    appendFailures: () => queue.failures() + refusedIntents,
    tail: ({ limit, beforeSeq }) => listAuditEntries(db, limit, beforeSeq),
    verify: async (): Promise<VerifyReport> => {
      const anchoredSeq = auditHead(db).seq;
      await flush().catch(anchoring.now);
      const keys = new Map([...options.earlierKeys, [macKey.id, macKey.key]]);
      const report = await verifyLedger({
        db,
        keys,
        anchorPath: options.anchorPath,
        anchoredSeq,
        written: anchor.state(),
      });
      const waiting = queue.backlog();
      return {
        ...report,
        notes: [
          ...report.notes,
          ...(waiting === 0 ? [] : [`entries waiting to be written: ${waiting}`]),
          ...(options.anchorElsewhere ? [elsewhereNote] : []),
        ],
      };
    },
    close: async () => {
      try {
        await flush();
        await batch.write((target) => updateAnchorState(target, anchor.state()));
      } finally {
        queue.close();
        await anchoring.close();
      }
    },
  };
}

/** Appends to the chain as the savepoint sees it, and keeps the lists of intents without an outcome and of acts of power. */
export function appendRecord(db: WritableDb, record: AuditRecord, macKey: MacKey): AuditEntry {
  const entry = nextEntry(auditHead(db), record, macKey);
  insertAuditEntry(db, entry);
  if (isActOfPower(entry)) insertAct(db, entry.seq);
  if (record.phase === 'intent') insertOpenIntent(db, entry.seq, entry.correlation_id, record.subject.idempotencyKey);
  else if (entry.outcome !== ambiguousOutcome) deleteOpenIntents(db, entry.correlation_id);
  return entry;
}

/** Brings the anchor to the head of the ledger, one write after the other; a failure is told and tried again. */
function createAnchoring(db: ReadableDb, anchor: Anchor, log: Log) {
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => {
    timer.cancel();
    writing = writing
      .then(() => anchor.append(auditHead(db)))
      .catch((thrown: unknown) => log.error({ err: thrown }, 'the anchor of the audit ledger could not be written'));
    return writing;
  };
  const timer = createTimer(() => void write());
  return {
    due: () => timer.due(anchorDelayMs),
    now: write,
    close: async () => {
      timer.cancel();
      await writing;
      await anchor.close();
    },
  };
}

/** Notes, which are dropped when too many wait; how many is recorded as soon as there is room. */
function createNotes(queue: AuditQueue, clock: Clock) {
  let dropped = 0;
  const tellDropped = (): void => {
    if (dropped === 0 || queue.backlog() >= auditBacklogMax) return;
    queue.add(systemRecord(clock, 'audit.dropped', `${dropped} notes could not be kept`, []), noteDelayMs);
    dropped = 0;
  };
  return {
    tellDropped,
    add: (record: AuditRecord) => {
      tellDropped();
      if (queue.backlog() < auditBacklogMax) queue.add(record, noteDelayMs);
      else dropped += 1;
    },
  };
}

function recordOf(clock: Clock, subject: AuditSubject, phase: AuditRecord['phase'], outcome: string): AuditRecord {
  return { at: toTimestamp(clock.nowMs()), subject, phase, outcome };
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
  return recordOf(clock, subject, 'outcome', outcome);
}

function unavailable(cause?: unknown): Fault {
  return new Fault(
    'AUDIT_UNAVAILABLE',
    'The audit ledger cannot be written, so nothing was changed. Free disk space or check the disk, then try again.',
    {},
    { cause },
  );
}
