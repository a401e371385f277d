import { afterEach, beforeEach, expect, test } from 'vitest';
import { opsPerChangeset } from '../../src-main/lethe/rules/numbers.ts';
import { findBaseline } from '../../src-main/lethe/tables/baselines.ts';
import { mainRefName, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import type { AcceptedMemory, MemoryContext } from '../../src-preload/contract/memory.ts';
import {
  add,
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  historyBuilder,
  openTempLethe,
  relate,
  restore,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { type LegacyEvent, writeLegacyEvents } from '../support/legacy-events.ts';

const work = 'refs/topics/work';
let temp: TempLethe;

beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

function legacy(events: readonly LegacyEvent[]): void {
  writeLegacyEvents(temp.db, events);
}

const moments = [
  '2026-11-01T00:00:00Z',
  '2026-11-01T00:00:00.25Z',
  '2026-11-01T00:00:00.250000001Z',
  '2026-11-02T00:00:00Z',
];

function eventsOf(count: number): LegacyEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    event_id: `event-${String(index).padStart(6, '0')}`,
    created_at: `2026-10-01T${String(Math.floor(index / 3_600) % 24).padStart(2, '0')}:${String(Math.floor(index / 60) % 60).padStart(2, '0')}:${String(index % 60).padStart(2, '0')}Z`,
  }));
}

function contextOf(history: ReturnType<typeof historyBuilder>, limit = 100, query?: string): MemoryContext {
  return temp.lethe.context({
    projectId: history.project,
    refName: mainRefName,
    limit,
    ...(query === undefined ? {} : { query }),
  });
}

const ids = (context: MemoryContext): readonly string[] => context.memories.map(({ memory_id }) => memory_id);

function memoryAt(history: ReturnType<typeof historyBuilder>, ref: string, id: string) {
  return temp.lethe.getMemory({
    projectId: history.project,
    memoryId: memoryIdSchema.parse(id),
    headChangesetId: history.head(ref),
    limit: 50,
  });
}

async function verified(history: ReturnType<typeof historyBuilder>): Promise<void> {
  expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
}

test('L240 a root freezes the events that its project has by then, by time and id, as active memories', async () => {
  legacy([
    { event_id: 'c', created_at: moments[3] ?? '', event_type: 'task', confidence: 0.5, tags: '["x","y"]' },
    { event_id: 'b', created_at: moments[2] ?? '', event_type: 'flag', tags: 'p, q' },
    { event_id: 'a', created_at: moments[1] ?? '', event_type: 'record', confidence: 0 },
    { event_id: 'aa', created_at: moments[1] ?? '' },
    { event_id: 'z', created_at: moments[0] ?? '', event_type: 'summary' },
    { event_id: 'blank', created_at: moments[0] ?? '', content: ' ' },
    { event_id: 'elsewhere', created_at: moments[0] ?? '', project_id: 'other' },
    { event_id: 'tomorrow', created_at: '2026-11-30T12:00:00.001Z' },
  ]);
  const history = historyBuilder({ lethe: temp.lethe });
  await history.init();
  legacy([{ event_id: 'late', created_at: moments[0] ?? '' }]);
  const frozen = findBaseline(temp.db, history.project);
  expect(JSON.parse(frozen?.event_ids ?? '')).toEqual(['blank', 'z', 'a', 'aa', 'b', 'c']);
  const context = contextOf(history);
  expect(context.total_active).toBe(5);
  expect(ids(context)).toEqual(['c', 'b', 'aa', 'a', 'z']);
  const shown = (id: string): AcceptedMemory | undefined => context.memories.find(({ memory_id }) => memory_id === id);
  expect(shown('c')).toEqual({
    memory_id: 'c',
    content: 'content of c',
    event_type: 'task',
    kind: 'task',
    scope: 'demo',
    tags: ['x', 'y'],
    confidence: 0.5,
    status: 'active',
    source: 'legacy_event',
    source_event_id: 'c',
  });
  expect(shown('b')).toMatchObject({ kind: 'flag', tags: ['p', 'q'] });
  expect(shown('a')).toMatchObject({ kind: 'record', confidence: 0 });
  expect(shown('z')).toMatchObject({ kind: 'observation', event_type: 'summary' });
  await verified(history);
});

