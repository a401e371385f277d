import { afterEach, beforeEach, expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { mainRefName, memoryIdSchema, refNameSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import {
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  type TempLethe,
} from '../support/history-builder.ts';
import { type LegacyEvent, writeLegacyEvents } from '../support/legacy-events.ts';

const [left, right] = ['refs/topics/left', 'refs/topics/right'];
const created_at = '2026-11-01T00:00:00Z';
let temp: TempLethe;

beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

async function projectOf(events: readonly LegacyEvent[], name = 'demo'): Promise<HistoryBuilder> {
  writeLegacyEvents(
    temp.db,
    events.map((event) => ({ project_id: name, ...event })),
  );
  const history = historyBuilder(temp, name);
  await history.init();
  return history;
}

test('L241 what both sides make of a baseline memory is a conflict, and a merge that decides lands', async () => {
  const history = await projectOf([{ event_id: 'b', created_at, content: 'the port is 1' }]);
  await history.branch(left);
  await history.branch(right);
  const base = history.head(left);
  await history.commit(left, [correct('b', { content: 'the port is 2' })]);
  await history.commit(right, [correct('b', { content: 'the port is 3' })]);
  const [found, ...others] = temp.lethe.detectConflicts({
    ...{ projectId: history.project, baseChangesetId: base },
    ...{ leftChangesetId: history.head(left), rightChangesetId: history.head(right) },
  });
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    conflict_type: 'concurrent_edit',
    details: { memory_ids: ['b'], base: { content: 'the port is 1', source: 'legacy_event', source_event_id: 'b' } },
  });
  await expect(history.mergeInto(left, right)).rejects.toMatchObject({ code: 'BOTH_SIDES_TOUCHED' });
  await history.mergeInto(left, right, [correct('b', { content: 'the port is 4' })]);
  const memoryId = memoryIdSchema.parse('b');
  const input = { projectId: history.project, memoryId, headChangesetId: history.head(left), limit: 9 };
  expect(temp.lethe.getMemory(input).memory).toMatchObject({ content: 'the port is 4', source_event_id: 'b' });
  expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
});

test('L241 a correction restores a memory to what its event said', async () => {
  const history = await projectOf([{ event_id: 'a', created_at, tags: '["t"]', confidence: 0.25 }]);
  await history.branch(left);
  await history.branch(right);
  const root = history.head(right);
  await history.commit(left, [correct('a', { content: 'otherwise', tags: [], confidence: 1 })]);
  const restored = await history.commit(right, [correct('a', { content: 'elsewhere' })]);
  await history.mergeInto(left, right, [correct('a', { restores: root })], { mayRestore: true });
  const input = {
    projectId: history.project,
    memoryId: memoryIdSchema.parse('a'),
    headChangesetId: history.head(left),
    limit: 9,
  };
  expect(restored).toBeDefined();
  expect(temp.lethe.getMemory(input).memory).toMatchObject({
    ...{
      content: 'content of a',
      tags: ['t'],
      confidence: 0.25,
      event_type: 'log',
      scope: 'demo',
      source_event_id: 'a',
    },
  });
  expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
});

test('L240 there is no state before the root, whatever the events are of', async () => {
  const history = await projectOf([{ event_id: 'a', created_at }]);
  const at = (moment: string) =>
    temp.lethe.context({
      projectId: history.project,
      refName: mainRefName,
      at: timestampSchema.parse(moment),
      limit: 5,
    });
  expect(at('2026-11-30T12:00:00Z').total_active).toBe(1);
  expect(() => at('2026-11-15T00:00:00Z')).toThrow(expect.objectContaining({ code: 'STATE_NOT_FOUND' }));
});

test('L240 a pinned context of a baseline reads as it was, whatever is said later', async () => {
  const history = await projectOf([
    { event_id: 'a', created_at },
    { event_id: 'b', created_at },
  ]);
  await history.branch(left);
  const pinned = await temp.lethe.pinContext({
    projectId: history.project,
    refName: refNameSchema.parse(left),
    limit: 9,
  });
  writeLegacyEvents(temp.db, [{ event_id: 'c', created_at }]);
  await history.commit(left, [correct('a', { content: 'later' }), addAs('c', 'named later')]);
  const { manifest_id: id } = pinned;
  expect(id).toBeDefined();
  if (id !== undefined) expect(temp.lethe.manifestContext(history.project, id)).toEqual(pinned);
});

test('L243 a page and a memory read as many rows over 10 000 events as over 1 000', { timeout: 60_000 }, async () => {
  const costs = [];
  for (const count of [1_000, 10_000]) {
    const name = `p${count}`;
    const history = await projectOf(
      Array.from({ length: count }, (_, index) => ({
        event_id: `${name}-${String(index).padStart(6, '0')}`,
        created_at: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
      })),
      name,
    );
    await history.branch(left);
    await history.commit(left, [correct(`${name}-000500`, { content: 'changed' })]);
    const input = { projectId: history.project, refName: refNameSchema.parse(left), limit: 20 };
    const memory = { projectId: history.project, headChangesetId: history.head(left), limit: 5 };
    const costOf = (work: () => unknown): number => {
      const before = temp.db.counters.rowsRead;
      work();
      return temp.db.counters.rowsRead - before;
    };
    costs.push([
      costOf(() => readContext(temp.db, input)),
      costOf(() => readMemory(temp.db, { ...memory, memoryId: memoryIdSchema.parse(`${name}-000500`) })),
      costOf(() => readMemory(temp.db, { ...memory, memoryId: memoryIdSchema.parse(`${name}-000007`) })),
    ]);
  }
  expect(costs[1]).toEqual(costs[0]);
});
