import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import { conflictEventQueries } from '../../src-main/lethe/tables/conflict-events.ts';
import { conflictQueries } from '../../src-main/lethe/tables/conflicts.ts';
import { openConflictQueries } from '../../src-main/lethe/tables/open-conflicts.ts';
import { verifyConflictEvents, verifyConflicts } from '../../src-main/lethe/verify/conflicts.ts';
import { ConstraintBroken } from '../../src-main/sqlite/store-fault.ts';
import { add, addAs } from '../support/history-builder.ts';
import {
  type ConflictStage,
  decision,
  first,
  openConflictStage,
  ours,
  proposal,
  reopenStage,
  theirs,
} from './conflict-stage.ts';

let stage: ConflictStage;
beforeEach(async () => {
  stage = await openConflictStage();
});
afterEach(() => stage.temp.remove());

const tables = [
  'memory_conflicts',
  'memory_conflict_memories',
  'memory_conflict_events',
  'memory_conflict_bindings',
] as const;
const retire = (number: number): Promise<number> =>
  stage.temp.lethe.retireConflicts({
    projectId: stage.history.project,
    proposalId: proposal(number),
    status: 'canceled',
  });

/** Conflicts in every status, carried, bound twice, released and bound again. */
async function everything(): Promise<void> {
  for (const scope of ['a', 'b'])
    for (const ref of [ours, theirs])
      await stage.history.commit(ref, [addAs(`${ref}/${scope}`, `${ref} ${scope}`, decision(scope))]);
  const kept = await stage.keep(proposal(1));
  await stage.keep(proposal(2));
  stage.temp.clock.advance(1_000);
  await stage.resolve(first(kept).conflict_id, 'settled');
  await retire(1);
  await stage.history.commit(ours, [add('moved on')]);
  await stage.keep(proposal(3));
  await retire(3);
  await stage.keep(proposal(3));
}