test('L240 the root of a project with events has the digest that the protocol gives it', async () => {
  legacy(eventsOf(3));
  const history = historyBuilder({ lethe: temp.lethe });
  const root = await history.init();
  expect(root.integrity_digest).toBe('bd2c238d21f772dfed7034a57364c9fe649c70a86b3a242f30044cc525d5ac1c');
});

test('L241 what a baseline holds can be targeted by every op, and so can what became of it', async () => {
  legacy(['a', 'b', 'c', 'd', 'e', 'f'].map((event_id) => ({ event_id, created_at: moments[0] ?? '' })));
  const history = historyBuilder({ lethe: temp.lethe });
  const root = await history.init();
  await history.branch(work);
  await history.commit(work, [
    correct('a', { scope: 'desk' }),
    correct('b', { content: 'better b' }, 'b-2'),
    supersede('c', { content: 'another c' }, 'c-2'),
    duplicate('d', 'a'),
    deprecate('e'),
    attachEvidence('f', { note: 'seen' }),
    relate('a', 'about', 'f'),
  ]);
  await history.commit(work, [correct('b-2', { content: 'best b' }), correct('b-2', { kind: 'fact' }, 'b-3')]);
  expect(memoryAt(history, work, 'a').memory).toMatchObject({
    content: 'content of a',
    scope: 'desk',
    source: 'memory_git',
    source_event_id: 'a',
    payload: { scope: 'desk' },
  });
  expect(memoryAt(history, work, 'a').memory).not.toHaveProperty('introduced_changeset_id');
  expect(memoryAt(history, work, 'b').memory).toMatchObject({ status: 'corrected', source: 'legacy_event' });
  expect(memoryAt(history, work, 'b-3').memory).toMatchObject({
    content: 'best b',
    kind: 'fact',
    event_type: 'log',
    source: 'memory_git',
    source_event_id: 'b',
  });
  expect(memoryAt(history, work, 'c-2').memory).not.toHaveProperty('source_event_id');
  expect(memoryAt(history, work, 'd').memory).toMatchObject({ status: 'duplicate' });
  expect(memoryAt(history, work, 'e').memory).toMatchObject({ status: 'deprecation_proposed', source: 'legacy_event' });
  expect(memoryAt(history, work, 'f').memory).toMatchObject({ evidence: [{ note: 'seen' }], source: 'legacy_event' });
  expect(memoryAt(history, work, 'f').relationships).toHaveLength(1);
  const [start, ...rest] = memoryAt(history, work, 'b-3').lineage;
  expect(start).toMatchObject({
    changeset_id: root.changeset_id,
    op_type: 'add_memory',
    ordinal: 1,
    author_principal: 'system',
    created_at: moments[0],
    before: null,
    after: { memory_id: 'b', source: 'legacy_event' },
  });
  expect(rest).toHaveLength(3);
  const diff = temp.lethe.diff({
    baseChangesetId: root.changeset_id,
    targetChangesetId: history.head(work),
    side: 'both',
    limit: 50,
  });
  expect(diff.memories_added).toEqual([]);
  expect(diff.corrections_proposed.map(({ memory_id, before }) => [memory_id, before?.source])).toEqual([
    ['a', 'legacy_event'],
    ['b-3', 'legacy_event'],
  ]);
  await verified(history);
});

