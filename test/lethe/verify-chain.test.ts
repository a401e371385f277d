import { afterEach, describe, expect, test } from 'vitest';
import { readContext } from '../../src-main/lethe/context.ts';
import { verifyChain } from '../../src-main/lethe/verify-chain.ts';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import {
  add,
  historyBuilder,
  openTempLethe,
  projectId,
  refName,
  type TempLethe,
  testMergeKey,
} from '../support/history-builder.ts';
import { altered, beside, branch, disarm, main, everything as stageOfEverything } from './verify-stage.ts';

const opened: TempLethe[] = [];
afterEach(() => {
  for (const temp of opened.splice(0)) temp.remove();
});

async function everything() {
  const stage = await stageOfEverything();
  opened.push(stage.temp);
  return stage;
}

describe('a sound project', () => {
  test('L57 verifies with nothing found, and says how much was looked at', async () => {
    const { temp, history } = await everything();
    const progress: [number, number][] = [];
    const report = await temp.lethe.verifyChain(history.project, (done, total) => progress.push([done, total]));
    const head = temp.lethe.findChangeset(history.head(main));
    expect(report).toEqual({
      ok: true,
      checked: 6,
      head: head?.chain_digest ?? 'none',
      findings: [],
      notes: [],
    } satisfies VerifyReport);
    expect(progress.at(-1)).toEqual([6, 6]);
    expect(await temp.lethe.verifyChain(projectId('other'))).toMatchObject({ ok: true, checked: 1, findings: [] });
  });

  test('L57 an unknown project is a fault', async () => {
    const temp = openTempLethe();
    opened.push(temp);
    await expect(temp.lethe.verifyChain(projectId('none'))).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' });
  });

  test('L57 lets others work in between, and what they commit does not disturb it', async () => {
    const temp = openTempLethe();
    opened.push(temp);
    const history = historyBuilder(temp);
    await history.init();
    await history.branch(branch);
    for (let n = 0; n < 600; n += 1) await history.commit(branch, [add(`memory ${n}`)]);
    let running = true;
    let commits = 0;
    const verifying = temp.lethe.verifyChain(history.project).finally(() => {
      running = false;
    });
    while (running) {
      await history.commit(branch, [add(`meanwhile ${commits}`)]);
      commits += 1;
    }
    const report = await verifying;
    expect(report.findings).toEqual([]);
    expect(commits).toBeGreaterThan(5);
    expect(report.checked).toBeGreaterThanOrEqual(601);
  });

  test('L57 a store that is closed meanwhile ends the verification with a fault', async () => {
    const { temp, history } = await everything();
    const verifying = temp.lethe.verifyChain(history.project);
    temp.lethe.close();
    await expect(verifying).rejects.toMatchObject({ code: 'CLOSED' });
    opened.splice(0, 1, temp.reopen());
  });

  test('L57 says which authorizations no key at hand could verify', async () => {
    const { temp, history } = await everything();
    const without = temp.reopen({ mergeKeys: new Map() });
    opened.splice(0, 1, without);
    const report = await without.lethe.verifyChain(history.project);
    expect(report).toMatchObject({
      ok: true,
      notes: ['3 merge authorizations were signed by a key that is not at hand: their signatures were not verified'],
    });
  });
});

