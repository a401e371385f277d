import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sealText } from '../../src-main/lethe/rules/seal-text.ts';
import { type ChangesetSeal, insertChangesetSeal } from '../../src-main/lethe/tables/seals.ts';
import { digestIndex } from '../../src-main/lethe/verify/index-digest.ts';
import {
  addAs,
  attachEvidence,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  relate,
  seededSigner,
  type TempLethe,
} from '../support/history-builder.ts';
import { comparedBy, countSeals, verifying, writing } from './seal-stage.ts';
import { altered, branch, disarm, everything } from './verify-stage.ts';

type Row = Record<string, string | number | Uint8Array | null>;

let temp: TempLethe;
let history: HistoryBuilder;

/** Every kind of row, all of it under seals but the root and the last changeset. */
beforeEach(async () => {
  ({ temp, history } = await everything());
  await history.commit(branch, [
    addAs('twin', 'said twice'),
    addAs('stays', 'said twice, stays'),
    attachEvidence('stays', { note: 'seen' }),
    relate('twin', 'repeats', 'stays'),
    duplicate('twin', 'stays'),
    deprecate('stays'),
  ]);
  await history.mergeInto(branch, 'refs/shared/main');
  for (const n of [1, 2, 3]) await history.commit(branch, [addAs(`last ${n}`, `the last ${n}`)]);
  while (await temp.lethe.maintain());
  expect(await verifying(temp, history.project, { signedBy: 'second' })).toMatchObject({ ok: true, notes: [] });
});
afterEach(() => temp.remove());

function tables(): readonly string[] {
  return temp.db
    .query<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name GLOB 'memory_*' OR name = 'text_versions') ORDER BY name",
    )
    .all()
    .map(({ name }) => name)
    .filter((name) => !/^memory_(imported|imports|conflict|baseline|recency)/.test(name));
}

/** Another value of the same type. */
function another(value: Row[string] | undefined): string | number | Uint8Array {
  if (value instanceof Uint8Array) return value.map((byte, at) => (at === value.length - 1 ? byte ^ 1 : byte));
  return altered(value);
}

