import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import type { ContextInput, SearchInput } from '../../src-main/lethe/api.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import { findFailingPart, type MemoryFilter, pinnedFilter, trustOf } from '../../src-main/lethe/rules/memory-filter.ts';
import { type MemoryContext, memoryFilterParts, memoryFilterShape } from '../../src-preload/contract/memory.ts';
import {
  add,
  addAs,
  attachEvidence,
  correct,
  fakeEpochMs,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';
const alice = 'principal_00000000000000a1';
const bob = 'principal_00000000000000b1';
const minute = 60_000;
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
});
afterEach(() => temp.remove());

const moment = (ms: number) => toTimestamp(fakeEpochMs + ms);

function context(more: Partial<ContextInput> = {}): MemoryContext {
  return temp.lethe.context({ projectId: history.project, refName: refName(work), limit: 20, ...more });
}

function inContext(filter: MemoryFilter, query?: string): readonly string[] {
  return context({ ...filter, query }).memories.map((memory) => memory.memory_id);
}

function inSearch(filter: MemoryFilter, more: Partial<SearchInput> = {}): readonly string[] {
  const input = { projectId: history.project, refName: refName(work), query: 'tea', limit: 20, ...filter, ...more };
  return temp.lethe.search(input).matches.map(({ memory }) => memory.memory_id);
}

/** Five memories that speak of tea, each a minute after the one before, of two authors. */
async function fill(): Promise<void> {
  const memories = [
    ['green', { kind: 'fact', visibility: 'shared', scope: 'kitchen', approval: 'user_approved' }, alice],
    ['black', { kind: 'fact', visibility: 'private', scope: 'office', source_trust: 'inference' }, bob],
    ['white', { kind: 'task', visibility: 'shared', scope: 'office', tags: ['later', 'leaf'] }, alice],
    ['mint', { kind: 'task', tags: ['leaf'] }, bob],
    ['iced', { approval: 'user_approved', visibility: 'public' }, alice],
  ] as const;
  for (const [id, payload, authorPrincipal] of memories) {
    temp.clock.advance(minute);
    const { source_trust: trust, tags, ...own } = { source_trust: undefined, tags: undefined, ...payload };
    await history.commit(work, [addAs(id, `tea, ${id}`, { ...own, ...(tags && { tags: [...tags] }) })], {
      authorPrincipal,
    });
    if (trust !== undefined) await history.commit(work, [correct(id, { source_trust: trust })], { authorPrincipal });
  }
}

const questions: readonly (readonly [MemoryFilter, readonly string[]])[] = [
  [{}, ['iced', 'mint', 'white', 'black', 'green']],
  [{ visibilities: ['shared'] }, ['white', 'green']],
  [{ visibilities: ['shared', 'private'] }, ['white', 'black', 'green']],
  [{ visibilities: ['unspecified'] }, ['mint']],
  [{ scopes: ['office'] }, ['white', 'black']],
  [{ scopes: ['offic'] }, []],
  [{ authors: [bob] }, ['mint', 'black']],
  [{ authors: [alice, bob] }, ['iced', 'mint', 'white', 'black', 'green']],
  [{ trusts: ['user_approved'] }, ['iced', 'green']],
  [{ trusts: ['inference'] }, ['black']],
  [{ trusts: ['unspecified'] }, ['mint', 'white']],
  [{ since: moment(3 * minute) }, ['iced', 'mint', 'white']],
  [{ until: moment(3 * minute) }, ['white', 'black', 'green']],
  [{ since: moment(2 * minute), until: moment(4 * minute - 1) }, ['white', 'black']],
  [{ kinds: ['task'], tags: ['leaf'], authors: [alice] }, ['white']],
  [{ visibilities: [], scopes: [], authors: [], trusts: [] }, ['iced', 'mint', 'white', 'black', 'green']],
];