describe('an altered one', () => {
  test('L58 what is altered is named, by its public id', async () => {
    const { temp, history } = await everything();
    disarm(temp);
    const first = temp.lethe.log({ projectId: history.project, refName: refName(branch), limit: 10, allParents: false })
      .changesets[1];
    const id = first?.changeset_id ?? '';
    const moveTo = 'to_head = (SELECT changeset_id FROM memory_changesets WHERE seq = 1)';
    const cases: readonly [string, string, string][] = [
      [
        `UPDATE memory_changesets SET message = 'another' WHERE changeset_id = '${id}'`,
        `changeset ${id}`,
        'integrity digest',
      ],
      [
        `UPDATE memory_changesets SET created_at = '2026-11-30T12:00:09Z' WHERE changeset_id = '${id}'`,
        `changeset ${id}`,
        'chain digest',
      ],
      [
        "UPDATE memory_op_payloads SET body = replace(body, 'purr', 'bite') WHERE op = 131072",
        `changeset ${id}`,
        'integrity digest',
      ],
      [
        "UPDATE memory_op_payloads SET body = replace(body, ':', ': ') WHERE op = 131072",
        `changeset ${id}`,
        'not stored in its one form',
      ],
      ['DELETE FROM memory_op_payloads WHERE op = 131072', `changeset ${id}`, 'integrity digest'],
      ['DELETE FROM memory_changeset_ops WHERE op = 131073', `changeset ${id}`, 'integrity digest'],
      ['DELETE FROM memory_attestations WHERE seq = 2 AND position = 1', `changeset ${id}`, 'integrity digest'],
      ['DELETE FROM memory_changesets WHERE seq = 3', 'changeset number 3', 'missing'],
      [
        `UPDATE memory_ref_moves SET ${moveTo} WHERE ref_name = '${branch}' AND from_head <> ''`,
        `of ${branch}`,
        'signature',
      ],
      [
        `UPDATE memory_ref_moves SET signature = replace(signature, substr(signature, 9, 1), '_') WHERE ref_name = '${beside}'`,
        `of ${beside}`,
        'signature',
      ],
      [
        `DELETE FROM memory_ref_moves WHERE seq = (SELECT max(seq) FROM memory_ref_moves WHERE ref_name = '${branch}')`,
        'ref move',
        'missing',
      ],
      [`UPDATE memory_refs SET head_seq = 1 WHERE ref_name = '${main}'`, `ref ${main}`, 'its head'],
      [`DELETE FROM memory_refs WHERE ref_name = '${beside}'`, `ref ${beside}`, 'missing'],
      ['DELETE FROM memory_protected_ref_advances', `of ${main}`, 'without an advance record'],
      [
        "UPDATE memory_merge_authorizations SET outcome = 'consumed', refusal = '' WHERE outcome = 'refused'",
        'merge authorization',
        'altered',
      ],
      ["DELETE FROM memory_merge_authorizations WHERE outcome = 'consumed'", 'advance', 'authorization'],
      ["UPDATE memory_manifests SET query = 'dogs' WHERE query = 'cats'", 'manifest', 'pinned context'],
      ["UPDATE memory_legacy_baselines SET event_ids = '[1]'", 'project demo', 'baseline'],
      ['DELETE FROM memory_legacy_baselines', 'project demo', 'baseline is missing'],
    ];
    for (const [damage, where, problem] of cases) {
      temp.db.exec('SAVEPOINT damage');
      temp.db.exec(damage);
      const tools = { mergeKeys: new Map([['k1', testMergeKey]]), readContext, indexes: [] };
      const { findings } = await verifyChain((chunk) => chunk(temp.db), history.project, tools);
      temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      const [named] = findings.filter((finding) => finding.where.includes(where) && finding.problem.includes(problem));
      expect([damage, named]).toEqual([
        damage,
        { where: expect.stringContaining(where), problem: expect.stringContaining(problem) },
      ]);
    }
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L58 moves whose signatures do not verify are named in the order of the moves, however many there are', async () => {
    const temp = openTempLethe();
    opened.push(temp);
    const history = historyBuilder(temp);
    await history.init();
    await history.branch(branch);
    for (let n = 0; n < 450; n += 1) await history.commit(branch, [add(`memory ${n}`)]);
    disarm(temp);
    const damaged = [440, 3, 201, 200];
    const forge = temp.db.command<[number]>(
      'UPDATE memory_ref_moves SET signature = (SELECT signature FROM memory_ref_moves WHERE seq = 5) WHERE seq = ?',
    );
    for (const seq of damaged) forge.run(seq);
    const { findings } = await temp.lethe.verifyChain(history.project);
    expect(findings).toEqual(
      damaged
        .toSorted((one, other) => one - other)
        .map((seq) => ({ where: `ref move ${seq} of ${branch}`, problem: 'its signature does not verify' })),
    );
  });

  test('L58 every column of every row of the history is covered', async () => {
    const { temp, history } = await everything();
    disarm(temp);
    const names = [
      'memory_projects',
      'memory_changesets',
      'memory_changeset_parents',
      'memory_changeset_ops',
      'memory_op_payloads',
      'memory_attestations',
      'memory_refs',
      'memory_ref_moves',
      'memory_head_keys',
      'memory_legacy_baselines',
      'memory_merge_authorizations',
      'memory_protected_ref_advances',
      'memory_manifests',
    ];
    const otherSeq = temp.db
      .query<[], { seq: number }>("SELECT seq FROM memory_changesets WHERE project_id = 'other'")
      .get()?.seq;
    const missed: string[] = [];
    let tried = 0;
    for (const table of names) {
      const columns = temp.db
        .query<[], { name: string; pk: number; hidden: number }>(
          `SELECT name, pk, hidden FROM pragma_table_xinfo('${table}')`,
        )
        .all();
      const keys = columns.filter((column) => column.pk > 0).map((column) => column.name);
      const rows = temp.db.query<[], Record<string, string | number | null>>(`SELECT * FROM ${table}`).all();
      expect([table, rows.length > 0]).toEqual([table, true]);
      for (const row of rows) {
        if (row.project_id === 'other' || (table === 'memory_attestations' && row.seq === otherSeq)) continue;
        const where = keys.map((key) => `${key} = ?`).join(' AND ');
        for (const column of columns.filter((one) => one.hidden === 0)) {
          const value = altered(row[column.name]);
          const before = row[column.name] ?? null;
          const set = (to: string | number | null, at: (string | number)[]): boolean => {
            try {
              temp.db
                .command<(string | number | null)[]>(`UPDATE ${table} SET ${column.name} = ? WHERE ${where}`)
                .run(to, ...at);
              return true;
            } catch {
              return false;
            }
          };
          const at = keys.map((key) => row[key] ?? 0);
          if (!set(value, at)) continue;
          tried += 1;
          const report = await temp.lethe
            .verifyChain(history.project)
            .catch((thrown: Error) => ({ findings: [{ where: '', problem: thrown.message }] }));
          if (report.findings.length === 0) missed.push(`${table}.${column.name} of ${at.join(' ')}`);
          set(
            before,
            keys.map((key) => (key === column.name ? value : (row[key] ?? 0))),
          );
        }
      }
    }
    expect(missed).toEqual([]);
    expect(tried).toBeGreaterThan(300);
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  }, 120_000);
});
