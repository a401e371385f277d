import { describe, expect, test } from 'vitest';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import type { MemoryFilter } from '../../src-main/lethe/rules/memory-filter.ts';
import { listRecent, openReplay, type Replayed } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedMemory } from '../../src-main/lethe/rules/replay-ops.ts';
import { insertRef } from '../../src-main/lethe/tables/refs.ts';
import type { PinnedWithheld } from '../../src-main/lethe/withheld.ts';
import { changesetIdSchema, type RefName, timestampSchema } from '../../src-preload/contract/ids.ts';
import { refName } from '../support/history-builder.ts';
import { type HistoryStore, historyProject, openHistoryStore } from './history-store.ts';
import { howMany } from './how-many.ts';
import { type Random, seededRandom } from './random.ts';
import { growHistory } from './random-history.ts';

const histories = howMany(120);
const chunks = 6;
const epochMs = 1_800_000_000_000;
const work = refName('refs/topics/work');

describe.each(Array.from({ length: chunks }, (_, chunk) => chunk))('random questions, part %i', (chunk) => {
  test('L105 L106 L107 L210 L213 L214 a context and what it leaves out equal a plain scan of a replay', () => {
    for (let seed = chunk; seed < histories; seed += chunks) checkSeed(seed);
  }, 60_000);
});

function checkSeed(seed: number): void {
  const random = seededRandom(seed + 7_000);
  const store = openHistoryStore({ pageEvery: 2 + random.below(9), pageSize: 1 + random.below(8), scanMax: 20 });
  try {
    growHistory(store, random, 30 + random.below(30));
    const replay = openReplay(store.history);
    for (let question = 0; question < 6; question += 1) {
      const head = random.pick([...store.history.keys()]);
      const ref = refName(`${work}-${question}`);
      const at = timestampSchema.parse('2027-01-15T08:00:00Z');
      const principal = 'principal_00000000000000aa';
      insertRef(store.db, {
        ...{ projectId: historyProject, refName: ref, headSeq: head, isProtected: false, createdAt: at, principal },
      });
      checkQuestion(store, random, replay.at(head), head, ref, `seed ${seed}, head ${head}`);
    }
  } finally {
    store.close();
  }
}

function checkQuestion(
  store: HistoryStore,
  random: Random,
  replayed: Replayed,
  head: number,
  ref: RefName,
  where: string,
): void {
  const recent = listRecent(replayed);
  const withheld: ReadonlySet<string> = new Set(
    recent.filter(() => random.chance(0.15)).map(({ memoryId }) => memoryId),
  );
  const filter = randomFilter(store, random, replayed);
  const keeps = (memory: ReplayedMemory): boolean => !withheld.has(memory.memoryId) && passes(store, filter, memory);
  const kept = recent.filter(keeps).map(({ memoryId }) => memoryId);
  const limit = 1 + random.below(8);
  const read = (more: Partial<ContextInput>, bounds = {}) =>
    readContext(
      store.db,
      {
        ...{
          projectId: historyProject,
          refName: ref,
          headChangesetId: changesetIdSchema.parse(store.idOf(head)),
          limit,
        },
        ...filter,
        ...more,
      },
      { bounds, pinned: { conflictIds: [], withheld: pinnedOf(random, withheld) } },
    );

  // Not below what one recency page holds: a walk gets on only from one page to the next.
  const bounds = random.chance(0.5) ? {} : { scanMax: 24 + random.below(12), readMax: 1 + random.below(6) };
  const paged: string[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const page = read({ cursor }, bounds);
    expect(page.total_active, where).toBe(recent.length - withheld.size);
    expect(page.withheld_total ?? 0, where).toBe(withheld.size);
    paged.push(...page.memories.map((memory) => memory.memory_id));
    cursor = page.next_cursor;
  }
  expect(paged, `${where} ${JSON.stringify(filter)}`).toEqual(kept);

  const shown: readonly string[] = read({}).memories.map((memory) => memory.memory_id);
  expect(shown, where).toEqual(kept.slice(0, limit));
  const left = new Map<string, string>();
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const page = read({ excluded: true, cursor }, { leftOutMax: 1 + random.below(20) });
    for (const [id, reason] of Object.entries(page.exclusion_reasons ?? {})) {
      expect(left.has(id), `${where} ${id} twice`).toBe(false);
      left.set(id, reason);
    }
    cursor = page.next_cursor;
  }
  const active = new Set(recent.map(({ memoryId }) => memoryId));
  const expected = new Map(
    [...replayed.memories.values()]
      .filter(({ memoryId }) => !shown.includes(memoryId))
      .map((memory) => [memory.memoryId, kindOfReason(memory, active, withheld, keeps(memory))]),
  );
  const found = new Map([...left].map(([id, reason]) => [id, kindOf(reason)]));
  expect(sorted(found), `${where} left out`).toEqual(sorted(expected));
}

