import { afterEach, beforeEach, expect, test } from 'vitest';
import { toOrder } from '../../src-main/lethe/rules/event-fields.ts';
import type { AssemblyInput, EventInput, SessionInput } from '../../src-main/lethe/session-api.ts';
import { findEvents } from '../../src-main/lethe/session-events.ts';
import {
  deleteAssembliesBefore,
  deleteAssembliesBeyond,
  listAssemblies,
  listFeedback,
} from '../../src-main/lethe/tables/assemblies.ts';
import { listCheckpoints } from '../../src-main/lethe/tables/checkpoints.ts';
import {
  countEventsOfSession,
  findEvent,
  findReviewedEvent,
  listEventsOfMemories,
  listEventsOfSession,
  listEventsOfThread,
  listFlags,
  listProjectEvents,
  searchEvents,
} from '../../src-main/lethe/tables/events.ts';
import {
  findSession,
  insertSessionLink,
  listActiveSessions,
  listSessionLinks,
  listSessions,
} from '../../src-main/lethe/tables/sessions.ts';
import { listTouchingOps, listTouchingOpsBack } from '../../src-main/lethe/tables/text-index.ts';
import { findThread, listThreads } from '../../src-main/lethe/tables/threads.ts';
import type { ReadableDb, WritableDb } from '../../src-main/sqlite/driver.ts';
import { historyBuilder, openTempLethe, refName, type TempLethe } from '../support/history-builder.ts';
import { writeLegacyEvents } from '../support/legacy-events.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const session: SessionInput = {
  ...{ agentId: 'coder', projectId: 'demo', sessionKey: 'key', agentName: 'Coder', projectName: 'Demo' },
  tokenBudget: null,
};
const event: EventInput = {
  ...{ session: 'key', projectId: '', eventType: 'flag', content: 'look', confidence: null, tags: ['t'] },
  ...{ parentEventId: '', taskTitle: '', taskStatus: '', threadId: '' },
};
const assembly: AssemblyInput = {
  ...{ session: 'key', query: 'q', tokenBudget: 1, estimatedTokens: 1, acceptedEstimatedTokens: 1 },
  ...{ memoryManifestId: '', memoryHeadChangesetId: '', items: [{ a: 1 }] },
};
const kept = { daysMax: undefined, perSessionMax: undefined };

/** A store in which every table of sessions has a row. */
async function fill(): Promise<{ readonly eventId: string; readonly assemblyId: string; readonly threadId: string }> {
  const { lethe } = temp;
  const first = await lethe.startSession(session);
  const second = await lethe.startSession({ ...session, sessionKey: '' });
  const recorded = await lethe.recordEvent(event);
  const eventId = recorded?.event.event_id ?? '';
  await lethe.reviewFlag(eventId, 'owner');
  await lethe.addCheckpoint('key', { open_threads: [], recent_event_ids: [eventId], current_task: '', last_tool: '' });
  const { row } = await lethe.recordAssembly(assembly, kept);
  await lethe.judgeAssembly(row.assembly_id, { verdict: 'good', note: '' });
  insertSessionLink(temp.db, {
    ...{ from_session_id: first.session.session_id, to_session_id: second.session.session_id },
    ...{ link_type: 'resume', created_at: '2026-11-30T12:00:00Z' },
  });
  return { eventId, assemblyId: row.assembly_id, threadId: recorded?.thread?.thread_id ?? '' };
}

test('L245 a session is named by key or id, keeps agent and project, and shows what it went on from', async () => {
  await fill();
  const { lethe } = temp;
  const one = lethe.getSession('key');
  expect(lethe.getSession(one.session_id)).toEqual(one);
  expect(lethe.resolveSession('demo', 'key')).toBe(one.session_id);
  expect(() => lethe.resolveSession('other', 'key')).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  expect(() => lethe.resolveSession('demo', 'none')).toThrow(expect.objectContaining({ code: 'SESSION_NOT_FOUND' }));
  const again = await lethe.startSession({ ...session, agentName: 'Renamed' });
  expect([again.kind, again.session.session]).toEqual(['started', one.session]);
  expect(temp.db.query('SELECT name FROM lethe_agents').all()).toEqual([{ name: 'Renamed' }]);
  expect((await lethe.startSession({ ...session, projectId: 'other' })).kind).toBe('taken');
  expect(lethe.summarizeSession('key').links).toMatchObject([{ link_type: 'resume' }]);
});

