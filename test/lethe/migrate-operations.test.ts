import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { letheOver } from '../../src-main/lethe/lethe.ts';
import { lethe0004Operations } from '../../src-main/lethe/migrations/lethe-0004-operations.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
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
  relate,
  seededIds,
  seededSigner,
  supersede,
  testMergeKey,
  testOwner,
} from '../support/history-builder.ts';

const clock = fakeClock();
const ids = seededIds('migrate');
const before = letheMigrations.slice(0, letheMigrations.indexOf(lethe0004Operations));
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

test('L140 a store of the version before keeps its touches, verifies, and takes the new ops', async () => {
  const path = join(folder, 'lethe.db');
  const old = openStore(path, before, clock);
  const oldLethe = over(old);
  const history = historyBuilder({ lethe: oldLethe });
  await history.init();
  await history.branch(work);
  await history.commit(work, [addAs('a', 'first'), addAs('b', 'second'), addAs('c', 'third')]);
  await history.commit(work, [correct('a', { scope: 'desk' }), correct('b', { content: 'x' }, 'b-2'), supersede('c')]);
  const stored = touches(old);
  expect(stored).toHaveLength(7);
  const names = schemaOf(old);
  oldLethe.close();

  const db = openStore(path, letheMigrations, clock);
  const lethe = over(db);
  expect(touches(db)).toEqual(stored);
  expect(schemaOf(db)).toEqual(names);
  expect(await lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
  const again = historyBuilder({ lethe }, 'demo', 'principal_00000000000000b2');
  await again.commit(work, [attachEvidence('a', { note: 'n' }), relate('a', 'k', 'b-2'), deprecate('b-2')]);
  const answer = lethe.getMemory({
    projectId: history.project,
    memoryId: memoryIdSchema.parse('a'),
    headChangesetId: again.head(work),
    limit: 10,
  });
  expect(answer.memory).toMatchObject({ content: 'first', scope: 'desk', evidence: [{ note: 'n' }] });
  expect(answer.relationships).toHaveLength(1);
  expect(await lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
  lethe.close();
});

test('L140 a new store and a carried over one have the same tables', () => {
  const fresh = openTempLethe();
  const db = openStore(join(folder, 'old.db'), before, clock);
  db.close();
  const carried = openStore(join(folder, 'old.db'), letheMigrations, clock);
  const schema = (one: Connection): readonly unknown[] =>
    one.query<[], unknown>('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all();
  expect(schema(carried)).toEqual(schema(fresh.db));
  carried.close();
  fresh.remove();
});
