import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { toTimestamp } from '../../src-main/base/clock.ts';
import {
  type ChangesetId,
  changesetIdSchema,
  memoryIdSchema,
  refNameSchema,
  timestampSchema,
} from '../../src-preload/contract/ids.ts';
import { add, correct, type OpDraft } from '../../test/support/history-builder.ts';
import { type BenchStore, byReviewer, openBenchStore } from './store.ts';
import { pick, seededRandom, textOf } from './texts.ts';

/** How much history to make. */
export interface CorpusSize {
  /** Memories that are added; one correction comes with every ten of them. */
  readonly memories: number;
  /** Memories added by one changeset. */
  readonly addsPerChangeset: number;
}

const corpusSchema = z.strictObject({
  memories: z.int(),
  changesets: z.int(),
  ref: refNameSchema,
  head: changesetIdSchema,
  /** The head when half of the history was made, and a moment at which it was the head. */
  oldHead: changesetIdSchema,
  oldMoment: timestampSchema,
  /** A branch from the old head with 1 000 changes of its own. */
  branchRef: refNameSchema,
  branchHead: changesetIdSchema,
  /** Memories that each of those heads knows. */
  memoryIds: z.array(memoryIdSchema),
  buildMs: z.number(),
  indexMs: z.number(),
});

/** A history that read workloads run on, and where to look in it. */
export type Corpus = z.infer<typeof corpusSchema>;

export const workRef = refNameSchema.parse('refs/agents/bench/work');
const corpusFile = 'corpus.json';
const branchRef = refNameSchema.parse('refs/agents/bench/branch');
const branchChanges = 1_000;
/** How many memories of the first half, spread over it, are named for those who read it. */
const memoryIdsMax = 5_000;

/**
 * Makes a history through the real commit path, in the folder: a branch of commits, main moved to its end by a signed
 * merge, and a branch from the middle. The full text is caught up.
 */
export async function buildCorpus(folder: string, size: CorpusSize): Promise<Corpus> {
  const startedAt = performance.now();
  const store = await openBenchStore(folder);
  const root = store.headOf('refs/shared/main');
  await store.branch(workRef, root);
  const changesets = Math.ceil(size.memories / size.addsPerChangeset);
  const half = Math.floor(changesets / 2);
  const known: string[] = [];
  const oldHead = await write(store, size, known, { from: 0, to: half, parent: root });
  const oldMoment = toTimestamp(store.clock.nowMs());
  const head = await write(store, size, known, { from: half, to: changesets, parent: oldHead });
  await store.branch(branchRef, oldHead);
  const branchHead = await writeChanges(store, {
    ref: branchRef,
    parent: oldHead,
    changes: branchChanges,
    memoryIds: spread(known, memoryIdsMax),
    opsPerChangeset: 10,
  });
  await store.advance({ expected: root, next: head }, byReviewer('fast_forward'));
  const indexFrom = performance.now();
  await store.catchUp();
  store.lethe.close();
  const corpus: Corpus = {
    ...{ memories: size.memories, changesets, ref: workRef, head, oldHead, oldMoment, branchRef, branchHead },
    memoryIds: spread(known, memoryIdsMax).map((id) => memoryIdSchema.parse(id)),
    buildMs: indexFrom - startedAt,
    indexMs: performance.now() - indexFrom,
  };
  writeFileSync(join(folder, corpusFile), JSON.stringify(corpus));
  return corpus;
}

/** At most `count` of the entries, evenly spread over all of them. */
function spread<Entry>(entries: readonly Entry[], count: number): readonly Entry[] {
  const step = Math.max(1, Math.floor(entries.length / count));
  return entries.filter((_, index) => index % step === 0).slice(0, count);
}

/** What was made in a folder by `buildCorpus`. */
export function readCorpus(folder: string): Corpus {
  return corpusSchema.parse(JSON.parse(readFileSync(join(folder, corpusFile), 'utf8')));
}

/** Changesets `from` to `to` of a history: additions, and one correction with every ten of them. */
async function write(
  store: BenchStore,
  { memories, addsPerChangeset }: CorpusSize,
  known: string[],
  part: { readonly from: number; readonly to: number; readonly parent: ChangesetId },
): Promise<ChangesetId> {
  const random = seededRandom(memories + part.from);
  const first = known.length === 0;
  const steps = function* (): Iterable<OpDraft[]> {
    for (let index = part.from; index < part.to; index += 1) {
      const texts = Array.from({ length: addsPerChangeset }, (_, nth) => index * addsPerChangeset + nth);
      const ops = texts.map((text) => add(textOf(text)));
      const target = known[pick(random, known.length)];
      const corrects = addsPerChangeset >= 10 || index % Math.round(10 / addsPerChangeset) === 0;
      if (corrects && target !== undefined) ops.push(correct(target, { content: textOf(memories + index) }));
      yield ops;
    }
  };
  return writeChain(store, workRef, part.parent, steps(), (id) => {
    for (let nth = 0; first && nth < addsPerChangeset; nth += 1) known.push(`mem:${id}:${nth}`);
  });
}

/** Changes to make on a branch: half additions, half corrections, each of another memory; additions once those run out. */
export interface Changes {
  readonly ref: string;
  readonly parent: ChangesetId;
  readonly changes: number;
  readonly memoryIds: readonly string[];
  readonly opsPerChangeset: number;
}

/** Makes changes on a branch that exists; answers its new head. */
export async function writeChanges(store: BenchStore, wanted: Changes): Promise<ChangesetId> {
  const ops = Array.from({ length: wanted.changes }, (_, nth) => {
    const target = wanted.memoryIds[Math.floor(nth / 2)];
    const content = `${wanted.ref} ${textOf(nth)}`;
    return nth % 2 === 0 || target === undefined ? add(content) : correct(target, { content });
  });
  const steps = function* (): Iterable<OpDraft[]> {
    for (let at = 0; at < ops.length; at += wanted.opsPerChangeset) yield ops.slice(at, at + wanted.opsPerChangeset);
  };
  return writeChain(store, wanted.ref, wanted.parent, steps(), () => undefined);
}

/** Commits that are sent before the first of them is waited for: as many as one transaction takes. */
const sentAtOnce = 64;

async function writeChain(
  store: BenchStore,
  ref: string,
  parent: ChangesetId,
  steps: Iterable<OpDraft[]>,
  onDone: (id: ChangesetId) => void,
): Promise<ChangesetId> {
  let head = parent;
  let sent: Promise<void>[] = [];
  for (const ops of steps) {
    const { id, done } = store.send({ ref, parent: head, ops });
    head = id;
    sent.push(done.then(() => onDone(id)));
    if (sent.length === sentAtOnce) {
      await Promise.all(sent);
      sent = [];
    }
  }
  await Promise.all(sent);
  return head;
}