describe('the rows', () => {
  test('L196 of what a conflict says nothing changes, and no row is deleted', async () => {
    await everything();
    const { db } = stage.temp;
    const before = tables.map((table) => db.query(`SELECT * FROM ${table}`).all());
    for (const table of tables) {
      const columns = db.query<[], { name: string }>(`SELECT name FROM pragma_table_info('${table}')`).all();
      for (const { name } of columns) {
        expect(() => db.exec(`UPDATE ${table} SET ${name} = ${name}`), `${table}.${name}`).toThrow(
          /immutable|changes only/,
        );
        const isText = ['status', 'details', 'summary', 'note', 'principal'].includes(name);
        const other = isText ? `'x'` : `${name} + 1`;
        expect(() => db.exec(`UPDATE ${table} SET ${name} = ${other}`), `${table}.${name}`).toThrow();
      }
      expect(() => db.exec(`DELETE FROM ${table}`)).toThrow(/immutable|never deleted/);
      const names = columns.map(({ name }) => name).join(', ');
      expect(() => db.exec(`INSERT OR REPLACE INTO ${table} (${names}) SELECT ${names} FROM ${table}`)).toThrow(
        /immutable|never deleted/,
      );
    }
    expect(tables.map((table) => db.query(`SELECT * FROM ${table}`).all())).toEqual(before);
  });

  test('L196 a status goes from open to an end and from a retired one back to open; a resolved one stays', async () => {
    await stage.keep();
    const { db } = stage.temp;
    const become = (status: string): void => db.exec(`UPDATE memory_conflicts SET status = '${status}'`);
    for (const status of ['rejected', 'superseded', 'canceled', 'deferred']) {
      become(status);
      for (const other of ['resolved', 'rejected', 'superseded', 'canceled', 'deferred'])
        expect(() => become(other), `${status} to ${other}`).toThrow('a conflict changes only its status');
      become('open');
    }
    expect(() => become('ended')).toThrow('CHECK');
    become('resolved');
    for (const other of ['open', 'rejected', 'superseded', 'canceled', 'deferred'])
      expect(() => become(other), `resolved to ${other}`).toThrow('never once it is resolved');
  });

  test('L196 a conflict that was altered is not told', async () => {
    await everything();
    const { db, lethe } = stage.temp;
    for (const trigger of db.query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER ${trigger.name}`);
    for (const damage of [
      "UPDATE memory_conflicts SET summary = 'nothing'",
      "UPDATE memory_conflicts SET status = 'resolved'",
      "UPDATE memory_conflict_events SET note = 'another'",
    ]) {
      db.exec(`SAVEPOINT damage; ${damage}`);
      expect(() => lethe.listConflicts({ projectId: stage.history.project, limit: 50 }), damage).toThrow(
        expect.objectContaining({ code: 'INTEGRITY_MISMATCH' }),
      );
      db.exec('ROLLBACK TO damage; RELEASE damage');
    }
    expect(stage.list()).toHaveLength(6);
  });
});

/** Another value of the same type. */
function altered(value: string | number | null): string | number {
  if (typeof value === 'number') return value + 1;
  if (value === null || value === '') return 'x';
  const at = Math.floor(value.length / 2);
  return `${value.slice(0, at)}${value[at] === '1' ? '2' : '1'}${value.slice(at + 1)}`;
}

/** Where verification finds something about the conflicts of the store. */
function wheres(): readonly string[] {
  const { db } = stage.temp;
  const findings = openFindings();
  for (let at: number | undefined = 0; at !== undefined; )
    at = verifyConflicts(db, stage.history.project, at, findings);
  for (let at: number | undefined = 0; at !== undefined; ) at = verifyConflictEvents(db, at, findings);
  return findings.list.map(({ where }) => where);
}

describe('verification', () => {
  test('L203 finds nothing in sound conflicts, also after the store was opened again', async () => {
    await everything();
    expect(await stage.temp.lethe.verifyChain(stage.history.project)).toMatchObject({ ok: true, findings: [] });
    stage = reopenStage(stage);
    expect(await stage.temp.lethe.verifyChain(stage.history.project)).toMatchObject({ ok: true, findings: [] });
  });

  test('L203 finds a changed value in every column of every row, and a row that is missing', async () => {
    await everything();
    const { db, lethe } = stage.temp;
    for (const trigger of db.query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
      db.exec(`DROP TRIGGER ${trigger.name}`);
    db.pragma('foreign_keys = OFF');
    db.pragma('ignore_check_constraints = ON');
    const missed: string[] = [];
    let tried = 0;
    const named = db
      .query<[], { conflict_id: string }>('SELECT conflict_id FROM memory_conflicts WHERE number = 2')
      .get()?.conflict_id;
    for (const table of tables) {
      const columns = db
        .query<[], { name: string; pk: number }>(`SELECT name, pk FROM pragma_table_info('${table}')`)
        .all();
      const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => name);
      const rows = db.query<[], Record<string, string | number | null>>(`SELECT * FROM ${table}`).all();
      expect(rows.length).toBeGreaterThan(4);
      const where = keys.map((key) => `${key} = ?`).join(' AND ');
      const find = (damage: string, values: readonly (string | number | null)[], what: string): void => {
        db.exec('SAVEPOINT damage');
        try {
          db.command<(string | number | null)[]>(damage).run(...values);
          tried += 1;
          if (wheres().length === 0) missed.push(what);
        } catch (thrown) {
          // A value that is taken already cannot be put there.
          expect(thrown).toBeInstanceOf(ConstraintBroken);
        }
        db.exec('ROLLBACK TO damage; RELEASE damage');
      };
      for (const row of rows) {
        const at = keys.map((key) => row[key] ?? null);
        for (const { name } of columns)
          find(
            `UPDATE ${table} SET ${name} = ? WHERE ${where}`,
            [altered(row[name] ?? null), ...at],
            `${table}.${name}`,
          );
        find(`DELETE FROM ${table} WHERE ${where}`, at, `${table} row`);
      }
    }
    expect(tried).toBeGreaterThan(400);
    expect(missed).toEqual([]);
    expect(wheres()).toEqual([]);
    db.exec("UPDATE memory_conflicts SET summary = 'another' WHERE number = 2");
    const { findings } = await lethe.verifyChain(stage.history.project);
    expect(new Set(findings.map(({ where }) => where))).toEqual(new Set([`conflict ${named}`]));
    expect(wheres()).toContain(`conflict ${named}`);
  });
});

test('L140 a store of the version before keeps what it has and takes conflicts', async () => {
  const { db, lethe } = stage.temp;
  const head = lethe.findChangeset(stage.history.head(ours));
  for (const table of tables.toReversed()) db.exec(`DROP TABLE ${table}`);
  db.exec("DELETE FROM schema_versions WHERE name = 'lethe_0007_conflicts'");
  stage = reopenStage(stage);
  expect(stage.temp.lethe.findChangeset(stage.history.head(ours))).toEqual(head);
  expect(stage.list()).toEqual([]);
  expect(await stage.temp.lethe.verifyChain(stage.history.project)).toMatchObject({ ok: true, findings: [] });
  expect(await stage.keep()).toHaveLength(1);
  expect(await stage.temp.lethe.verifyChain(stage.history.project)).toMatchObject({ ok: true, findings: [] });
});

test.each(
  Object.entries<string>({ ...conflictQueries, ...conflictEventQueries, ...openConflictQueries }).filter(
    ([name]) => name !== 'last',
  ),
)('L199 %s seeks by an index of its own and sorts nothing', (_, sql) => {
  const plan = stage.temp.db.explain(sql.replaceAll('?', '1'));
  expect(plan.filter((step) => !step.startsWith('SEARCH '))).toEqual([]);
});
