import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseForeignTime } from '../../src-main/lethe/rules/foreign-time.ts';
import {
  add,
  historyBuilder,
  openTempLethe,
  projectId,
  type TempLethe,
  testOwner,
} from '../support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope } from '../support/merge-envelope.ts';
import { addedMemory, fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import { fillAssembly, fillSessions, openReferenceGit, referenceHistory } from '../support/reference-stores.ts';
import { contentsOf } from '../support/untouched.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const demo = projectId('demo');

async function bring(path: string): Promise<void> {
  const { contentDigest } = await temp.lethe.inspectImport({ path });
  await temp.lethe.importFile({ path, contentDigest, principal: testOwner });
}

test.each([
  ['2026-07-12 20:59:45.175898 +0000 UTC', '2026-07-12T20:59:45.175898Z', '2026-07-12T20:59:45.175898000Z'],
  ['2026-07-12 22:59:45.5 +0200 CEST m=+0.012345', '2026-07-12T20:59:45.5Z', '2026-07-12T20:59:45.500000000Z'],
  ['2026-01-01 00:30:00 -0130 -0130', '2026-01-01T02:00:00Z', '2026-01-01T02:00:00.000000000Z'],
  ['2026-07-12T20:59:45.123456789Z', '2026-07-12T20:59:45.123456789Z', '2026-07-12T20:59:45.123456789Z'],
  ['2026-07-12T20:59:45-05:00', '2026-07-13T01:59:45Z', '2026-07-13T01:59:45.000000000Z'],
  ['2026-07-12 20:59:45', '2026-07-12T20:59:45Z', '2026-07-12T20:59:45.000000000Z'],
])('L265 %s is read as %s', (text, wire, order) => {
  expect(parseForeignTime(text)).toEqual({ wire, order });
});

test.each([
  '',
  '2026-07-12',
  '2026-02-30 00:00:00',
  '2026-07-12 24:00:00',
  '2026-07-12T20:59:45',
  '2026-07-12 20:59:45.1234567890',
  '2026-07-12 20:59:45 +2400 X',
  '0000-01-01T00:00:00+01:00',
  ' 2026-07-12 20:59:45',
  '1783889985',
])('L265 %j is no moment', (text) => {
  expect(parseForeignTime(text)).toBeUndefined();
});

describe('what an import wrote', () => {
  const file = (): string =>
    makeReferenceFile(openReferenceGit, (store) => {
      fillSessions(store, 'demo');
      fillAssembly(store, 'demo');
      const history = referenceHistory(store);
      const { merge } = fillHistory(history);
      const more = { context_manifest_id: 'a manifest of elsewhere' };
      history.ref(
        'refs/topics/t',
        history.commit({ ref: 'refs/topics/t', parents: [merge], ops: [addedMemory('x')], more }),
      );
    });

  test.each([
    ['memory_imports', 'principal', /import .*: its row was altered/],
    ['memory_imports', 'imported_at', /import .*: its row was altered/],
    ['memory_imported_changesets', 'named_manifest', /integrity digest|mark as imported/],
    ['memory_imported_changesets', 'digest_version', /mark as imported was altered/],
    ['memory_imported_refs', 'original_name', /imported ref .*: its row was altered/],
    ['memory_imported_refs', 'original_creator', /imported ref .*: its row was altered/],
    ['memory_imported_records', 'body', /imported .*: it is not as it was kept/],
    ['memory_imported_projects', 'row_digest', /project demo: it is not as its root says/],
    ['memory_projects', 'name', /project demo: it is not as its root says/],
    ['memory_changesets', 'request_digest', /mark as imported was altered/],
    ['memory_changesets', 'created_at', /chain digest/],
    ['memory_ref_moves', 'cause', /signature does not verify/],
  ])('L266 an altered %s.%s is found and named', async (table, column, wanted) => {
    await bring(file());
    expect(await temp.lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
    temp.db.exec(`DROP TRIGGER ${table}_never_update`);
    const values: Readonly<Record<string, string>> = {
      digest_version: '3 - digest_version',
      body: "json_set(body, '$.altered', 1)",
      row_digest: "replace(row_digest, substr(row_digest, 1, 1), 'z')",
      request_digest:
        "CASE request_digest WHEN '' THEN '' ELSE replace(request_digest, substr(request_digest, 1, 1), 'z') END",
      created_at: "replace(created_at, '2026-07-12T21', '2026-07-12T22')",
    };
    temp.db.exec(`UPDATE ${table} SET ${column} = ${values[column] ?? `${column} || 'x'`} WHERE ${column} IS NOT NULL`);
    const report = await temp.lethe.verifyChain(demo);
    expect(report.ok).toBe(false);
    expect(report.findings.map(({ where, problem }) => `${where}: ${problem}`)).toContainEqual(
      expect.stringMatching(wanted),
    );
  });

  test('L266 what was imported can neither be changed nor removed', async () => {
    await bring(file());
    for (const table of [
      'imports',
      ...['projects', 'changesets', 'refs', 'records'].map((name) => `imported_${name}`),
    ]) {
      expect(() => temp.db.exec(`UPDATE memory_${table} SET import_id = 'x'`), table).toThrow(/is immutable/);
      expect(() => temp.db.exec(`DELETE FROM memory_${table}`), table).toThrow(/is immutable/);
    }
  });

  test('L277 records of history are kept whole and open no conflict here', async () => {
    await bring(file());
    const kinds = temp.db
      .query<[], { kind: string; count: number }>(
        'SELECT kind, count(*) AS count FROM memory_imported_records GROUP BY kind ORDER BY kind',
      )
      .all();
    expect(kinds.map(({ kind, count }) => `${kind} ${count}`)).toEqual([
      ...['advance 2', 'assembly 1', 'assembly_feedback 1', 'assembly_item 1', 'authorization 2', 'baseline 1'],
      ...['conflict 1', 'manifest 1', 'thread 1'],
    ]);
    const [conflict] = temp.db
      .query<[], { body: string }>("SELECT body FROM memory_imported_records WHERE kind = 'conflict'")
      .all();
    expect(JSON.parse(conflict?.body ?? '')).toMatchObject({
      status: 'open',
      severity: 'blocking',
      project_id: 'demo',
    });
    expect(temp.lethe.listConflicts({ projectId: demo, limit: 10 }).conflicts).toEqual([]);
    expect(temp.lethe.listAdvances(demo, { limit: 10 })).toEqual([]);
  });

  test('L267 a nonce that the file spent is spent here', async () => {
    let nonce = '';
    await bring(
      makeReferenceFile(openReferenceGit, (store) => {
        const { root, commit, advance, ref } = referenceHistory(store);
        const left = commit({ ref: 'refs/agents/a/main', parents: [root], ops: [addedMemory('one')] });
        ref('refs/agents/a/main', left);
        nonce = advance('refs/shared/main', root, left);
      }),
    );
    const history = historyBuilder(temp);
    const next = await history.commit('refs/agents/a/main', [add('two')]);
    const move = { project: demo, expected: history.head('refs/shared/main'), next: next.changeset_id };
    const request = (more: { readonly nonce?: string }) =>
      advanceInput(move, authorize(mergeEnvelope(temp, move, more)));
    await expect(temp.lethe.advance(request({ nonce }))).rejects.toMatchObject({ code: 'NONCE_CONSUMED' });
    expect((await temp.lethe.advance(request({}))).ref.head_changeset_id).toBe(next.changeset_id);
    expect(await temp.lethe.verifyChain(demo)).toMatchObject({ ok: true });
  });
});

test('L269 a store of the version before is carried over, verifies and imports', async () => {
  const history = historyBuilder(temp);
  await history.init();
  await history.branch('refs/agents/z/main');
  await history.commit('refs/agents/z/main', [add('of this store')]);
  const kept = contentsOf(temp.db);
  const tables = ['records', 'refs', 'changesets', 'projects'].map((name) => `memory_imported_${name}`);
  for (const table of [...tables, 'memory_imports']) temp.db.exec(`DROP TABLE ${table}`);
  temp.db.exec("DELETE FROM schema_versions WHERE name = 'lethe_0012_import'");
  temp = temp.reopen();
  expect(contentsOf(temp.db)).toBe(kept);
  expect(await temp.lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
  await bring(makeReferenceFile(openReferenceGit, (store) => void fillHistory(referenceHistory(store))));
  expect(await temp.lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
});

test('L268 a process that is killed while it imports leaves nothing of it', async () => {
  const path = makeReferenceFile(openReferenceGit, (store) => {
    const { root, commit, ref } = referenceHistory(store);
    store.db.exec('BEGIN');
    let head = root;
    for (let step = 0; step < 1_500; step += 1)
      head = commit({ ref: 'refs/agents/a/main', parents: [head], ops: [addedMemory(`memory ${step}`)] });
    ref('refs/agents/a/main', head);
    store.db.exec('COMMIT');
  });
  const before = contentsOf(temp.db);
  const script = fileURLToPath(new URL('../support/import-until-killed.ts', import.meta.url));
  const child = spawn(process.execPath, [script, temp.path, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  temp = temp.reopen();
  expect(contentsOf(temp.db)).toBe(before);
  const left = (): readonly string[] => readdirSync(dirname(temp.path)).filter((name) => name.startsWith('import-'));
  expect(left()).toHaveLength(1);
  await bring(path);
  expect(left()).toEqual([]);
  expect(await temp.lethe.verifyChain(demo)).toMatchObject({ ok: true, checked: 1_501 });
}, 60_000);
