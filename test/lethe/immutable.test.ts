import { chmodSync, copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import type { Lethe } from '../../src-main/lethe/api.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import {
  add,
  correct,
  fakeClock,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  refName,
  seededIds,
  seededSigner,
  type TempLethe,
  testMergeKey,
} from '../support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope } from '../support/merge-envelope.ts';

let temp: TempLethe;
let history: HistoryBuilder;
const branch = 'refs/agents/a/main';
const main = refName('refs/shared/main');

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
  const made = await history.commit(branch, [add('one')], { evidence: [{ a: 1 }] });
  await history.commit(branch, [correct(memoryIdOf(made), { content: 'two' })]);
  await temp.lethe.pinContext({ projectId: history.project, refName: refName(branch), limit: 5 });
  const move = { project: history.project, expected: history.head(main), next: made.changeset_id };
  await temp.lethe.advance(advanceInput(move, authorize(mergeEnvelope(temp, move))));
});
afterEach(() => temp.remove());

const immutable = [
  'memory_projects',
  'memory_changesets',
  'memory_changeset_parents',
  'memory_changeset_ops',
  'memory_op_payloads',
  'memory_attestations',
  'memory_ref_moves',
  'memory_head_keys',
  'memory_legacy_baselines',
  'memory_merge_authorizations',
  'memory_protected_ref_advances',
  'memory_manifests',
];

describe('the history', () => {
  test.each(immutable)('L4 no row of %s can be changed, replaced or deleted', (table) => {
    const columns = temp.db
      .query<[], { name: string; hidden: number }>(`SELECT name, hidden FROM pragma_table_xinfo('${table}')`)
      .all()
      .filter((column) => column.hidden === 0);
    const before = temp.db.query(`SELECT * FROM ${table}`).all();
    expect(before.length).toBeGreaterThan(0);
    for (const { name } of columns)
      expect(() => temp.db.exec(`UPDATE ${table} SET ${name} = ${name}`), name).toThrow(`${table} is immutable`);
    expect(() => temp.db.exec(`DELETE FROM ${table}`)).toThrow(`${table} is immutable`);
    const names = columns.map((column) => column.name).join(', ');
    expect(() => temp.db.exec(`INSERT OR REPLACE INTO ${table} (${names}) SELECT ${names} FROM ${table}`)).toThrow(
      `${table} is immutable`,
    );
    expect(temp.db.query(`SELECT * FROM ${table}`).all()).toEqual(before);
  });

  test('L5 a ref changes only its head, only to a later changeset of its project, and is never deleted', async () => {
    const other = await historyBuilder(temp, 'other').init();
    const seqOf = (id: string): number =>
      temp.db.query<[string], { seq: number }>('SELECT seq FROM memory_changesets WHERE changeset_id = ?').get(id)
        ?.seq ?? 0;
    const where = `WHERE ref_name = '${branch}'`;
    for (const change of [
      "ref_name = 'refs/agents/a/else'",
      'protected = 1',
      "created_at = 'x'",
      "created_by_principal = 'x'",
      "project_id = 'other'",
      'head_seq = head_seq',
      'head_seq = 1',
      'head_seq = head_seq - 1',
      'archived = 1, head_seq = head_seq + 1',
    ]) {
      expect(() => temp.db.exec(`UPDATE memory_refs SET ${change} ${where}`), change).toThrow(
        'a ref changes only its head, and only to a later changeset',
      );
    }
    expect(() => temp.db.exec(`UPDATE memory_refs SET head_seq = ${seqOf(other.changeset_id)} ${where}`)).toThrow(
      'FOREIGN KEY',
    );
    expect(() => temp.db.exec(`UPDATE memory_refs SET head_seq = 9999 ${where}`)).toThrow('FOREIGN KEY');
    expect(() => temp.db.exec(`UPDATE memory_refs SET archived = 2 ${where}`)).toThrow('CHECK');
    expect(() => temp.db.exec('UPDATE memory_refs SET archived = 1 WHERE protected = 1')).toThrow('CHECK');
    expect(() => temp.db.exec(`DELETE FROM memory_refs ${where}`)).toThrow('never deleted');
    expect(() => temp.db.exec(`INSERT OR REPLACE INTO memory_refs SELECT * FROM memory_refs ${where}`)).toThrow(
      'never deleted',
    );
  });

  test('L6 a parent is older than its child and a root is the only one of its project', () => {
    expect(() =>
      temp.db.exec('INSERT INTO memory_changeset_parents (seq, position, parent_seq) VALUES (1, 0, 2)'),
    ).toThrow('CHECK');
    const columns =
      'schema_version, project_id, ref_name, author_principal, persona_id, actor_id, surface, model, environment, session_id, topic_id, message, created_at, created_ms, op_count, integrity_digest, request_digest, chain_digest';
    const second = (key: string, isRoot: number): string =>
      `INSERT INTO memory_changesets (changeset_id, idempotency_key, is_root, ${columns}) SELECT '00000000-0000-7000-8000-00000000dead', '${key}', ${isRoot}, ${columns} FROM memory_changesets WHERE seq = 1`;
    expect(() => temp.db.exec(second('another', 1))).toThrow('CHECK');
    expect(() =>
      temp.db.exec(
        second('legacy-root', 1).replace(
          'author_principal, persona_id, actor_id, surface, model, environment, session_id, topic_id, message, created_at, created_ms, op_count, integrity_digest, request_digest, chain_digest FROM',
          "'someone', persona_id, actor_id, surface, model, environment, session_id, topic_id, message, created_at, created_ms, op_count, integrity_digest, request_digest, chain_digest FROM",
        ),
      ),
    ).toThrow('UNIQUE');
  });
});

