import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src-main/base/clock.ts';
import { type Ids, systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { CommitInput, Lethe } from '../../src-main/lethe/api.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import type { Changeset, Op } from '../../src-preload/contract/changeset.ts';
import { type ChangesetId, changesetIdSchema } from '../../src-preload/contract/ids.ts';
import type { MergeStrategy } from '../../src-preload/contract/proposal.ts';
import {
  fakeEpochMs,
  type OpDraft,
  projectId,
  refName,
  seededSigner,
  testAuthor,
  testMergeKey,
  testOwner,
} from '../../test/support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope, testMerger, testReviewer } from '../../test/support/merge-envelope.ts';

export const benchProject = projectId('bench');
export const mainRef = refName('refs/shared/main');

/** Identities of which the next ones can be known beforehand, so that a chain of commits can be sent at once. */
interface ForeseeableIds extends Ids {
  foresee(): ChangesetId;
}

/** A commit to make, at a parent that may itself be still under way. */
export interface Step {
  readonly ref: string;
  readonly parent: ChangesetId;
  readonly ops: readonly OpDraft[];
}

/** A store that a workload runs on, with the shortest ways to write to it. */
export interface BenchStore {
  readonly lethe: Lethe;
  readonly clock: Clock;
  /** Commits to a ref at the given head; resolves once durable. */
  commit(step: Step): Promise<Changeset>;
  /**
   * Sends the next commit of a chain without waiting for those before it; `id` is what its changeset will be called.
   * Nothing else may be written until all that was sent has resolved.
   */
  send(step: Step): { readonly id: ChangesetId; readonly done: Promise<Changeset> };
  branch(ref: string, head: ChangesetId): Promise<void>;
  headOf(ref: string): ChangesetId;
  /** Moves main by a signed authorization, as a merge does. */
  advance(move: { readonly expected: ChangesetId; readonly next: ChangesetId }, by: MergeBy): Promise<void>;
  /** Catches up with all work that follows behind commits. */
  catchUp(): Promise<void>;
}

/** What the envelope of a merge says beyond the move. */
type MergeBy = Pick<MergeEnvelope, 'strategy' | 'reviewer_principal' | 'merger_principal'>;

/** A merge by principals who wrote none of it. */
export function byReviewer(strategy: MergeStrategy): MergeBy {
  return { strategy, reviewer_principal: testReviewer, merger_principal: testMerger };
}

/** The file of a store in a folder. */
export function storePath(folder: string): string {
  return join(folder, 'lethe.db');
}

/** Opens the store in a folder, through the same door as the app, and starts the project if it is new. */
export async function openBenchStore(folder: string): Promise<BenchStore> {
  mkdirSync(folder, { recursive: true });
  const clock = tickingClock();
  const ids = foreseeableIds();
  const lethe = openLethe({
    path: storePath(folder),
    readOnly: false,
    clock,
    ids,
    headSigner: seededSigner('bench'),
    mergeKeys: new Map([['k1', testMergeKey]]),
    ownerPrincipal: testOwner,
    onEvents: () => undefined,
    log: silentLog,
  });
  await lethe.initProject({ projectId: benchProject, principal: testOwner });
  let keys = 0;
  const nextKey = (): string => `${process.pid}-${++keys}`;
  return {
    lethe,
    clock,
    commit: (step) => lethe.commit(toInput(step, nextKey())),
    send: (step) => ({ id: ids.foresee(), done: lethe.commit(toInput(step, nextKey())) }),
    branch: async (ref, head) => {
      await lethe.createRef({
        projectId: benchProject,
        refName: refName(ref),
        headChangesetId: head,
        principal: testAuthor,
      });
    },
    headOf: (ref) => {
      const found = lethe.findRef(benchProject, refName(ref));
      if (found === undefined) throw new Error(`there is no ref ${ref}`);
      return found.head_changeset_id;
    },
    advance: async (move, by) => {
      const named = { project: benchProject, ...move };
      await lethe.advance(advanceInput(named, authorize(mergeEnvelope({ clock, ids }, named, by))));
    },
    catchUp: async () => {
      while (await lethe.maintain());
    },
  };
}

/** The request of a commit to a ref at a head. */
function toInput({ ref, parent, ops }: Step, key: string): CommitInput {
  const numbered: readonly Op[] = ops.map((op, ordinal) => ({ ordinal, ...op }));
  return {
    projectId: benchProject,
    refName: refName(ref),
    parentIds: [parent],
    expectedHead: parent,
    advanceRef: true,
    authorPrincipal: testAuthor,
    message: 'what was learned',
    idempotencyKey: key,
    ops: numbered,
  };
}

/** A clock that goes on by a millisecond each time it is read: no two moves of a ref share a moment. */
function tickingClock(): Clock {
  let nowMs = Math.max(fakeEpochMs, Date.now());
  return { nowMs: () => ++nowMs };
}

function foreseeableIds(): ForeseeableIds {
  const system = systemIds();
  const foreseen: string[] = [];
  return {
    uuidv7: () => foreseen.shift() ?? system.uuidv7(),
    randomBytes: (count) => system.randomBytes(count),
    foresee: () => {
      const id = system.uuidv7();
      foreseen.push(id);
      return changesetIdSchema.parse(id);
    },
  };
}
