import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { letheOver } from '../../src-main/lethe/lethe.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { memoryIdSchema } from '../../src-preload/contract/ids.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  fakeClock,
  historyBuilder,
  openTempLethe,
  projectId,
  refName,
  relate,
  seededIds,
  seededSigner,
  testMergeKey,
  testOwner,
} from '../support/history-builder.ts';
import { unpackStore } from '../support/stored-lethe.ts';

const clock = fakeClock();
const ids = seededIds('migrate');
const demo = projectId('demo');
const work = 'refs/topics/work';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-migrate-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function over(db: Connection): ReturnType<typeof letheOver> {
  return letheOver(db, {
    path: db.path,
    readOnly: false,
    clock,
    ids,
    headSigner: seededSigner('head'),
    mergeKeys: new Map([['k1', testMergeKey]]),
    ownerPrincipal: testOwner,
    onEvents: () => {},
    log: silentLog,
  });
}

const touches = (db: Connection): readonly unknown[] =>
  db.query<[], unknown>('SELECT * FROM memory_touches ORDER BY memory, key').all();

const schemaOf = (db: Connection): readonly string[] =>
  db
    .query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE name LIKE 'memory_touches%' ORDER BY name")
    .all()
    .map(({ name }) => name);

test('L140 a store of version 3 keeps its touches, verifies, and takes the new ops', async () => {
  const path = join(folder, 'lethe.db');
  unpackStore('0003', path);
  const old = connect(path, { readOnly: true, mustExist: true });
  const stored = touches(old);
  expect(stored).toHaveLength(7);
  const names = schemaOf(old);
  old.close();

  const db = openStore(path, letheMigrations, clock);
  const lethe = over(db);
  expect(touches(db)).toEqual(stored);
  expect(schemaOf(db)).toEqual(names);
  expect(await lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
  const again = historyBuilder({ lethe }, 'demo', 'principal_00000000000000b2');
  await again.commit(work, [attachEvidence('a', { note: 'n' }), relate('a', 'k', 'b-2'), deprecate('b-2')]);
  const answer = lethe.getMemory({
    projectId: demo,
    memoryId: memoryIdSchema.parse('a'),
    headChangesetId: again.head(work),
    limit: 10,
  });
  expect(answer.memory).toMatchObject({ content: 'first', scope: 'desk', evidence: [{ note: 'n' }] });
  expect(answer.relationships).toHaveLength(1);
  expect(await lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
  lethe.close();
});

test('L140 a store of version 6 reads as it did, and goes on with events and sessions', async () => {
  const path = join(folder, 'lethe.db');
  unpackStore('0006', path);
  const db = openStore(path, letheMigrations, clock);
  const lethe = over(db);
  expect(await lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
  const main = refName('refs/shared/main');
  const shown = (): readonly unknown[] => {
    const { memories } = lethe.context({ projectId: demo, refName: main, limit: 10 });
    return memories.map(({ content, source }) => [content, source]);
  };
  const before = [
    ['aside', 'memory_git'],
    ['first', 'memory_git'],
    ['x', 'memory_git'],
    ['fourth', 'memory_git'],
  ];
  expect(shown()).toEqual(before);
  const input = { ...{ session: '', projectId: 'demo', eventType: '', content: 'said', confidence: null, tags: [] } };
  const recorded = await lethe.recordEvent({
    ...input,
    ...{ parentEventId: '', taskTitle: '', taskStatus: '', threadId: '' },
  });
  const eventId = recorded?.event.event_id ?? '';
  expect(shown()).toEqual(before);
  const again = historyBuilder({ lethe }, 'demo', 'principal_00000000000000b2');
  await again.commit(work, [addAs(eventId, 'about it'), correct('a', { content: 'first again' })]);
  const headChangesetId = again.head(work);
  const memory = (id: string) =>
    lethe.getMemory({ projectId: demo, memoryId: memoryIdSchema.parse(id), headChangesetId, limit: 5 }).memory;
  expect(memory(eventId)).toMatchObject({ source_event_id: eventId });
  expect(memory('a')).not.toHaveProperty('source_event_id');
  expect(await lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
  lethe.close();
});

test('L140 a new store and a carried over one have the same tables', () => {
  const fresh = openTempLethe();
  unpackStore('0003', join(folder, 'old.db'));
  const carried = openStore(join(folder, 'old.db'), letheMigrations, clock);
  const schema = (one: Connection): readonly unknown[] =>
    one.query<[], unknown>('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all();
  expect(schema(carried)).toEqual(schema(fresh.db));
  carried.close();
  fresh.remove();
});
