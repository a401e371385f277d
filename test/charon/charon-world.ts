import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ids } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { AuditSubject, Caller, Charon } from '../../src-main/charon/api.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import type { CharonKeys } from '../../src-main/charon/context.ts';
import type { CharonOptions } from '../../src-main/charon/open.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { ObolId } from '../../src-preload/contract/ids.ts';
import type { AgentProfile, Grant, Principal } from '../../src-preload/contract/principal.ts';
import { type FakeClock, fakeClock, projectId, seededIds, testMergeKey } from '../support/history-builder.ts';

/** 32 bytes that are the same in every run. */
export function seededKey(seed: string): Buffer {
  return createHash('sha256').update(seed).digest();
}

export const testKeys: CharonKeys = {
  obol: seededKey('obol'),
  oauth: seededKey('oauth'),
  ledger: { id: 'ledger-1', key: seededKey('ledger') },
  mergeSigning: { id: 'k1', key: testMergeKey },
};

/** A policy engine in a folder of its own, with what a test needs to steer it and to look behind it. */
export interface CharonWorld {
  readonly charon: Charon;
  readonly clock: FakeClock;
  readonly ids: Ids;
  readonly path: string;
  readonly anchorPath: string;
  readonly events: EngineEvent[];
  /** Closes and opens the same files again. */
  reopen(more?: Partial<CharonOptions>): Promise<CharonWorld>;
  /** Opens the same files without closing them first: what a killed process leaves. */
  reopenAfterKill(more?: Partial<CharonOptions>): Promise<CharonWorld>;
  /** A connection of its own: for looking, and for breaking things on purpose. */
  withDb<Result>(work: (db: Connection) => Result): Result;
  remove(): Promise<void>;
}

/** A store that nothing may ask: for tests that are not about memory. */
export const noStore: MemoryStorePort = {
  findRef: unasked,
  findChangeset: unasked,
  isAncestor: unasked,
  mergePreview: unasked,
  proposalDiff: unasked,
  originators: unasked,
  findMemory: unasked,
  findSuccessor: unasked,
  changedSince: unasked,
  changedBetween: unasked,
  commitDetached: unasked,
  commitToNewRef: unasked,
  detectConflicts: unasked,
  persistConflicts: unasked,
  resolveConflict: unasked,
  retireConflicts: unasked,
  listConflicts: unasked,
  recordOutput: unasked,
  advance: unasked,
  findAdvance: unasked,
  findChangesetByKey: unasked,
};

function unasked(): Promise<never> {
  return Promise.reject(new Error('this test has no store'));
}

/** Opens a new home's policy engine. Call `remove` when done. */
export async function openWorld(
  more: Partial<CharonOptions> & { readonly clock?: FakeClock } = {},
): Promise<CharonWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-charon-'));
  return openAt(folder, { clock: more.clock ?? fakeClock(), ids: more.ids ?? seededIds('charon'), killed: [] }, more);
}

async function openAt(
  folder: string,
  steady: { readonly clock: FakeClock; readonly ids: Ids; readonly killed: Charon[] },
  more: Partial<CharonOptions>,
): Promise<CharonWorld> {
  const path = join(folder, 'charon.db');
  const anchorPath = join(folder, 'ledger.anchor');
  const events: EngineEvent[] = [];
  const charon = await openCharon({
    path,
    anchorPath,
    readOnly: false,
    keys: testKeys,
    store: noStore,
    onEvents: (committed) => void events.push(...committed),
    log: silentLog,
    ...more,
    clock: steady.clock,
    ids: steady.ids,
  });
  return {
    charon,
    clock: steady.clock,
    ids: steady.ids,
    path,
    anchorPath,
    events,
    reopen: async (again = {}) => {
      await charon.close();
      return openAt(folder, steady, { ...more, ...again });
    },
    reopenAfterKill: (again = {}) => {
      steady.killed.push(charon);
      return openAt(folder, steady, { ...more, ...again });
    },
    withDb: (work) => {
      const db = connect(path, { readOnly: false, mustExist: true });
      try {
        return work(db);
      } finally {
        db.close();
      }
    },
    remove: async () => {
      for (const each of [charon, ...steady.killed]) await each.close().catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A principal of that profile with a grant for `demo`. */
export async function makePrincipal(
  world: Pick<CharonWorld, 'charon'>,
  name: string,
  profile: AgentProfile,
  grant: Grant = projectId('demo'),
): Promise<Principal> {
  return (await world.charon.reconcilePrincipal({ name, profile, grant })).principal;
}

/** The principal as a caller with a fresh token. */
export async function callerOf(world: Pick<CharonWorld, 'charon'>, principal: Principal): Promise<Caller> {
  const { token } = await world.charon.mintObol({ principalId: principal.principal_id, expiresMs: null });
  const caller = world.charon.authenticate(token, 'agent');
  if (caller === undefined) throw new Error('a fresh token is refused');
  return caller;
}

/** A principal with a token, in one step. */
export async function agent(world: Pick<CharonWorld, 'charon'>, name: string, profile: AgentProfile): Promise<Caller> {
  return callerOf(world, await makePrincipal(world, name, profile));
}

/** What an entry of the ledger is about, for tests that do not care. */
export function subject(correlationId: string, more: Partial<AuditSubject> = {}): AuditSubject {
  return {
    principal: 'principal_00000000000000a1',
    credentialKind: 'obol',
    credentialId: '00000000000000b1',
    door: 'agent',
    command: 'memory.changeset_create',
    project: 'demo',
    objectIds: [],
    requestDigest: 'ab'.repeat(32),
    correlationId,
    ...more,
  };
}

/** The code that a refused call carries. */
export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return String(thrown.code);
    throw thrown;
  }
  return 'nothing was refused';
}

/** The id of a caller's token. */
export function obolOf(caller: Caller): ObolId {
  if (caller.credential.kind !== 'obol') throw new Error('this caller has no token');
  return caller.credential.id;
}

/** Entries oldest first, as another process sees them. */
export function storedEntries(
  world: CharonWorld,
): readonly { seq: number; phase: string; outcome: string; correlation_id: string }[] {
  return world.withDb((db) =>
    db
      .query<[], { seq: number; phase: string; outcome: string; correlation_id: string }>(
        'SELECT seq, phase, outcome, correlation_id FROM audit_entries ORDER BY seq',
      )
      .all(),
  );
}

/** Entries oldest first, as the ledger gives them. */
export function ledgerEntries(world: CharonWorld): readonly AuditEntry[] {
  return world.charon.audit.tail({ limit: 20_000 }).toReversed();
}

/** Lifts the triggers that stand against it, as somebody with the file in hand would. */
export function tamper(world: CharonWorld, work: (db: Connection) => void): void {
  world.withDb((db) => {
    db.exec(
      'DROP TRIGGER audit_entries_are_immutable; DROP TRIGGER audit_entries_stay; DROP TRIGGER audit_entries_follow',
    );
    work(db);
  });
}

/** So many intents, each with its outcome and a note beside it, all durable. */
export async function fillLedger(world: CharonWorld, count: number): Promise<void> {
  const { audit } = world.charon;
  for (let index = 0; index < count; index += 1) {
    await audit.intent(subject(`c${index}`, { objectIds: [`o${index}`] }));
    audit.outcome(subject(`c${index}`), 'done');
    audit.note(subject(`n${index}`, { command: 'memory.log' }), 'denied: GRANT_MISSING');
  }
  await audit.flush();
}