describe('filters', () => {
  test('L210 each part keeps what has one of its values, in a context with and without a query and in a search', async () => {
    await fill();
    for (const [filter, kept] of questions) {
      const asked = JSON.stringify(filter);
      expect([asked, inContext(filter)]).toEqual([asked, kept]);
      expect([asked, [...inContext(filter, 'tea')]]).toEqual([asked, kept]);
      expect([asked, [...inContext(filter, 'nothing has this')]]).toEqual([asked, kept]);
      expect([asked, [...inSearch(filter)].sort()]).toEqual([asked, [...kept].sort()]);
    }
    while (await temp.lethe.maintain());
    for (const [filter, kept] of questions) {
      expect(inContext(filter, 'tea')).toEqual(kept);
      expect([...inSearch(filter)].sort()).toEqual([...kept].sort());
    }
    expect(context({ scopes: ['office'] }).total_active).toBe(5);
  });

  test('L210 what a later changeset changed is filtered by that one; what only retires or relates changes nothing', async () => {
    await fill();
    temp.clock.advance(minute);
    await history.commit(
      work,
      [attachEvidence('green', { note: 'seen' }), correct('white', { visibility: 'public' })],
      {
        authorPrincipal: bob,
      },
    );
    expect(inContext({ authors: [bob] })).toEqual(['white', 'green', 'mint', 'black']);
    expect(inContext({ since: moment(6 * minute) })).toEqual(['white', 'green']);
    expect(inContext({ visibilities: ['public'] })).toEqual(['white', 'iced']);
    await history.commit(work, [supersede('black')], { authorPrincipal: alice });
    expect(inContext({ authors: [alice] })).toEqual(['iced']);
  });

  test('L210 a filter is read as of the head: an old one shows what it said then', async () => {
    await fill();
    const before = history.head(work);
    await history.commit(work, [correct('mint', { scope: 'garden' })], { authorPrincipal: alice });
    expect(inContext({ scopes: ['garden'] })).toEqual(['mint']);
    expect(context({ scopes: ['garden'], headChangesetId: before }).memories).toEqual([]);
    expect(inSearch({ scopes: ['garden'] }, { headChangesetId: before })).toEqual([]);
  });

  test('L211 trust is the approval, else the trust of the source, else unspecified', () => {
    expect(trustOf({ approval: 'user_approved', source_trust: 'inference' })).toBe('user_approved');
    expect(trustOf({ source_trust: 'inference' })).toBe('inference');
    expect(trustOf({ approval: '', source_trust: 'tool' })).toBe('tool');
    for (const payload of [undefined, {}, { approval: 7 }, { approval: null }])
      expect(trustOf(payload)).toBe('unspecified');
  });

  test('L210 the first part that fails is named, and every part of the contract is one', () => {
    expect(Object.keys(memoryFilterShape)).toEqual([...memoryFilterParts]);
    const state = { content: 'x', kind: 'fact', scope: 'desk' };
    const failing = (filter: MemoryFilter) => findFailingPart(filter, state, () => undefined);
    expect(failing({ kinds: ['fact'], scopes: ['desk'] })).toBeUndefined();
    expect(failing({ scopes: ['bed'], kinds: ['task'] })).toBe('kinds');
    expect(failing({ scopes: ['bed'] })).toBe('scopes');
    // What no changeset changed is of no author and of no time.
    for (const filter of [{ authors: [alice] }, { since: moment(0) }, { until: moment(0) }])
      expect(failing(filter)).toBe(Object.keys(filter)[0]);
    expect(pinnedFilter({ kinds: [], tags: ['a'], since: moment(0) })).toEqual({ tags: ['a'], since: moment(0) });
  });
});

describe('pages', () => {
  test('L212 a cursor pins every part of the filter, of a context and of a search', async () => {
    await fill();
    const filter = { trusts: ['unspecified', 'user_approved'], authors: [alice, bob], until: moment(99 * minute) };
    const first = context({ ...filter, limit: 1 });
    const rest = context({ ...filter, limit: 20, cursor: first.next_cursor });
    expect([...first.memories, ...rest.memories].map(({ memory_id: id }) => id)).toEqual([
      'iced',
      'mint',
      'white',
      'green',
    ]);
    const found = temp.lethe.search({
      ...{ projectId: history.project, refName: refName(work), query: 'tea', limit: 1 },
      ...filter,
    });
    for (const other of [{ ...filter, trusts: ['unspecified'] }, { ...filter, authors: [bob] }, {}]) {
      expect(() => context({ ...other, cursor: first.next_cursor })).toThrow(
        expect.objectContaining({ code: 'CURSOR_INVALID' }),
      );
      expect(() => inSearch(other, { cursor: found.nextCursor })).toThrow(
        expect.objectContaining({ code: 'CURSOR_INVALID' }),
      );
    }
    expect(inSearch(filter, { cursor: found.nextCursor })).toHaveLength(3);
  });

  test('L107 a rare filter ends a page at its bound, short, and goes on from there', async () => {
    await history.commit(work, [addAs('wanted', 'rare', { scope: 'garden' })]);
    for (let step = 0; step < 10; step += 1) await history.commit(work, [add(`filler ${step}`, { scope: 'desk' })]);
    const found: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
      const before = temp.db.counters.rowsRead;
      const reply = readContext(
        temp.db,
        { projectId: history.project, refName: refName(work), limit: 5, scopes: ['garden'], cursor },
        { bounds: { scanMax: 6, readMax: 4 } },
      );
      sizes.push(temp.db.counters.rowsRead - before);
      found.push(...reply.memories.map((memory) => memory.memory_id));
      cursor = reply.next_cursor;
    }
    expect(found).toEqual(['wanted']);
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(80);
  });

  test('L212 a manifest pins the whole filter, and reads it again', async () => {
    await fill();
    const filter = {
      visibilities: ['shared'],
      scopes: ['office', 'kitchen'],
      since: moment(0),
      trusts: ['unspecified'],
    };
    const pin = (more: MemoryFilter) =>
      temp.lethe.pinContext({ projectId: history.project, refName: refName(work), limit: 5, ...filter, ...more });
    const pinned = await pin({});
    expect(pinned.memories.map((memory) => memory.memory_id)).toEqual(['white']);
    if (pinned.manifest_id === undefined) throw new Error('a pinned context has a manifest');
    expect(temp.lethe.getManifest(pinned.manifest_id)).toMatchObject(filter);
    // Another filter with the same answer is another question.
    expect((await pin({ trusts: ['unspecified', 'inference'] })).manifest_id).not.toBe(pinned.manifest_id);
    expect((await pin({})).manifest_id).toBe(pinned.manifest_id);
    await history.commit(work, [correct('white', { scope: 'garden' })]);
    expect(temp.lethe.manifestContext(history.project, pinned.manifest_id)).toEqual(pinned);
    expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
  });
});
