import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import { readContext } from '../../src-main/lethe/context.ts';
import { selectHead } from '../../src-main/lethe/head.ts';
import { memoryContextSchema } from '../../src-preload/contract/memory.ts';
import {
  add,
  addAs,
  changesetId,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const main = 'refs/topics/work';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(main);
});
afterEach(() => temp.remove());

function context(more: Partial<ContextInput> = {}): ReturnType<typeof readContext> {
  const reply = readContext(temp.db, { projectId: history.project, refName: refName(main), limit: 20, ...more });
  expect(memoryContextSchema.parse(reply)).toEqual(reply);
  return reply;
}

function contents(reply: ReturnType<typeof readContext>): readonly string[] {
  return reply.memories.map((memory) => memory.content);
}

function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

describe('which head', () => {
  test('L100 a named head is read as it was, a later one of the ref by default', async () => {
    const first = await history.commit(main, [addAs('m', 'before')]);
    await history.commit(main, [correct('m', { content: 'after' })]);
    expect(contents(context())).toEqual(['after']);
    const then = context({ headChangesetId: first.changeset_id });
    expect(contents(then)).toEqual(['before']);
    expect(then.head_changeset_id).toBe(first.changeset_id);
  });

  test('L100 a head that the ref does not contain is refused', async () => {
    await history.branch('refs/topics/other', main);
    const elsewhere = await history.commit('refs/topics/other', [add('elsewhere')]);
    expect(faultOf(() => context({ headChangesetId: elsewhere.changeset_id }))).toMatchObject({
      code: 'HEAD_NOT_REACHABLE',
    });
  });

  test('L100 unknown refs, unknown heads and a head together with a moment are refused', async () => {
    const { changeset_id: head } = await history.commit(main, [add('one')]);
    expect(faultOf(() => context({ refName: refName('refs/topics/nowhere') }))).toMatchObject({
      code: 'REF_NOT_FOUND',
    });
    const unknown = head.replace(/^.{8}/, 'ffffffff');
    expect(
      faultOf(() =>
        selectHead(temp.db, {
          projectId: history.project,
          refName: refName(main),
          headChangesetId: changesetId(unknown),
        }),
      ),
    ).toMatchObject({
      code: 'CHANGESET_NOT_FOUND',
    });
    expect(faultOf(() => context({ headChangesetId: head, at: toTimestamp(temp.clock.nowMs()) }))).toMatchObject({
      code: 'INPUT_INVALID',
    });
  });

  test('L100 a moment is read as the ref stood then; before there was anything it is refused', async () => {
    const created = temp.clock.nowMs();
    temp.clock.advance(60_000);
    await history.commit(main, [add('at one minute')]);
    temp.clock.advance(60_000);
    await history.commit(main, [add('at two minutes')]);
    const at = (ms: number): readonly string[] => contents(context({ at: toTimestamp(created + ms) }));
    expect(at(0)).toEqual([]);
    expect(at(60_000)).toEqual(['at one minute']);
    expect(at(119_999)).toEqual(['at one minute']);
    expect(at(120_000)).toEqual(['at two minutes', 'at one minute']);
    expect(faultOf(() => at(-1))).toMatchObject({ code: 'STATE_NOT_FOUND' });
  });

  test('L100 a moment before a ref was created is read on the line that it was created from', async () => {
    const created = temp.clock.nowMs();
    temp.clock.advance(1_000);
    await history.commit(main, [add('early')]);
    temp.clock.advance(1_000);
    await history.commit(main, [add('late')]);
    temp.clock.advance(1_000);
    await history.branch('refs/topics/later', main);
    const reply = context({ refName: refName('refs/topics/later'), at: toTimestamp(created + 1_500) });
    expect(contents(reply)).toEqual(['early']);
  });
});