const sorted = (map: ReadonlyMap<string, string>): readonly (readonly [string, string])[] =>
  [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));

/** Which of the reasons it is. */
function kindOf(reason: string): string {
  if (reason.startsWith('withheld by unresolved conflict ')) return 'withheld';
  if (reason.startsWith('left out by the filter on ')) return 'filter';
  return reason === 'outside selected context limit' ? 'limit' : 'retired';
}

function kindOfReason(
  { memoryId }: ReplayedMemory,
  active: ReadonlySet<string>,
  withheld: ReadonlySet<string>,
  isKept: boolean,
): string {
  if (!active.has(memoryId)) return 'retired';
  if (withheld.has(memoryId)) return 'withheld';
  return isKept ? 'limit' : 'filter';
}

/** The withheld memories, and some that nothing has to do with the head. */
function pinnedOf(random: Random, withheld: ReadonlySet<string>): PinnedWithheld {
  const pairs = [...withheld].map((id): [string, string] => [id, 'c'.repeat(64)]);
  return random.chance(0.3) ? [...pairs, ['nobody knows', 'd'.repeat(64)]] : pairs;
}

function randomFilter(store: HistoryStore, random: Random, replayed: Replayed): MemoryFilter {
  const moment = () => {
    const ms = epochMs + random.below(store.history.size);
    return timestampSchema.parse(new Date(ms).toISOString());
  };
  const scopes = [...replayed.memories.values()].flatMap(({ scope }) => scope ?? []);
  return {
    ...(random.chance(0.25) ? { kinds: random.chance(0.5) ? ['fact'] : ['task', 'decision'] } : {}),
    ...(random.chance(0.15) ? { tags: ['a'] } : {}),
    ...(random.chance(0.2) ? { visibilities: [random.pick(['private', 'shared', 'unspecified'])] } : {}),
    ...(random.chance(0.2) && scopes.length > 0 ? { scopes: [random.pick(scopes), 'engine'] } : {}),
    ...(random.chance(0.1) ? { trusts: ['unspecified'] } : {}),
    ...(random.chance(0.1) ? { authors: [random.pick(['principal_00000000000000aa', 'somebody'])] } : {}),
    ...(random.chance(0.2) ? { since: moment() } : {}),
    ...(random.chance(0.2) ? { until: moment() } : {}),
  };
}

/** What the filter says, spelled out over the replayed memory. */
function passes(store: HistoryStore, filter: MemoryFilter, memory: ReplayedMemory): boolean {
  const changed = [...store.history].findIndex(([, { changesetId }]) => changesetId === memory.last) + 1;
  const changedMs = epochMs + changed;
  const { kinds, tags, visibilities, scopes, authors, trusts, since, until } = filter;
  return (
    (kinds === undefined || kinds.includes(memory.kind ?? '')) &&
    (tags === undefined || tags.every((tag) => memory.tags?.includes(tag))) &&
    (visibilities === undefined || visibilities.includes(memory.visibility ?? 'unspecified')) &&
    (scopes === undefined || scopes.includes(memory.scope ?? '')) &&
    (trusts === undefined || trusts.includes('unspecified')) &&
    (authors === undefined || authors.includes('principal_00000000000000aa')) &&
    (since === undefined || changedMs >= Date.parse(since)) &&
    (until === undefined || changedMs <= Date.parse(until))
  );
}
