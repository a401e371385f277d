import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import type { ContextOptions } from '../../src-main/lethe/context.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import { excludedBytesMax, excludedPerPageMax } from '../../src-main/lethe/context-excluded.ts';
import { openAccepted } from '../../src-main/lethe/projection/accepted.ts';
import { findRetiredReason } from '../../src-main/lethe/retired-reason.ts';
import { findChangesetRow } from '../../src-main/lethe/tables/changesets.ts';
import { type TouchStatus, touchStatuses } from '../../src-main/lethe/tables/touches.ts';
import { type MemoryContext, memoryContextSchema } from '../../src-preload/contract/memory.ts';
import {
  add,
  addAs,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';
const side = 'refs/topics/side';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
});
afterEach(() => temp.remove());

function read(more: Partial<ContextInput> = {}, options: ContextOptions = {}): MemoryContext {
  const reply = readContext(
    temp.db,
    { projectId: history.project, refName: refName(work), limit: 20, ...more },
    options,
  );
  return memoryContextSchema.parse(reply);
}

/** Every page of what a question leaves out, and how many there were. */
function readAll(more: Partial<ContextInput> = {}, options: ContextOptions = {}) {
  const reasons: [string, string][] = [];
  let pages = 0;
  for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
    const reply = read({ ...more, excluded: true, cursor }, options);
    expect(reply.memories).toEqual([]);
    reasons.push(...Object.entries(reply.exclusion_reasons ?? {}));
    cursor = reply.next_cursor;
  }
  return { reasons, pages };
}

const outside = 'outside selected context limit';

