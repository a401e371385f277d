import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { letheOver } from '../../src-main/lethe/lethe.ts';
import { lethe0008SemanticKeys } from '../../src-main/lethe/migrations/lethe-0008-semantic-keys.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { verifySemanticKeys } from '../../src-main/lethe/projection/verify-semantic-keys.ts';
import { semanticKeyQueries } from '../../src-main/lethe/tables/semantic-keys.ts';
import { sideOpQueries } from '../../src-main/lethe/tables/side-ops.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import {
  addAs,
  attachEvidence,
  correct,
  fakeClock,
  historyBuilder,
  openTempLethe,
  seededIds,
  seededSigner,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';

/** A history whose memories got keys, lost them, and got them again. */
async function grow(temp: Pick<TempLethe, 'lethe'>, project = 'demo'): Promise<void> {
  const history = historyBuilder(temp, project);
  await history.init();
  await history.branch(work);
  await history.commit(work, [
    addAs('choice', 'use one', { kind: 'decision', scope: 'desk', subject: 'count' }),
    addAs('fact', 'it is 7', { kind: 'fact', fact_key: 'size' }),
    addAs('plain', ' a note\n'),
  ]);
  await history.commit(work, [correct('choice', { content: 'use two' }), correct('fact', { scope: 'desk' })]);
  await history.commit(work, [correct('choice', { content: 'use one' }), attachEvidence('plain', { note: 'seen' })]);
  await history.commit(work, [correct('plain', { kind: 'fact', subject: 'size' }, 'renamed'), supersede('fact')]);
}

interface KeyRow {
  readonly key: number;
  readonly memory: number;
  readonly op: number;
}

const rowsOf = (db: Connection): readonly KeyRow[] =>
  db.query<[], KeyRow>('SELECT key, memory, op FROM memory_semantic_keys ORDER BY key, memory').all();

describe('the keys by which memories are compared', () => {
  let temp: TempLethe;
  beforeEach(async () => {
    temp = openTempLethe();
    await grow(temp);
  });
  afterEach(() => temp.remove());

  async function problems(project = 'demo'): Promise<readonly string[]> {
    const findings = openFindings();
    await verifySemanticKeys(
      (chunk) => temp.db.reading(() => chunk(temp.db)),
      historyBuilder(temp, project).project,
      findings,
      async () => {},
    );
    return findings.list.map(({ where, problem }) => `${where}: ${problem}`);
  }

  test('L175 a commit keeps each key of each state once, with the op that gave it first', () => {
    const rows = rowsOf(temp.db);
    // choice: two contents, scope, subject; fact: content, key in the project and in desk; plain: content; renamed: content and key.
    expect(rows).toHaveLength(4 + 3 + 1 + 2);
    const ops = rows.map(({ op }) => Math.floor(op / 65_536));
    expect(ops.toSorted()).toEqual([2, 2, 2, 2, 2, 2, 3, 3, 5, 5]);
  });

  test('L176 keys that equal the states have no findings, beside another project too', async () => {
    await grow(temp, 'other');
    expect(await problems()).toEqual([]);
    expect(await problems('other')).toEqual([]);
    expect(await temp.lethe.verifyChain(historyBuilder(temp).project)).toMatchObject({ ok: true, findings: [] });
  });

  test.each([
    ['a lost key', 'DELETE FROM memory_semantic_keys WHERE key = (SELECT max(key) FROM memory_semantic_keys)'],
    [
      'another key',
      'UPDATE memory_semantic_keys SET key = key + 7 WHERE op = (SELECT max(op) FROM memory_semantic_keys)',
    ],
    [
      'a key too many',
      'INSERT INTO memory_semantic_keys (key, memory, op) SELECT 7, memory, op FROM memory_semantic_keys LIMIT 1',
    ],
    [
      'a key of a memory that there is not',
      'INSERT INTO memory_semantic_keys (key, memory, op) VALUES (7, 99999999, 99999999)',
    ],
    [
      'a key from a later op',
      'UPDATE memory_semantic_keys SET op = 65536 * 4 WHERE op = (SELECT min(op) FROM memory_semantic_keys WHERE memory = 65536 * 2)',
    ],
    ['a key of another memory', 'UPDATE memory_semantic_keys SET memory = 65536 * 2 + 1 WHERE memory = 65536 * 2 + 2'],
  ])('L176 %s is found', async (_, sql) => {
    temp.db.exec(sql);
    expect(await problems()).not.toEqual([]);
    expect(await temp.lethe.verifyChain(historyBuilder(temp).project)).toMatchObject({ ok: false });
  });

  test('L178 every query of the keys and of the ops of a side seeks by an index', () => {
    for (const [name, sql] of Object.entries({ ...semanticKeyQueries, ...sideOpQueries })) {
      const plan = temp.db.explain(sql.replaceAll('?', '1')).join('\n');
      expect(plan, name).not.toContain('SCAN');
      expect(plan, name).not.toContain('TEMP B-TREE');
    }
  });
});

describe('a store of the version before', () => {
  const clock = fakeClock();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'memory-git-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('L175 gets the keys of the states that it has, the same as if they had been kept from the start', async () => {
    const present = join(folder, 'present.db');
    const db = openStore(present, letheMigrations, clock);
    const lethe = letheOver(db, {
      path: present,
      readOnly: false,
      clock,
      ids: seededIds('keys'),
      headSigner: seededSigner('head'),
      mergeKeys: new Map(),
      onEvents: () => {},
      log: silentLog,
    });
    await grow({ lethe });
    await grow({ lethe }, 'other');
    const kept = rowsOf(db);
    expect(kept).toHaveLength(20);
    lethe.close();

    const path = join(folder, 'lethe.db');
    const before = openStore(path, letheMigrations.slice(0, letheMigrations.indexOf(lethe0008SemanticKeys)), clock);
    takeOver(before, present);
    before.close();
    const carried = openStore(path, letheMigrations, clock);
    expect(rowsOf(carried)).toEqual(kept);
    carried.close();
  });
});

/** Fills the tables of an empty store of the version before with what a store of the present one holds in them. */
function takeOver(before: Connection, path: string): void {
  before.exec(`ATTACH '${path}' AS present; PRAGMA foreign_keys = OFF`);
  const names = (sql: string): readonly string[] =>
    before
      .query<[], { name: string }>(sql)
      .all()
      .map(({ name }) => name);
  for (const table of names("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'memory_*'")) {
    const columns = names(`SELECT name FROM pragma_table_info('${table}')`).join(', ');
    before.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM present.${table}`);
  }
  before.exec('DETACH present');
}
