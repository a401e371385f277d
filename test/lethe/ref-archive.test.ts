import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { letheOver } from '../../src-main/lethe/lethe.ts';
import { lethe0010Archive } from '../../src-main/lethe/migrations/lethe-0010-archive.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { listRefs } from '../../src-main/lethe/tables/refs.ts';
import type { Connection, ReadableDb } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import type { Ref } from '../../src-preload/contract/changeset.ts';
import {
  add,
  fakeClock,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  seededIds,
  seededSigner,
  type TempLethe,
  testAuthor,
  testMergeKey,
  testOwner,
} from '../support/history-builder.ts';

const branch = 'refs/agents/a/main';
const main = 'refs/shared/main';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
  await history.commit(branch, [add('cats purr')]);
});
afterEach(() => temp.remove());

function archive(ref: string, expectedHead = history.head(ref)): Promise<Ref> {
  return temp.lethe.archiveRef({
    projectId: history.project,
    refName: refName(ref),
    expectedHead,
    principal: testOwner,
  });
}

const listed = (page: { archived?: boolean } = {}): string[] =>
  temp.lethe.listRefs(history.project, { limit: 50, ...page }).map((ref) => ref.ref_name);
const findings = async () => (await temp.lethe.verifyChain(history.project)).findings;

test('L290 an archived ref is hidden from lists unless asked for, and is read as before', async () => {
  const before = temp.lethe.findRef(history.project, refName(branch));
  const read = () =>
    temp.lethe
      .context({ projectId: history.project, refName: refName(branch), limit: 5 })
      .memories.map((m) => m.content);
  temp.clock.advance(5_000);
  temp.events.length = 0;
  const archived = await archive(branch);
  expect(archived).toEqual({ ...before, archived: true, updated_at: '2026-11-30T12:00:05Z' });
  expect(temp.events).toEqual([
    { kind: 'ref_moved', project_id: 'demo', ref_name: branch, head_changeset_id: before?.head_changeset_id },
  ]);
  expect(temp.lethe.findRef(history.project, refName(branch))).toEqual(archived);
  expect([listed(), listed({ archived: true })]).toEqual([[main], [branch, main]]);
  expect(read()).toEqual(['cats purr']);
  expect(temp.lethe.log({ ...logOf(branch), limit: 5, allParents: false }).changesets).toHaveLength(2);
  expect(await findings()).toEqual([]);
});

const logOf = (ref: string) => ({ projectId: history.project, refName: refName(ref) });

test('L290 archiving again answers the same and writes nothing', async () => {
  const rows = () => temp.db.query('SELECT * FROM memory_ref_moves').all().length;
  const first = await archive(branch);
  const before = rows();
  temp.clock.advance(1_000);
  temp.events.length = 0;
  expect(await archive(branch)).toEqual(first);
  expect([rows(), temp.events]).toEqual([before, []]);
});

test('L290 a protected, an unknown and a moved ref are refused by their own codes, and nothing is written', async () => {
  const root = history.head(main);
  for (const [ref, expected, code] of [
    [main, root, 'PROTECTED_REF'],
    ['refs/shared/never-made', root, 'PROTECTED_REF'],
    ['refs/agents/none/main', root, 'REF_NOT_FOUND'],
    [branch, root, 'REF_MOVED'],
  ] as const)
    await expect(archive(ref, expected), ref).rejects.toMatchObject({ code });
  const nowhere = historyBuilder(temp, 'nowhere');
  const elsewhere = { projectId: nowhere.project, refName: refName(branch), expectedHead: root, principal: testOwner };
  await expect(temp.lethe.archiveRef(elsewhere)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' });
  expect(listed()).toEqual([branch, main]);
});

test('L291 an archived ref takes no commit and no move, its name stays taken, and a used key still answers', async () => {
  const request = history.request(branch, [add('dogs bark')]);
  const made = await temp.lethe.commit(request);
  const loose = await history.detached([made.changeset_id], [add('loose')]);
  await archive(branch);
  const head = history.head(branch);
  const refused = { code: 'REF_ARCHIVED', data: { ref: branch, head } };
  const commit = history.request(branch, [add('birds sing')]);
  await expect(temp.lethe.commit(commit)).rejects.toMatchObject(refused);
  await expect(temp.lethe.commitCreatingRef(commit)).rejects.toMatchObject(refused);
  const move = { ...logOf(branch), expectedHead: head, newHead: loose.changeset_id, principal: testAuthor };
  await expect(temp.lethe.fastForward(move)).rejects.toMatchObject(refused);
  const taken = { code: 'REF_EXISTS', message: expect.stringContaining('archived'), data: { ref: branch, head } };
  await expect(history.branch(branch)).rejects.toMatchObject(taken);
  expect(history.head(branch)).toBe(head);
  expect(await temp.lethe.commit(request)).toEqual(made);
  await history.branch('refs/agents/a/again', branch);
  await history.commit('refs/agents/a/again', [add('birds sing')]);
  expect(await findings()).toEqual([]);
});

test('L291 of commits and an archiving at the same moment, those that came first land and the others are refused', async () => {
  const writers = Array.from({ length: 10 }, (_, n) => `refs/sessions/a/${n}`);
  await Promise.all(writers.map((ref) => history.branch(ref)));
  const outcomes = await Promise.allSettled(
    writers.flatMap((ref, index) => {
      const commit = () => history.commit(ref, [add(ref)]);
      const end = () => archive(ref);
      return (index % 2 === 0 ? [commit, end] : [end, commit]).map((one) => one());
    }),
  );
  const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'landed' : outcome.reason.code));
  expect(codes).toEqual(writers.flatMap((_, index) => ['landed', index % 2 === 0 ? 'REF_MOVED' : 'REF_ARCHIVED']));
  expect(await findings()).toEqual([]);
});