describe('what a context leaves out', () => {
  test('L214 each memory that the head knows and the page does not show is listed once, with its reason, newest first', async () => {
    await history.commit(work, [
      ...['a', 'b', 'c', 'd', 'e'].map((id) => addAs(id, `text of ${id}`, { kind: 'fact' })),
      addAs('task', 'do it', { kind: 'task' }),
    ]);
    await history.commit(work, [correct('a', { content: 'better' }, 'a-2'), duplicate('b', 'c')]);
    const retired = await history.commit(work, [supersede('d'), supersede('e', { content: 'e again' }, 'e-2')]);
    await history.commit(work, [deprecate('c'), add('newest')]);
    const { reasons } = readAll({ limit: 2, kinds: ['fact'] });
    expect(read({ limit: 2, kinds: ['fact'] }).memories.map((memory) => memory.memory_id)).toEqual(['c', 'a-2']);
    const { changeset_id: id } = retired;
    const newest = read().memories.find(({ content }) => content === 'newest')?.memory_id ?? '';
    expect(reasons).toEqual([
      [newest, 'left out by the filter on kinds'],
      ['e-2', 'left out by the filter on kinds'],
      ['e', `superseded at ${id}`],
      ['d', `superseded at ${id}`],
      ['b', 'duplicate of c'],
      ['a', 'corrected by a-2'],
      ['task', 'left out by the filter on kinds'],
    ]);
    // Without the filter nothing but the limit and the retirements is left.
    expect(new Map(readAll({ limit: 2 }).reasons)).toEqual(
      new Map([
        ['a-2', outside],
        ['e-2', outside],
        ['task', outside],
        ['a', 'corrected by a-2'],
        ['b', 'duplicate of c'],
        ['d', `superseded at ${id}`],
        ['e', `superseded at ${id}`],
      ]),
    );
  });

  test('L214 a plain context lists none of it and says how many are active', async () => {
    await history.commit(work, [addAs('a', 'one'), addAs('b', 'two'), addAs('c', 'three')]);
    await history.commit(work, [supersede('a')]);
    const reply = read({ limit: 1 });
    expect(reply).not.toHaveProperty('exclusion_reasons');
    expect([reply.total_active, reply.memories.length]).toEqual([2, 1]);
  });

  test('L214 pages put together are the whole, over branches that were merged and not over others', async () => {
    await history.branch(side, work);
    await history.branch('refs/topics/other', work);
    await history.commit('refs/topics/other', [addAs('elsewhere', 'unseen')]);
    for (let step = 0; step < 30; step += 1) {
      await history.commit(work, [addAs(`w${step}`, `work ${step}`), add(`and ${step}`)]);
      await history.commit(side, [addAs(`s${step}`, `side ${step}`)]);
      if (step % 3 === 0) await history.commit(side, [supersede(`s${step}`)]);
      if (step % 4 === 0) await history.commit(work, [correct(`w${step}`, { content: 'changed' })]);
    }
    await history.mergeInto(work, side);
    await history.branch('refs/topics/newer', work);
    await history.commit('refs/topics/newer', [supersede('w1')]);
    const whole = readAll({ limit: 3 });
    expect(whole.pages).toBe(1);
    expect(whole.reasons).toHaveLength(30 * 3 - 3);
    expect(whole.reasons.filter(([, reason]) => reason !== outside)).toHaveLength(10);
    expect(new Set(whole.reasons.map(([id]) => id)).size).toBe(whole.reasons.length);
    for (const leftOutMax of [1, 7, 64]) {
      const paged = readAll({ limit: 3 }, { bounds: { leftOutMax } });
      expect(paged.reasons).toEqual(whole.reasons);
      expect(paged.pages).toBeGreaterThan(1);
    }
  });

  test('L214 a page holds a hundred reasons at most, and 24 576 bytes of them', async () => {
    for (let step = 0; step < 5; step += 1)
      await history.commit(
        work,
        Array.from({ length: 50 }, (_, index) => add(`memory ${step} ${index}`)),
      );
    const first = read({ limit: 5, excluded: true });
    expect(Object.keys(first.exclusion_reasons ?? {})).toHaveLength(excludedPerPageMax);
    expect(readAll({ limit: 5 })).toMatchObject({ pages: 3 });
    const long = 'x'.repeat(1_000);
    await history.commit(
      work,
      Array.from({ length: 60 }, (_, index) => addAs(`${long}${index}`, 'long name')),
    );
    const bytes = Buffer.byteLength(JSON.stringify(read({ limit: 1, excluded: true }).exclusion_reasons));
    expect(bytes).toBeGreaterThan(excludedBytesMax - 2_000);
    expect(bytes).toBeLessThan(excludedBytesMax + 2_000);
  });

  test('L214 a cursor pins head and question, and is no cursor of the context itself', async () => {
    await history.commit(
      work,
      Array.from({ length: 120 }, (_, index) => add(`memory ${index}`)),
    );
    const { next_cursor: cursor, head_changeset_id: head } = read({ limit: 5, excluded: true });
    await history.commit(work, [add('later')]);
    const second = read({ limit: 5, excluded: true, cursor });
    expect([second.head_changeset_id, Object.keys(second.exclusion_reasons ?? {}).length]).toEqual([head, 15]);
    for (const other of [{ limit: 6 }, { query: 'memory' }, { scopes: ['desk'] }, { excluded: false }])
      expect(() => read({ limit: 5, excluded: true, ...other, cursor })).toThrow(
        expect.objectContaining({ code: 'CURSOR_INVALID' }),
      );
  });

  test('L214 states that no client can make, as an import may, have a reason too', async () => {
    const made = await history.commit(work, [addAs('a', 'text')]);
    const accepted = openAccepted(temp.db);
    const key = (findChangesetRow(temp.db, made.changeset_id)?.seq ?? 0) * 65_536;
    const reasonOf = (status: TouchStatus) =>
      findRetiredReason(temp.db, accepted, { memory: key, key, chain: 1, version: key, status, linked: undefined });
    expect(touchStatuses.map((status) => [status, reasonOf(status)])).toEqual([
      ['blank', 'its content is blank'],
      ['active', undefined],
      ['corrected', 'corrected'],
      ['superseded', `superseded at ${made.changeset_id}`],
      ['duplicate', 'duplicate of another memory'],
      ['deprecation_proposed', undefined],
      ['deprecation_blank', 'its content is blank'],
      ['deprecation_retired', 'retired before its deprecation was proposed'],
    ]);
  });

  test('L214 the rows of a page do not grow with the history', async () => {
    const rowsAfter = async (steps: number): Promise<number> => {
      for (let step = 0; step < steps; step += 1)
        await history.commit(work, [add(`memory ${step}`), addAs(`gone ${steps} ${step}`, 'gone')]);
      const before = temp.db.counters.rowsRead;
      read({ limit: 5, excluded: true }, { bounds: { leftOutMax: 40 } });
      return temp.db.counters.rowsRead - before;
    };
    const few = await rowsAfter(60);
    expect(Math.abs((await rowsAfter(300)) - few)).toBeLessThan(few / 4);
  });

  test('L214 a list of what is left out is not pinned', async () => {
    const pin = { projectId: history.project, refName: refName(work), limit: 1, excluded: true };
    await expect(temp.lethe.pinContext(pin)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'excluded' },
    });
  });
});
