import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { ProposalId } from '../../src-preload/contract/ids.ts';
import type { ProposalPreview } from '../../src-preload/contract/proposal.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Batch, WriteVerb } from '../sqlite/batch.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { AuditWriter } from './audit.ts';
import { createMemo, type Memo } from './memo.ts';
import type { MacKey } from './rules/audit-entry.ts';
import type { Quotas } from './rules/quota.ts';
import type { PlanFacts } from './rules/resolution-writing.ts';
import type { MemoryStorePort } from './store-port.ts';

/** The keys of Charon (`charon.md` §2), 32 bytes each, given by the home. */
export interface CharonKeys {
  readonly obol: Buffer;
  /** Obol keys before it, under which older tokens stay good. */
  readonly earlierObols?: readonly Buffer[] | undefined;
  readonly oauth: Buffer;
  readonly ledger: MacKey;
  /** Ledger keys before it, by id: they verify the entries that name them. */
  readonly earlierLedgers?: ReadonlyMap<string, Buffer> | undefined;
  /** Signs merge envelopes; the store knows it by its id. */
  readonly mergeSigning: MacKey;
}

/** What every verb of Charon works with. */
export interface CharonContext {
  readonly db: ReadableDb;
  readonly batch: Batch<EngineEvent>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: CharonKeys;
  readonly store: MemoryStorePort;
  readonly audit: AuditWriter;
  readonly log: Log;
  readonly homeId: string;
  readonly readOnly: boolean;
  /** Where the ledger stood when it was opened: an intent up to there is of a process that is gone. */
  readonly openedSeq: number;
  readonly quotas: Quotas;
  /** Proposals whose merge runs in this process at this moment: nobody else settles those. */
  readonly mergesInFlight: Set<ProposalId>;
  /** Proposals that a call of this process tells the store about at this moment, each with what to wait for. */
  readonly choresInFlight: Map<ProposalId, Promise<void>>;
  readonly memos: Memos;
}

/** What the store answered about changesets, which never change. */
export interface Memos {
  /** What detection found between three changesets. */
  readonly detected: Memo<readonly Conflict[]>;
  /** What two heads say of the memories of a conflict. */
  readonly facts: Memo<PlanFacts>;
  /** How many changes a proposal makes to a head of its target. */
  readonly changes: Memo<Pick<ProposalPreview, 'changes' | 'changes_complete'>>;
}

/** Memos of one process: some thousands of conflicts, of which each may hold three texts. */
export function createMemos(): Memos {
  return {
    detected: createMemo(2_000, 4_000, (found) => found.length),
    facts: createMemo(500, 2_000, ({ memories }) => 1 + memories.length),
    changes: createMemo(2_000, 2_000, () => 1),
  };
}

/** Throws `READ_ONLY` in recovery (`charon.md` §7). */
export function requireWritable(context: CharonContext): void {
  if (!context.readOnly) return;
  throw new Fault(
    'READ_ONLY',
    'Memory Git is in read-only recovery: everything can be read, nothing changed. Leave recovery first.',
  );
}

/** One write verb of Charon's: refused in recovery, otherwise one transaction (`design.md` §3). */
export async function write<Result>(context: CharonContext, verb: WriteVerb<Result, EngineEvent>): Promise<Result> {
  requireWritable(context);
  return context.batch.write(verb);
}