test('L241 an event stays one whatever is attached to it, and is one again when its state is restored', async () => {
  legacy([{ event_id: 'a', created_at: moments[0] ?? '' }]);
  const history = historyBuilder({ lethe: temp.lethe });
  const root = await history.init();
  await history.branch(work);
  const { changeset_id: attached } = await history.commit(work, [attachEvidence('a', { note: 'seen' })]);
  expect(memoryAt(history, work, 'a').memory).toMatchObject({ source: 'legacy_event', last_changeset_id: attached });
  await history.commit(work, [correct('a', { scope: 'desk' })]);
  await history.commit(work, [attachEvidence('a', { note: 'again' }), deprecate('a')]);
  expect(memoryAt(history, work, 'a').memory).toMatchObject({ source: 'memory_git' });
  await history.commit(work, [restore('a', attached)], { mayRestore: true });
  expect(memoryAt(history, work, 'a').memory).toMatchObject({ source: 'legacy_event', evidence: [{ note: 'seen' }] });
  const { changeset_id: last } = await history.commit(work, [restore('a', root.changeset_id)], { mayRestore: true });
  expect(memoryAt(history, work, 'a').memory).toMatchObject({ source: 'legacy_event', last_changeset_id: last });
  const ends = { baseChangesetId: root.changeset_id, targetChangesetId: last };
  expect(temp.lethe.diff({ ...ends, side: 'both', limit: 50 }).corrections_proposed).toEqual([]);
  await history.commit(work, [correct('a', { content: 'b' }, 'b')]);
  await history.commit(work, [correct('b', { content: 'a' }, 'a')]);
  expect(memoryAt(history, work, 'a').memory).toMatchObject({ source: 'memory_git', source_event_id: 'a' });
  await verified(history);
});

test('L241 an id of a baseline is taken, and one that it retired is free', async () => {
  legacy([{ event_id: 'a', created_at: moments[0] ?? '' }]);
  const history = historyBuilder({ lethe: temp.lethe });
  await history.init();
  await history.branch(work);
  await expect(history.commit(work, [addAs('a', 'again')])).rejects.toMatchObject({ code: 'OP_INVALID' });
  await history.commit(work, [supersede('a')]);
  await history.commit(work, [addAs('a', 'again')]);
  expect(memoryAt(history, work, 'a').memory).toMatchObject({
    content: 'again',
    source: 'memory_git',
    source_event_id: 'a',
  });
  await verified(history);
});

test('L242 a memory that is named after an event is known as made of it, if the event was there by then', async () => {
  const history = historyBuilder({ lethe: temp.lethe });
  await history.init();
  await history.branch(work);
  legacy([{ event_id: 'x', created_at: moments[0] ?? '' }]);
  legacy([{ event_id: 'w', created_at: moments[0] ?? '', project_id: 'other' }]);
  await history.commit(work, [addAs('x', 'about x'), addAs('y', 'about y'), addAs('w', 'about w'), add('made')]);
  legacy([{ event_id: 'y', created_at: moments[0] ?? '' }]);
  expect(memoryAt(history, work, 'x').memory).toMatchObject({ source: 'memory_git', source_event_id: 'x' });
  expect(memoryAt(history, work, 'y').memory).not.toHaveProperty('source_event_id');
  expect(memoryAt(history, work, 'w').memory).not.toHaveProperty('source_event_id');
  await verified(history);
  temp.db.exec("UPDATE memory_ids SET event = NULL WHERE memory_id = 'x'");
  expect((await temp.lethe.verifyChain(history.project)).findings).not.toEqual([]);
});

test('L243 context, search and pages go through 1 005 events in their order', async () => {
  legacy(eventsOf(1_005));
  const history = historyBuilder({ lethe: temp.lethe });
  await history.init();
  await history.branch(work);
  await history.commit(work, [add('a newer one'), correct('event-000004', { content: 'changed four' })]);
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = temp.lethe.context({
      projectId: history.project,
      refName: refNameSchema.parse(work),
      limit: 100,
      cursor,
    });
    expect(page.total_active).toBe(1_006);
    seen.push(...ids(page));
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  const expected = eventsOf(1_005)
    .map(({ event_id }) => event_id)
    .filter((id) => id !== 'event-000004')
    .toReversed();
  expect(seen[0]).toBe('event-000004');
  expect(seen.slice(2)).toEqual(expected);
  for (const indexed of [false, true]) {
    if (indexed) while (await temp.lethe.maintain());
    expect(ids(contextOf(history, 1, 'event 000777'))).toEqual(['event-000777']);
    const found = temp.lethe.search({
      projectId: history.project,
      refName: refNameSchema.parse(work),
      query: 'event-000777',
      limit: 5,
    });
    expect(found.matches[0]?.memory.memory_id).toBe('event-000777');
  }
  await verified(history);
});

