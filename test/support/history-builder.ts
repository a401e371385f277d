import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src-main/base/clock.ts';
import type { Ids } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { createSigner, type Signer } from '../../src-main/canonical/signature.ts';
import type { CommitInput, Lethe } from '../../src-main/lethe/api.ts';
import { letheOver } from '../../src-main/lethe/lethe.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { closeStore, openStore } from '../../src-main/sqlite/open.ts';
import type { Changeset, Op, Ref } from '../../src-preload/contract/changeset.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import {
  type ChangesetId,
  changesetIdSchema,
  type ProjectId,
  projectIdSchema,
  type RefName,
  refNameSchema,
} from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';

/** A clock that a test moves. It stands still otherwise. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
  set(ms: number): void;
}

export const fakeEpochMs = Date.UTC(2026, 10, 30, 12, 0, 0, 0);

/** A clock that starts at noon of 30 November 2026, or where it is told to. */
export function fakeClock(startMs: number = fakeEpochMs): FakeClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    set: (ms) => {
      nowMs = ms;
    },
  };
}

/** Identities that are the same in every run of a seed; those of one seed ascend, as version 7 ones do. */
export function seededIds(seed: string): Ids {
  let count = 0;
  const bytes = (wanted: number): Buffer => {
    count += 1;
    const blocks = Array.from({ length: Math.ceil(wanted / 32) }, (_, block) =>
      createHash('sha256').update(`${seed}/${count}/${block}`).digest(),
    );
    return Buffer.concat(blocks).subarray(0, wanted);
  };
  return {
    uuidv7: () => {
      const random = bytes(8).toString('hex');
      const moment = count.toString(16).padStart(12, '0');
      return `${moment.slice(0, 8)}-${moment.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(4, 16)}`;
    },
    randomBytes: bytes,
  };
}

/** The head signer of a seed. */
export function seededSigner(seed: string): Signer {
  return createSigner(createHash('sha256').update(seed).digest());
}

export const testMergeKey = Buffer.from('0123456789abcdef0123456789abcdef');
export const testOwner = 'principal_00000000000000aa';

/** A store in a folder of its own, with what a test needs to steer it and to look behind it. */
export interface TempLethe {
  readonly lethe: Lethe;
  /** The store's own connection: for counters, for looking, and for breaking things on purpose. */
  readonly db: Connection;
  readonly path: string;
  readonly clock: FakeClock;
  readonly ids: Ids;
  readonly events: EngineEvent[];
  /** Closes and opens the same file again, with other keys or owner where a test says so. */
  reopen(changed?: TempLetheOptions): TempLethe;
  /** Closes the store and removes its folder. */
  remove(): void;
}

export interface TempLetheOptions {
  readonly seed?: string;
  readonly clock?: FakeClock;
  readonly headSigner?: Signer;
  readonly mergeKeys?: ReadonlyMap<string, Uint8Array>;
  readonly ownerPrincipal?: string | undefined;
}

/** Opens a new, empty store in a temp folder. Call `remove` when done. */
export function openTempLethe(options: TempLetheOptions = {}): TempLethe {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-lethe-'));
  writeFileSync(join(folder, 'lethe.db'), emptyStore(), { mode: 0o600 });
  const clock = options.clock ?? fakeClock();
  return openAt(folder, clock, seededIds(options.seed ?? 'seed'), options);
}

let empty: Buffer | undefined;

/** The file of an empty store. It is migrated once a process: that takes longer than many a test. */
export function emptyStore(): Buffer {
  if (empty !== undefined) return empty;
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-empty-'));
  const path = join(folder, 'lethe.db');
  closeStore(openStore(path, letheMigrations, fakeClock()));
  empty = readFileSync(path);
  rmSync(folder, { recursive: true, force: true });
  return empty;
}

function openAt(folder: string, clock: FakeClock, ids: Ids, options: TempLetheOptions): TempLethe {
  const path = join(folder, 'lethe.db');
  const events: EngineEvent[] = [];
  const db = openStore(path, letheMigrations, clock);
  const lethe = letheOver(db, {
    path,
    readOnly: false,
    clock,
    ids,
    headSigner: options.headSigner ?? seededSigner('head'),
    mergeKeys: options.mergeKeys ?? new Map([['k1', testMergeKey]]),
    ownerPrincipal: 'ownerPrincipal' in options ? options.ownerPrincipal : testOwner,
    onEvents: (committed) => void events.push(...committed),
    log: silentLog,
  });
  return {
    lethe,
    db,
    path,
    clock,
    ids,
    events,
    reopen: (changed = {}) => {
      lethe.close();
      return openAt(folder, clock, ids, { ...options, ...changed });
    },
    remove: () => {
      lethe.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An op before it has a place in its changeset. */
export type OpDraft = Omit<Op, 'ordinal'>;

/** A new memory. */
export function add(content: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'add_memory', payload: { content, ...more } };
}

/** A new memory under an id of the test's own. */
export function addAs(memoryId: string, content: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'add_memory', resulting_event_id: memoryId, payload: { content, ...more } };
}

/** A correction in place, or under a new id. */
export function correct(target: string, payload: JsonObject, resulting?: string): OpDraft {
  return {
    op_type: 'correct_memory',
    target_event_id: target,
    ...(resulting === undefined ? {} : { resulting_event_id: resulting }),
    payload,
  };
}

/** A correction that brings back the state at a changeset. */
export function restore(target: string, at: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'correct_memory', target_event_id: target, payload: { restores: at, ...more } };
}