describe('order and filters', () => {
  test('L94 the most recently touched comes first, what is retired not at all, and all are counted', async () => {
    await history.commit(main, [addAs('a', 'alpha'), addAs('b', 'beta'), addAs('c', 'gamma')]);
    await history.commit(main, [correct('a', { content: 'alpha, corrected' }), supersede('b')]);
    const reply = context({ limit: 1 });
    expect(contents(reply)).toEqual(['alpha, corrected']);
    expect(reply.total_active).toBe(2);
    expect(reply.inclusion_reasons).toEqual({ a: 'most recent active accepted memory' });
    expect(reply.exclusion_reasons).toBeUndefined();
  });

  test('L94 what a merge brings in is more recent than the line it is merged into', async () => {
    await history.branch('refs/topics/side', main);
    await history.commit('refs/topics/side', [add('from the side')]);
    await history.commit(main, [add('on the line, made later')]);
    await history.mergeInto(main, 'refs/topics/side');
    expect(contents(context())).toEqual(['from the side', 'on the line, made later']);
  });

  test('L102 matches of a query come first, by score and then by recency, with their score as the reason', async () => {
    await history.commit(main, [
      addAs('one', 'green tea'),
      addAs('two', 'green tea and black tea pots'),
      addAs('three', 'coffee'),
      addAs('four', 'black coffee'),
    ]);
    const reply = context({ query: 'black tea' });
    expect(reply.memories.map((memory) => memory.memory_id)).toEqual(['two', 'four', 'one', 'three']);
    expect(reply.inclusion_reasons).toEqual({
      two: 'query relevance score 2',
      four: 'query relevance score 1',
      one: 'query relevance score 1',
      three: 'most recent active accepted memory',
    });
  });

  test('L102 equal scores stand in replay order across a merge', async () => {
    await history.branch('refs/topics/side', main);
    await history.commit('refs/topics/side', [add('tea from the side')]);
    await history.commit(main, [add('tea on the line, made later')]);
    await history.mergeInto(main, 'refs/topics/side');
    expect(contents(context({ query: 'tea' }))).toEqual(['tea from the side', 'tea on the line, made later']);
  });

  test('L105 kinds and tags keep what has one of the kinds and every tag, with and without a query', async () => {
    await history.commit(main, [
      addAs('fact', 'tea is hot', { kind: 'fact', tags: ['tea', 'kitchen'] }),
      addAs('task', 'make tea', { kind: 'task', tags: ['tea'] }),
      addAs('plain', 'tea'),
    ]);
    const ids = (more: Partial<ContextInput>): readonly string[] =>
      context(more).memories.map((memory) => memory.memory_id);
    for (const query of [undefined, 'tea', 'nothing has this']) {
      expect(ids({ query, kinds: ['fact', 'task'] })).toEqual(['task', 'fact']);
      expect(ids({ query, tags: ['tea', 'kitchen'] })).toEqual(['fact']);
      expect(ids({ query, kinds: ['task'], tags: ['kitchen'] })).toEqual([]);
    }
  });
});

describe('pages', () => {
  test.each([{ query: undefined }, { query: 'even' }, { query: 'memory' }, { query: undefined, kinds: ['fact'] }])(
    'L106 pages of %o put together are the whole',
    async (question) => {
      for (let step = 0; step < 6; step += 1) {
        await history.commit(
          main,
          Array.from({ length: 4 }, (_, n) =>
            add(`memory ${step}.${n} ${n % 2 === 0 ? 'even' : 'odd'}`, n < 3 ? { kind: 'fact' } : {}),
          ),
        );
      }
      const whole = contents(context({ ...question, limit: 100 }));
      expect(whole.length).toBe(question.kinds === undefined ? 24 : 18);
      for (const limit of [1, 5, 7, 24]) {
        const paged: string[] = [];
        for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
          const reply = context({ ...question, limit, cursor });
          expect(reply.memories.length).toBe(Math.min(limit, whole.length - paged.length));
          paged.push(...contents(reply));
          cursor = reply.next_cursor;
        }
        expect(paged).toEqual(whole);
      }
    },
  );

  test('L106 a cursor pins the head that the first page saw', async () => {
    await history.commit(main, [add('one'), add('two'), add('three')]);
    const first = context({ limit: 2 });
    await history.commit(main, [add('four')]);
    const second = context({ limit: 2, cursor: first.next_cursor });
    expect([...contents(first), ...contents(second)]).toEqual(['three', 'two', 'one']);
    expect(second.head_changeset_id).toBe(first.head_changeset_id);
    expect(second.next_cursor).toBeUndefined();
  });

  test('L106 a cursor is refused with another question, another head or another form', async () => {
    const { changeset_id: early } = await history.commit(main, [add('one'), add('two')]);
    await history.commit(main, [add('three')]);
    const { next_cursor: cursor } = context({ limit: 1 });
    for (const more of [
      { query: 'one' },
      { kinds: ['fact'] },
      { headChangesetId: early },
      { refName: refName('refs/shared/main') },
    ]) {
      expect(faultOf(() => context({ ...more, cursor }))).toMatchObject({ code: 'CURSOR_INVALID' });
    }
    expect(faultOf(() => context({ cursor: 'nonsense' }))).toMatchObject({ code: 'CURSOR_INVALID' });
    const forged = { ...JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString()), after: 99 * 65_536 };
    expect(faultOf(() => context({ cursor: Buffer.from(JSON.stringify(forged)).toString('base64url') }))).toMatchObject(
      { code: 'CURSOR_INVALID' },
    );
  });

  test('L107 a page that has spent its bound is short and goes on where it stopped', async () => {
    await history.commit(main, [addAs('wanted', 'the only fact', { kind: 'fact' })]);
    for (let step = 0; step < 10; step += 1) await history.commit(main, [add(`filler ${step}`)]);
    const bounds = { scanMax: 6, readMax: 4 };
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
      const reply = readContext(
        temp.db,
        { projectId: history.project, refName: refName(main), limit: 5, kinds: ['fact'], cursor },
        { bounds },
      );
      found.push(...contents(reply));
      cursor = reply.next_cursor;
    }
    expect(found).toEqual(['the only fact']);
    expect(pages).toBeGreaterThan(2);
  });
});