test('L246 no row of what happened is changed, replaced or deleted', async () => {
  await fill();
  for (const table of ['lethe_events', 'lethe_flag_reviews', 'lethe_checkpoints', 'lethe_session_links']) {
    const columns = temp.db.query<[], { name: string }>(`SELECT name FROM pragma_table_info('${table}')`).all();
    const before = temp.db.query(`SELECT * FROM ${table}`).all();
    expect(before.length).toBeGreaterThan(0);
    for (const { name } of columns)
      expect(() => temp.db.exec(`UPDATE ${table} SET ${name} = ${name}`), name).toThrow(`${table} is immutable`);
    expect(() => temp.db.exec(`DELETE FROM ${table}`)).toThrow(`${table} rows are kept`);
    expect(() => temp.db.exec(`INSERT OR REPLACE INTO ${table} SELECT * FROM ${table}`)).toThrow(
      `${table} rows are kept`,
    );
    expect(temp.db.query(`SELECT * FROM ${table}`).all()).toEqual(before);
  }
});

test('L246 what changes stays with whom it is of', async () => {
  const { assemblyId } = await fill();
  for (const [table, changes, text] of [
    [
      'lethe_sessions',
      ["agent_id = 'x'", "project_id = 'x'", "session_key = 'x'", "session_id = 'x'", "started_at = 'x'"],
      'who a session is of',
    ],
    [
      'lethe_threads',
      ["project_id = 'x'", 'session_id = NULL', "thread_id = 'x'", "created_at = 'x'"],
      'where a thread belongs',
    ],
    ['lethe_assemblies', ["query = 'x'"], 'is immutable'],
    ['lethe_assembly_items', ["body = '{}'"], 'is immutable'],
    ['lethe_assembly_feedback', ["note = 'x'"], 'is immutable'],
  ] as const)
    for (const change of changes) expect(() => temp.db.exec(`UPDATE ${table} SET ${change}`), change).toThrow(text);
  for (const table of ['lethe_sessions', 'lethe_threads', 'lethe_agents', 'lethe_projects'])
    expect(() => temp.db.exec(`DELETE FROM ${table}`)).toThrow('rows are kept');
  temp.db.exec('DELETE FROM lethe_assemblies');
  expect(temp.lethe.findAssembly(assemblyId)).toBeUndefined();
  expect(
    temp.db
      .query('SELECT * FROM lethe_assembly_items UNION ALL SELECT feedback, 1, note FROM lethe_assembly_feedback')
      .all(),
  ).toEqual([]);
});

test('L247 moments with and without fractions sort as time', () => {
  const moments = [
    '2026-11-30T12:00:00Z',
    '2026-11-30T12:00:00.000000001Z',
    '2026-11-30T12:00:00.1Z',
    '2026-11-30T12:00:00.12Z',
    '2026-11-30T12:00:01Z',
  ];
  const orders = moments.map(toOrder);
  expect(orders.toSorted()).toEqual(orders);
  expect(moments.toSorted()).not.toEqual(moments);
  expect(orders.map((order) => order.length)).toEqual([30, 30, 30, 30, 30]);
  writeLegacyEvents(temp.db, moments.map((created_at, index) => ({ event_id: `e${index}`, created_at })).toReversed());
  const first = { created_order: '', event_id: '' };
  expect(listProjectEvents(temp.db, 'demo', first, '~', 9).map(({ event_id }) => event_id)).toEqual([
    'e0',
    'e1',
    'e2',
    'e3',
    'e4',
  ]);
});

test('L248 an assembly takes the head of its manifest, and no manifest of another session', async () => {
  await fill();
  const { lethe } = temp;
  const history = historyBuilder(temp);
  const root = await history.init();
  const pin = (sessionId: string) =>
    lethe.pinContext({ projectId: history.project, refName: refName('refs/shared/main'), limit: 5, sessionId });
  const own = (await pin(lethe.resolveSession('demo', 'key'))).manifest_id ?? '';
  const record = (memoryManifestId: string) => lethe.recordAssembly({ ...assembly, memoryManifestId }, kept);
  expect((await record(own)).row).toMatchObject({
    memory_manifest_id: own,
    memory_head_changeset_id: root.changeset_id,
  });
  await expect(record((await pin('another')).manifest_id ?? '')).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  await expect(record('nowhere')).rejects.toMatchObject({ code: 'MANIFEST_NOT_FOUND' });
});

