import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MemoryAnswer } from '../../src-main/lethe/memory.ts';
import { type MemoryPage, readCheckedMemory } from '../support/checked-reads.ts';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
});
afterEach(() => temp.remove());

const get = (memoryId: string, more: Partial<MemoryPage> = {}) =>
  readCheckedMemory(temp, history, memoryId, { head: history.head(work), ...more });

function told(answer: MemoryAnswer): readonly unknown[] {
  return answer.lineage.map((step) => [
    step.op_type,
    step.memory_id,
    step.before?.content ?? null,
    step.after?.content ?? null,
  ]);
}

function codeOf(run: () => unknown): unknown {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
}

describe('one memory', () => {
  test('L91 L92 a correction replaces what it names and keeps the rest; empty texts clear nothing', async () => {
    const added = await history.commit(work, [
      addAs('m', 'before', { kind: 'fact', scope: 'desk', tags: ['a', 'b'], confidence: 0.5, subject: 's' }),
    ]);
    const corrected = await history.commit(work, [correct('m', { content: 'after', tags: ['c'], confidence: 0 })]);
    expect(get('m').memory).toEqual({
      memory_id: 'm',
      content: 'after',
      kind: 'fact',
      scope: 'desk',
      tags: ['c'],
      confidence: 0,
      status: 'active',
      source: 'memory_git',
      introduced_changeset_id: added.changeset_id,
      last_changeset_id: corrected.changeset_id,
      payload: { content: 'after', kind: 'fact', scope: 'desk', tags: ['c'], confidence: 0, subject: 's' },
    });
  });

  test('L103 a memory is shown at the head as it was there, retired ones with their status', async () => {
    const added = await history.commit(work, [addAs('m', 'here')]);
    await history.commit(work, [supersede('m')]);
    expect(get('m', { head: added.changeset_id }).memory.status).toBe('active');
    expect(get('m').memory).toMatchObject({
      status: 'superseded',
      content: 'here',
      last_changeset_id: added.changeset_id,
    });
  });

  test('L103 a memory that the head has never known is refused, known elsewhere or not', async () => {
    await history.branch('refs/topics/other', work);
    await history.commit('refs/topics/other', [addAs('elsewhere', 'on another branch')]);
    for (const id of ['elsewhere', 'never', 'mem:00000000-0000-7000-8000-000000000000:0']) {
      expect(codeOf(() => get(id))).toMatchObject({ code: 'MEMORY_NOT_FOUND' });
    }
  });

  test('L80 an id of the store is read from itself, and one that a caller chose is never taken for it', async () => {
    const made = await history.commit(work, [add('first'), addAs('chosen', 'second')]);
    expect(get(memoryIdOf(made, 0)).memory.content).toBe('first');
    expect(get('chosen').memory.content).toBe('second');
    expect(codeOf(() => get(memoryIdOf(made, 1)))).toMatchObject({ code: 'MEMORY_NOT_FOUND' });
  });

  test('L103 a head of another project is unknown here', async () => {
    const other = historyBuilder(temp, 'other', 'principal_00000000000000b2');
    const { changeset_id: head } = await other.init();
    expect(codeOf(() => get('m', { head }))).toMatchObject({ code: 'CHANGESET_NOT_FOUND' });
  });
});

describe('lineage', () => {
  test('L104 it follows new ids and replacements both ways, oldest first, with the state before and after', async () => {
    await history.commit(work, [addAs('a', 'one'), addAs('bystander', 'not of it')]);
    await history.commit(work, [correct('a', { content: 'two' })]);
    await history.commit(work, [correct('a', { content: 'three' }, 'b')]);
    await history.commit(work, [supersede('b', { content: 'four' }, 'c')]);
    await history.commit(work, [supersede('c')]);
    const whole = [
      ['add_memory', 'a', null, 'one'],
      ['correct_memory', 'a', 'one', 'two'],
      ['correct_memory', 'b', 'two', 'three'],
      ['supersede_memory', 'c', 'three', 'four'],
      ['supersede_memory', 'c', 'four', null],
    ];
    for (const id of ['a', 'b', 'c']) expect(told(get(id))).toEqual(whole);
  });

  test('L104 what another branch did is not told', async () => {
    await history.commit(work, [addAs('a', 'one')]);
    await history.branch('refs/topics/other', work);
    await history.commit('refs/topics/other', [correct('a', { content: 'elsewhere' }, 'moved')]);
    await history.commit(work, [correct('a', { content: 'here' })]);
    expect(told(get('a'))).toEqual([
      ['add_memory', 'a', null, 'one'],
      ['correct_memory', 'a', 'one', 'here'],
    ]);
  });

  test('L104 each step says who did it, and why', async () => {
    await history.commit(work, [addAs('a', 'one')], { actorId: 'scribe', model: 'a-model', message: 'because' });
    expect(get('a').lineage[0]).toMatchObject({
      author_principal: 'principal_00000000000000a1',
      actor_id: 'scribe',
      model: 'a-model',
      message: 'because',
      ordinal: 0,
    });
  });

  test('L106 pages of a lineage put together are the whole', async () => {
    await history.commit(work, [addAs('a', 'start')]);
    for (let step = 0; step < 9; step += 1) await history.commit(work, [correct('a', { content: `step ${step}` })]);
    await history.commit(work, [correct('a', { content: 'moved' }, 'b')]);
    for (let step = 0; step < 4; step += 1) await history.commit(work, [correct('b', { content: `later ${step}` })]);
    const whole = told(get('a'));
    expect(whole).toHaveLength(15);
    for (const limit of [1, 2, 4, 14, 15]) {
      const paged: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = get('a', { limit, cursor });
        expect(page.lineage.length).toBeLessThanOrEqual(limit);
        paged.push(...told(page));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole);
    }
    expect(codeOf(() => get('b', { cursor: get('a', { limit: 2 }).nextCursor }))).toMatchObject({
      code: 'CURSOR_INVALID',
    });
  });
});