describe('under seals', () => {
  test('L300 a verified history is compared with its seals, and what is younger is not', async () => {
    const report = await verifying(temp, history.project);
    expect(report).toMatchObject({ ok: true, checked: 11, findings: [] });
    expect(comparedBy(report)).toBe(10);
    expect(countSeals(temp, 'memory_changeset_seals')).toBe(5);
    expect(countSeals(temp, 'memory_move_seals')).toBeGreaterThan(3);
    await history.commit(branch, [addAs('younger', 'younger')]);
    const later = await verifying(temp, history.project, { signedBy: 'second' });
    expect(later).toMatchObject({ ok: true, checked: 12 });
    expect(later.notes).toEqual(['10 changesets were compared with their seals, 2 verified from scratch']);
    expect(countSeals(temp, 'memory_changeset_seals')).toBe(5);
  });

  test('L303 whatever column of whatever table is altered, it is found', async () => {
    disarm(temp);
    const otherRoot = temp.db
      .query<[], { seq: number }>("SELECT seq FROM memory_changesets WHERE project_id = 'other'")
      .get()?.seq;
    const missed: string[] = [];
    let tried = 0;
    for (const table of tables()) {
      const rows = temp.db.query<[], Row>(`SELECT * FROM ${table}`).all();
      const ours = rows.filter(
        (row) => (row.project_id ?? 'demo') === 'demo' && (table !== 'memory_places' || row.seq !== otherRoot),
      );
      const columns = temp.db
        .query<[], { name: string; pk: number; hidden: number }>(
          `SELECT name, pk, hidden FROM pragma_table_xinfo('${table}')`,
        )
        .all();
      expect([table, ours.length > 0]).toEqual([table, true]);
      const where = columns
        .filter((column) => column.pk > 0)
        .map((column) => column.name)
        .map((key) => `${key} = :${key}`);
      for (const column of columns.filter(({ hidden }) => hidden === 0)) {
        // Under the name of another project a seal is just not there.
        if (table.endsWith('_seals') && column.name === 'project_id') continue;
        // A row in the middle of what is sealed, with a value where any has one.
        const valued = ours.filter((row) => row[column.name] !== null);
        const row = valued[Math.floor(valued.length / 2)] ?? ours[0];
        if (row === undefined) continue;
        temp.db.exec('SAVEPOINT damage');
        const at = where.map((condition) => condition.replace(/ = :.*/, ' = ?')).join(' AND ');
        const keys = columns.filter((one) => one.pk > 0).map((one) => row[one.name] ?? null);
        let isChanged = true;
        try {
          temp.db
            .command<(string | number | Uint8Array | null)[]>(`UPDATE ${table} SET ${column.name} = ? WHERE ${at}`)
            .run(another(row[column.name]), ...keys);
        } catch {
          isChanged = false;
        }
        if (isChanged) {
          tried += 1;
          const report = await verifying(temp, history.project).catch(() => ({ ok: false, findings: [] }));
          if (report.ok) missed.push(`${table}.${column.name} of ${keys.join(' ')}`);
        }
        temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      }
    }
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(130);
    expect(await verifying(temp, history.project)).toMatchObject({ ok: true });
  }, 60_000);

  test('L302 L303 L306 what is altered is named by its public id, as without seals', async () => {
    disarm(temp);
    const id = (seq: number): string =>
      temp.db.query<[number], { id: string }>('SELECT changeset_id AS id FROM memory_changesets WHERE seq = ?').get(seq)
        ?.id ?? '';
    const cases: readonly (readonly [sql: string, where: string, problem: string])[] = [
      ["UPDATE memory_changesets SET message = 'x' WHERE seq = 3", `changeset ${id(3)}`, 'integrity digest'],
      ['UPDATE memory_changesets SET request_digest = integrity_digest WHERE seq = 3', `changeset ${id(3)}`, 'request'],
      ['DELETE FROM memory_changesets WHERE seq = 3', 'changeset number 3', 'missing'],
      ['UPDATE memory_places SET active = active + 1 WHERE seq = 3', `index of changeset ${id(3)}`, 'its place'],
      ['DELETE FROM memory_touches WHERE key = 262144', `index of changeset ${id(4)}`, 'touches'],
      ["UPDATE memory_ref_moves SET principal = 'x' WHERE seq = 6", 'ref move 6', 'signature'],
      ['DELETE FROM memory_ref_moves WHERE seq = 6', 'ref move 6', 'missing'],
      ['DELETE FROM memory_protected_ref_advances', 'of refs/shared/main', 'without an advance record'],
      ['UPDATE memory_semantic_keys SET key = key + 1 WHERE op = 131072', 'memory', 'compared by'],
      ['DELETE FROM text_versions WHERE version = 131072', `op 0 of changeset ${id(2)}`, 'missing from the full-text'],
      ['UPDATE memory_refs SET head_seq = 1', 'ref refs/shared/main', 'its head'],
    ];
    for (const [sql, where, problem] of cases) {
      temp.db.exec('SAVEPOINT damage');
      temp.db.exec(sql);
      const { findings } = await verifying(temp, history.project);
      temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      const [named] = findings.filter((one) => one.where.includes(where) && one.problem.includes(problem));
      expect([sql, named]).toEqual([
        sql,
        { where: expect.stringContaining(where), problem: expect.stringContaining(problem) },
      ]);
    }
  });

  test('L306 a history that was made anew under the same ids is not what its sealed moves signed', async () => {
    disarm(temp);
    temp.db.exec(
      "DELETE FROM memory_changeset_seals; UPDATE memory_changesets SET chain_digest = replace(chain_digest, 'a', 'b') WHERE seq = 2",
    );
    const { findings } = await verifying(temp, history.project);
    expect(findings.map(({ problem }) => problem)).toContain(
      'the chain digest that it signed is not that of the changeset it goes to',
    );
  });

  test('L303 a row too many is found in whatever table', async () => {
    disarm(temp);
    const copies = [
      'INSERT INTO memory_touches SELECT memory, key + 7, chain, version, status, linked FROM memory_touches LIMIT 1',
      'INSERT INTO memory_semantic_keys SELECT key + 1, memory, op FROM memory_semantic_keys LIMIT 1',
      'INSERT INTO memory_attachments SELECT op + 1, NULL, 1 FROM memory_attachments LIMIT 1',
      'INSERT INTO memory_changeset_ops (op, op_type) SELECT op + 40, op_type FROM memory_changeset_ops LIMIT 1',
      "INSERT INTO memory_attestations VALUES (2, 'evidence', 2, '{}')",
      'INSERT INTO text_versions SELECT version + 30, memory FROM text_versions LIMIT 1',
    ];
    for (const sql of copies) {
      temp.db.exec('SAVEPOINT damage');
      temp.db.exec(sql);
      const { ok } = await verifying(temp, history.project);
      temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      expect([sql, ok]).toEqual([sql, false]);
    }
    temp.db.exec("INSERT INTO text_index (rowid, tokens) VALUES (CAST(131072 AS INTEGER), '1wsurplus')");
    const { findings } = await verifying(temp, history.project);
    expect(findings).toEqual([
      {
        where: expect.stringMatching(/^op 0 of changeset/),
        problem: 'is in the full-text index with more than its text',
      },
    ]);
  });
});