test('T96 a search that did not look at every event says so', () => {
  writeLegacyEvents(
    temp.db,
    Array.from({ length: 6 }, (_, index) => ({ event_id: `e${index}`, created_at: `2026-11-30T12:00:0${index}Z` })),
  );
  const search = (projectId: string, text: string, scanMax: number, limit = 9) => {
    const { events, complete } = findEvents(temp.db, { projectId, text, eventType: '', tag: '' }, limit, scanMax);
    return [events.map(({ event_id }) => event_id), complete];
  };
  for (const project of ['', 'demo']) {
    expect(search(project, 'e1', 5)).toEqual([['e1'], false]);
    expect(search(project, 'e0', 5)).toEqual([[], false]);
    expect(search(project, 'e0', 6)).toEqual([['e0'], true]);
    expect(search(project, 'of', 5, 2)).toEqual([['e5', 'e4'], true]);
  }
  expect(search('other', 'e0', 5)).toEqual([[], true]);
});

/** The statements that table functions run, explained. */
function plansOf(read: (db: WritableDb) => unknown): string[] {
  const statements: string[] = [];
  const noted =
    <Made>(make: (sql: string) => Made) =>
    (sql: string): Made => {
      statements.push(sql);
      return make(sql);
    };
  const recording = {
    counters: temp.db.counters,
    reading: (work: () => unknown) => work(),
    query: noted(temp.db.query),
    command: noted(temp.db.command),
  } as unknown as WritableDb;
  read(recording);
  return statements.flatMap((sql) => temp.db.explain(sql.replaceAll('?', '1')));
}

const page = { limit: 5, offset: 0 };
const reads: readonly [string, (db: WritableDb) => unknown][] = [
  ['findSession', (db) => findSession(db, 'none')],
  ['listSessions', (db: ReadableDb) => listSessions(db, 5)],
  ['listActiveSessions', (db) => listActiveSessions(db, 5)],
  ['listSessionLinks', (db) => listSessionLinks(db, 's', 5)],
  ['listCheckpoints', (db) => listCheckpoints(db, 's', 5)],
  ['findEvent', (db) => findEvent(db, 'e')],
  ['findReviewedEvent', (db) => findReviewedEvent(db, 'e')],
  ['listProjectEvents', (db) => listProjectEvents(db, 'demo', { created_order: '', event_id: '' }, '~', 5)],
  ['listEventsOfSession', (db) => listEventsOfSession(db, 's', page)],
  ['listEventsOfThread', (db) => listEventsOfThread(db, 't', page)],
  ['listEventsOfMemories', (db) => listEventsOfMemories(db, [1])],
  ['listFlags', (db) => listFlags(db, { projectId: '', state: '' }, page)],
  ['countEventsOfSession', (db) => countEventsOfSession(db, 's')],
  ['searchEvents of all', (db) => searchEvents(db, { projectId: '', eventType: '', text: 'x', tag: 't' }, 5, 5)],
  ['searchEvents of a project', (db) => searchEvents(db, { projectId: 'p', eventType: '', text: 'x', tag: 't' }, 5, 5)],
  ['findThread', (db) => findThread(db, 't')],
  ['listThreads of a session', (db) => listThreads(db, { kind: 'session', id: 's' }, '', 5)],
  ['listThreads of a project', (db) => listThreads(db, { kind: 'project', id: 'p' }, 'open', 5)],
  ['listThreads of all', (db) => listThreads(db, { kind: 'all' }, '', 5)],
  ['listAssemblies', (db) => listAssemblies(db, 's', 5)],
  ['listFeedback', (db) => listFeedback(db, 1, 5)],
  ['deleteAssembliesBefore', (db) => deleteAssembliesBefore(db, '', 5)],
  ['deleteAssembliesBeyond', (db) => deleteAssembliesBeyond(db, 's', 5, 5)],
  ['listTouchingOps', (db) => listTouchingOps(db, 0, 5)],
  ['listTouchingOpsBack', (db) => listTouchingOpsBack(db, 0, 5, 5)],
];

test.each(reads)('L249 %s goes along an index, and sorts nothing', (name, read) => {
  const plans = plansOf(read);
  expect(plans.length, name).toBeGreaterThan(0);
  const walks = plans.filter(
    (step) => /^SCAN (?!wanted|tag|json_each|e$|\(subquery)/.test(step) && !/USING (COVERING )?INDEX lethe_/.test(step),
  );
  expect([name, walks]).toEqual([name, []]);
  expect(plans.filter((step) => step.includes('TEMP B-TREE FOR ORDER BY'))).toEqual([]);
});