test('L292 archiving is a signed row from the head to the head; a mark, a row or a move that does not fit is named', async () => {
  const loose = await history.detached([history.head(branch)], [add('loose')]);
  await archive(branch);
  const last = temp.db.query<[], { from_head: string; to_head: string; cause: string; principal: string }>(
    'SELECT from_head, to_head, cause, principal FROM memory_ref_moves ORDER BY seq DESC LIMIT 1',
  );
  const head = history.head(branch);
  expect(last.get()).toEqual({ from_head: head, to_head: head, cause: 'archive', principal: testOwner });
  for (const { name } of temp.db
    .query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .all())
    temp.db.exec(`DROP TRIGGER ${name}`);
  const problems = async (damage: string): Promise<readonly string[]> => {
    temp.db.exec(damage);
    const found = (await findings()).map(({ problem }) => problem);
    return found;
  };
  expect(await problems('UPDATE memory_refs SET archived = 0')).toEqual([
    'whether it is archived is not what its last signed move says',
  ]);
  expect(await problems('UPDATE memory_refs SET archived = (protected = 0)')).toEqual([]);
  temp.db.exec('UPDATE memory_refs SET archived = 0');
  const move = { ...logOf(branch), expectedHead: head, newHead: loose.changeset_id, principal: testAuthor };
  await temp.lethe.fastForward(move);
  expect(await problems('UPDATE memory_refs SET archived = 0')).toEqual(['the ref was archived before it']);
  expect(await problems("UPDATE memory_ref_moves SET cause = 'fast_forward' WHERE cause = 'archive'")).toEqual([
    'its signature does not verify',
    'it goes nowhere and does not archive its ref',
  ]);
});

test('L293 archived refs cost a list nothing', async () => {
  const names = Array.from({ length: 120 }, (_, n) => `refs/agents/b/${n}`);
  await Promise.all(names.map((ref) => history.branch(ref)));
  await Promise.all(names.map((ref) => archive(ref)));
  expect(listed()).toEqual([branch, main]);
  const statements: string[] = [];
  const recording: ReadableDb = {
    counters: temp.db.counters,
    reading: (work) => work(),
    query: (sql) => {
      statements.push(sql);
      return temp.db.query(sql);
    },
  };
  listRefs(recording, history.project, '', 9, 'in use');
  expect(temp.db.explain(statements[0]?.replaceAll('?', '1') ?? '')).toEqual([
    expect.stringContaining('r USING INDEX memory_refs_in_use (project_id=? AND archived=? AND ref_name>?)'),
    expect.stringContaining('SEARCH c USING INTEGER PRIMARY KEY'),
  ]);
});

test('L140 a store of the version before keeps its refs, and can archive them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-archive-'));
  try {
    const path = join(folder, 'lethe.db');
    const clock = fakeClock();
    const ids = seededIds('archive');
    const over = (db: Connection) =>
      letheOver(db, {
        ...{ path, readOnly: false, clock, ids, headSigner: seededSigner('head'), ownerPrincipal: testOwner },
        ...{ mergeKeys: new Map([['k1', testMergeKey]]), onEvents: () => {}, log: silentLog },
      });
    const old = openStore(path, letheMigrations.slice(0, letheMigrations.indexOf(lethe0010Archive)), clock);
    seedBefore(old);
    const rows = old.query('SELECT * FROM memory_refs ORDER BY ref_name').all();
    expect(rows).toHaveLength(2);
    old.close();

    const db = openStore(path, letheMigrations, clock);
    const lethe = over(db);
    const kept = db.query<[], Record<string, unknown>>('SELECT * FROM memory_refs ORDER BY ref_name').all();
    expect(kept).toEqual(rows.map((row) => ({ ...Object(row), archived: 0 })));
    expect((await lethe.verifyChain(history.project)).findings).toEqual([]);
    const carried = historyBuilder({ lethe }, 'demo', testOwner);
    await carried.commit(branch, [add('more')]);
    const input = { ...logOf(branch), expectedHead: carried.head(branch), principal: testOwner };
    expect(await lethe.archiveRef(input)).toMatchObject({ archived: true });
    expect((await lethe.verifyChain(history.project)).findings).toEqual([]);
    lethe.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Fills a store of the version before with the rows of this test's own, table by table, as that version wrote them. */
function seedBefore(old: Connection): void {
  old.exec(`ATTACH '${temp.path}' AS now`);
  old.pragma('foreign_keys = OFF');
  const tables = old
    .query<[], { name: string }>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name LIKE 'memory_%' AND name NOT LIKE 'memory_text%'",
    )
    .all();
  for (const { name } of tables) {
    const columns = old
      .query<[], { name: string; hidden: number }>(`SELECT name, hidden FROM pragma_table_xinfo('${name}', 'main')`)
      .all()
      .filter(({ hidden }) => hidden === 0)
      .map((column) => column.name)
      .join(', ');
    old.exec(`INSERT INTO main.${name} (${columns}) SELECT ${columns} FROM now.${name}`);
  }
  old.exec('DETACH now');
}