describe('a seal', () => {
  const forged = [
    'UPDATE memory_changeset_seals SET history_digest = index_digest WHERE last = (SELECT min(last) FROM memory_changeset_seals)',
    "UPDATE memory_changeset_seals SET postings = '0000000000000000'",
    "UPDATE memory_changeset_seals SET signature = replace(signature, substr(signature, 9, 1), '_')",
    'UPDATE memory_changeset_seals SET key_seq = 1',
    'UPDATE memory_changeset_seals SET key_seq = 999',
    'UPDATE memory_changeset_seals SET nodes_through = nodes_through + 1',
    'UPDATE memory_changeset_seals SET last = last + 1, count = count + 1 WHERE last = (SELECT max(last) FROM memory_changeset_seals)',
    'UPDATE memory_changeset_seals SET first = 1 WHERE last = (SELECT min(last) FROM memory_changeset_seals)',
    'UPDATE memory_move_seals SET digest = (SELECT history_digest FROM memory_changeset_seals)',
    'UPDATE memory_move_seals SET first = first + 1 WHERE last = (SELECT max(last) FROM memory_move_seals)',
  ];

  test.each(forged)('L301 that was altered stands for nothing and is named: %s', async (sql) => {
    disarm(temp);
    temp.db.exec(sql);
    const { ok, findings } = await verifying(temp, history.project);
    expect(ok).toBe(false);
    for (const { where } of findings) expect(where).toMatch(/^seal of the (changesets|ref moves) numbered/);
  });

  test('L301 L303 that another key signed hides nothing', async () => {
    disarm(temp);
    temp.db.exec('DELETE FROM memory_changeset_seals');
    expect(await verifying(temp, history.project)).toMatchObject({ ok: true, notes: [] });
    // As a program with the file but without the key would: seals of its own over what it altered.
    const forger = seededSigner('forger');
    await verifying(temp, history.project, { signedBy: 'second' });
    temp.db.exec('UPDATE memory_places SET active = active + 1 WHERE seq = 3');
    const rows = temp.db.query<[], ChangesetSeal>('SELECT * FROM memory_changeset_seals ORDER BY last').all();
    let nodesThrough = 0;
    for (const row of rows) {
      const { signature: _, ...columns } = row;
      const { digest, nodesThrough: through } = digestIndex(temp.db, history.project, row, nodesThrough);
      nodesThrough = through;
      const sealed = { ...columns, index_digest: digest };
      await writing(temp, (db) =>
        insertChangesetSeal(db, { ...sealed, signature: forger.sign(sealText('changesets', sealed)) }),
      );
    }
    const { findings } = await verifying(temp, history.project);
    expect(findings.map(({ problem }) => problem)).toContain('its place in the index is not the one below its parents');
  });

  test('L301 of a key that was replaced holds on, and the new key makes none before it signed a move', async () => {
    temp = temp.reopen({ headSigner: seededSigner('third') });
    history = historyBuilder(temp, 'demo', 'principal_00000000000000a5');
    expect(comparedBy(await verifying(temp, history.project))).toBe(10);
    temp.db.exec('DELETE FROM memory_changeset_seals WHERE last = (SELECT max(last) FROM memory_changeset_seals)');
    await verifying(temp, history.project, { signedBy: 'third' });
    expect(countSeals(temp, 'memory_changeset_seals')).toBe(4);
    await history.commit(branch, [addAs('last 4', 'the last 4')]);
    await verifying(temp, history.project, { signedBy: 'third' });
    expect(countSeals(temp, 'memory_changeset_seals')).toBe(5);
    expect(comparedBy(await verifying(temp, history.project))).toBe(10);
  });

  test('L309 that does not hold is named until a full verification seals everything anew', async () => {
    disarm(temp);
    temp.db.exec('UPDATE memory_changeset_seals SET count = count + 1; UPDATE memory_move_seals SET count = count + 1');
    expect((await verifying(temp, history.project, { signedBy: 'second' })).ok).toBe(false);
    const report = await temp.lethe.verifyChain(history.project, undefined, { isFull: true });
    expect(report).toMatchObject({ ok: true, findings: [], notes: [] });
    expect((await verifying(temp, history.project)).ok).toBe(true);
  });

  test('L308 does not hide that a head key is not the one that signed', async () => {
    disarm(temp);
    for (const sql of [
      'UPDATE memory_head_keys SET first_seq = first_seq + 1 WHERE first_seq > 1',
      'UPDATE memory_head_keys SET public_key = (SELECT public_key FROM memory_head_keys WHERE first_seq > 1) WHERE first_seq = 1',
    ]) {
      temp.db.exec('SAVEPOINT damage');
      temp.db.exec(sql);
      const { findings } = await verifying(temp, history.project);
      temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      expect([sql, findings.length > 0]).toEqual([sql, true]);
    }
  });
});