describe('a store opened read-only', () => {
  function openReadOnly(path: string): Lethe {
    return openLethe({
      path,
      readOnly: true,
      clock: fakeClock(),
      ids: seededIds('read'),
      headSigner: seededSigner('head'),
      mergeKeys: new Map(),
      onEvents: () => {},
      log: silentLog,
    });
  }

  test('L59 answers every read and refuses every write', async () => {
    const head = history.head(branch);
    const lethe = openReadOnly(temp.path);
    try {
      expect(lethe.listProjects()).toHaveLength(1);
      expect(lethe.findRef(history.project, main)?.protected).toBe(true);
      expect(
        lethe.log({ projectId: history.project, refName: refName(branch), limit: 10, allParents: true }).changesets,
      ).toHaveLength(3);
      expect(
        lethe.context({ projectId: history.project, refName: refName(branch), limit: 10, query: 'two' }).memories,
      ).toHaveLength(1);
      expect((await lethe.verifyChain(history.project)).findings).toEqual([]);
      const move = { project: history.project, expected: history.head(main), next: head };
      const writes = [
        lethe.initProject({ projectId: history.project, principal: 'p' }),
        lethe.createRef({
          projectId: history.project,
          refName: refName('refs/agents/a/x'),
          headChangesetId: head,
          principal: 'p',
        }),
        lethe.commit(history.request(branch, [add('three')])),
        lethe.pinContext({ projectId: history.project, refName: refName(branch), limit: 5 }),
        lethe.advance(advanceInput(move, authorize(mergeEnvelope(temp, move)))),
        lethe.maintain(),
      ];
      for (const answer of await Promise.allSettled(writes))
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'READ_ONLY' } });
    } finally {
      lethe.close();
    }
  });

  test('L59 leaves the file as it is, byte for byte, in a place where nothing can be written', () => {
    const copy = `${temp.path}.copy`;
    temp.db.pragma('wal_checkpoint(TRUNCATE)');
    copyFileSync(temp.path, copy);
    const before = readFileSync(copy);
    chmodSync(copy, 0o400);
    const lethe = openReadOnly(copy);
    expect(lethe.listProjects()).toHaveLength(1);
    lethe.close();
    expect(readFileSync(copy).equals(before)).toBe(true);
  });

  test('L59 does not create what is missing and does not migrate what is old', () => {
    const none = `${temp.path}.none`;
    expect(() => openReadOnly(none)).toThrow();
    expect(existsSync(none)).toBe(false);
    const old = `${temp.path}.old`;
    const connection = connect(old, { readOnly: false, mustExist: false });
    connection.exec('CREATE TABLE schema_versions (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT');
    connection.close();
    const { size, mtimeMs } = statSync(old);
    expect(() => openReadOnly(old)).toThrow(expect.objectContaining({ code: 'HOME_INVALID' }));
    expect(statSync(old)).toMatchObject({ size, mtimeMs });
  });

  test('L43 a merge key that is too short refuses to open, and is not named', () => {
    const short = new Map([['k1', testMergeKey.subarray(0, 31)]]);
    const open = (): Lethe =>
      openLethe({
        path: `${temp.path}.keys`,
        readOnly: false,
        clock: fakeClock(),
        ids: seededIds('keys'),
        headSigner: seededSigner('head'),
        mergeKeys: short,
        onEvents: () => {},
        log: silentLog,
      });
    expect(open).toThrow(
      expect.objectContaining({ code: 'KEYS_INVALID', message: expect.not.stringContaining('0123456789') }),
    );
    expect(existsSync(`${temp.path}.keys`)).toBe(false);
  });
});