test('L244 a root takes further numbers for more than 65 536 events, and all of it holds', {
  timeout: 120_000,
}, async () => {
  const count = opsPerChangeset + 500;
  legacy(
    eventsOf(count).map((event, index) => ({
      ...event,
      created_at: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    })),
  );
  const other = historyBuilder({ lethe: temp.lethe }, 'other');
  await other.init();
  const history = historyBuilder({ lethe: temp.lethe });
  await history.init();
  await history.branch(work);
  await history.commit(work, [correct('event-000000', { scope: 'desk' }), correct('event-065536', { scope: 'desk' })]);
  expect(contextOf(history, 1).total_active).toBe(count);
  expect(ids(contextOf(history, 2))).toEqual(['event-066035', 'event-066034']);
  expect(memoryAt(history, work, 'event-000000').memory).toMatchObject({ content: 'content of event-000000' });
  expect(memoryAt(history, work, 'event-000001').lineage).toMatchObject([
    { ordinal: 1, created_at: '2026-01-01T00:00:00.001Z' },
  ]);
  expect(memoryAt(history, work, 'event-065537').lineage).toMatchObject([{ ordinal: 65_537 }]);
  expect(() => temp.db.exec('UPDATE memory_baseline_seqs SET seq = seq')).toThrow('is immutable');
  expect(() => temp.db.exec('DELETE FROM memory_baseline_seqs')).toThrow('rows are kept');
  await verified(history);
});

test('L58 a changed byte of an event, of a baseline or of what the index made of it is found', async () => {
  const history = historyBuilder({ lethe: temp.lethe });
  legacy([
    { event_id: 'a', created_at: moments[0] ?? '' },
    { event_id: 'b', created_at: moments[1] ?? '' },
  ]);
  await history.init();
  await verified(history);
  for (const [table, change, back] of [
    ['lethe_events', "content = 'content of A' WHERE event_id = 'a'", "content = 'content of a' WHERE event_id = 'a'"],
    [
      'lethe_events',
      "created_order = '2026-11-01T00:00:00.000000001Z' WHERE event_id = 'a'",
      "created_order = '2026-11-01T00:00:00.000000000Z' WHERE event_id = 'a'",
    ],
    ['memory_legacy_baselines', `event_ids = '["b","a"]'`, `event_ids = '["a","b"]'`],
    ['memory_legacy_baselines', `event_ids = '["a"]'`, `event_ids = '["a","b"]'`],
    ['memory_legacy_baselines', `event_ids = '[a","b"]'`, `event_ids = '["a","b"]'`],
    ['memory_ids', "memory_id = 'c' WHERE memory_id = 'b'", "memory_id = 'b' WHERE memory_id = 'c'"],
    ['memory_touches', "status = 0 WHERE memory = (SELECT number FROM memory_ids WHERE memory_id = 'b')", 'status = 1'],
    ['memory_ids', "baseline = 0 WHERE memory_id = 'b'", 'baseline = 1'],
    ['memory_versions', "body = json_remove(body, '$.s')", "body = json_insert(body, '$.s', version)"],
  ] as const) {
    temp.db.exec(`DROP TRIGGER IF EXISTS ${table}_never_update`);
    temp.db.exec(`UPDATE ${table} SET ${change}`);
    const report = await temp.lethe.verifyChain(history.project);
    expect(report.ok, `${table}: ${change}`).toBe(false);
    temp.db.exec(`UPDATE ${table} SET ${back}`);
  }
  await verified(history);
});