/** A retirement, with a replacement when the payload has content. */
export function supersede(target: string, payload: JsonObject = {}, resulting?: string): OpDraft {
  return {
    op_type: 'supersede_memory',
    target_event_id: target,
    ...(resulting === undefined ? {} : { resulting_event_id: resulting }),
    payload,
  };
}

/** A mark that one memory says what another one, which stays, says too. */
export function duplicate(memoryId: string, stays: string, payload: JsonObject = {}): OpDraft {
  return { op_type: 'mark_duplicate', target_event_id: memoryId, resulting_event_id: stays, payload };
}

/** A relationship between two memories. */
export function relate(from: string, kind: string, to: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'add_relationship', target_event_id: from, resulting_event_id: to, payload: { kind, ...more } };
}

/** A proposal to give a memory up. */
export function deprecate(memoryId: string, reason = 'no longer so'): OpDraft {
  return { op_type: 'propose_deprecation', target_event_id: memoryId, payload: { reason } };
}

/** Something that speaks for a memory. */
export function attachEvidence(memoryId: string, payload: JsonObject): OpDraft {
  return { op_type: 'attach_evidence', target_event_id: memoryId, payload };
}

/** Something that was checked about a memory. */
export function attachVerification(memoryId: string, payload: JsonObject): OpDraft {
  return { op_type: 'attach_verification', target_event_id: memoryId, payload };
}

/** The marker that a reviewed merge carries. */
export function reviewedMerge(proposalId: string, sourceChangesetId: string): OpDraft {
  return {
    op_type: 'attach_verification',
    payload: {
      kind: 'reviewed_merge',
      summary: 'reviewed merge',
      proposal_id: proposalId,
      source_changeset_id: sourceChangesetId,
    },
  };
}

/** The id that the store gives to a memory whose op names none. */
export function memoryIdOf(changeset: Changeset, ordinal = 0): string {
  return `mem:${changeset.changeset_id}:${ordinal}`;
}

export function projectId(text: string): ProjectId {
  return projectIdSchema.parse(text);
}

export function refName(text: string): RefName {
  return refNameSchema.parse(text);
}

export function changesetId(text: string): ChangesetId {
  return changesetIdSchema.parse(text);
}

/** Steps of a history that read as one: each commits to a named ref at its present head. */
export interface HistoryBuilder {
  readonly project: ProjectId;
  /** Starts the project; answers its root. */
  init(): Promise<Changeset>;
  head(ref: string): ChangesetId;
  /** A new ref at a ref's head or at a changeset. */
  branch(ref: string, from?: string | Changeset): Promise<Ref>;
  /** A commit on a ref, moving it. */
  commit(ref: string, ops: readonly OpDraft[], more?: Partial<CommitInput>): Promise<Changeset>;
  /** A commit with two parents on `ref`: its head first, then the other ref's head. */
  mergeInto(ref: string, other: string, ops?: readonly OpDraft[], more?: Partial<CommitInput>): Promise<Changeset>;
  /** A changeset that moves no ref, such as one that a protected merge prepares. */
  detached(parents: readonly ChangesetId[], ops: readonly OpDraft[], more?: Partial<CommitInput>): Promise<Changeset>;
  /** The request of a commit, for tests that change or repeat it. */
  request(ref: string, ops: readonly OpDraft[], more?: Partial<CommitInput>): CommitInput;
}

/** The author of a history's commits unless a step says otherwise. */
export const testAuthor = 'principal_00000000000000a1';

/** Builds histories in a store; keys are counted, so that two builders of one project need different `author`s. */
export function historyBuilder(
  temp: Pick<TempLethe, 'lethe'>,
  project = 'demo',
  author: string = testAuthor,
): HistoryBuilder {
  const { lethe } = temp;
  const id = projectId(project);
  let keys = 0;

  const head = (ref: string): ChangesetId => {
    const found = lethe.findRef(id, refName(ref));
    if (found === undefined) throw new Error(`the test names a ref that does not exist: ${ref}`);
    return found.head_changeset_id;
  };
  const numbered = (ops: readonly OpDraft[]): Op[] => ops.map((op, ordinal) => ({ ordinal, ...op }));
  const request = (ref: string, ops: readonly OpDraft[], more: Partial<CommitInput> = {}): CommitInput => {
    keys += 1;
    const parent = head(ref);
    return {
      projectId: id,
      refName: refName(ref),
      parentIds: [parent],
      expectedHead: parent,
      advanceRef: true,
      authorPrincipal: author,
      message: `step ${keys}`,
      idempotencyKey: `key-${keys}`,
      ops: numbered(ops),
      ...more,
    };
  };
  return {
    project: id,
    head,
    request,
    init: async () => (await lethe.initProject({ projectId: id, principal: author })).changeset,
    branch: (ref, from = 'refs/shared/main') =>
      lethe.createRef({
        projectId: id,
        refName: refName(ref),
        headChangesetId: typeof from === 'string' ? head(from) : from.changeset_id,
        principal: author,
      }),
    commit: (ref, ops, more) => lethe.commit(request(ref, ops, more)),
    mergeInto: (ref, other, ops = [reviewedMerge('proposal', head(other))], more = {}) =>
      lethe.commit(request(ref, ops, { parentIds: [head(ref), head(other)], ...more })),
    detached: (parents, ops, more = {}) =>
      lethe.commit(
        request('refs/shared/main', ops, { parentIds: parents, expectedHead: undefined, advanceRef: false, ...more }),
      ),
  };
}
