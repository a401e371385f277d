import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lethe0011Manifests } from '../../src-main/lethe/migrations/lethe-0011-manifests.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { rowDigest } from '../../src-main/lethe/row-digest.ts';
import { manifestQueries } from '../../src-main/lethe/tables/manifests.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import { manifestIdSchema } from '../../src-preload/contract/ids.ts';
import { addAs, correct, fakeClock, historyBuilder, openTempLethe, refName } from '../support/history-builder.ts';

const work = 'refs/topics/work';
const id = '00000000-0000-7000-8000-0000000000f1';
const firstColumns = `manifest_id, direction, project_id, ref_name, head_seq, selected_memory_ids, inclusion_reasons, query,
  page_limit, kinds, tags, cursor, total_active, context_digest, session_id, actor_id, created_at`;

type Row = Record<string, string | number | null>;

/** Writes a manifest as the version before wrote it: without the later columns, its digest over the first ones. */
function insertFromBefore(db: Connection, row: Row): void {
  const values = Object.values(row);
  db.command<(string | number | null)[]>(
    `INSERT INTO memory_manifests (${firstColumns}, row_digest) VALUES (${values.map(() => '?').join(', ')}, ?)`,
  ).run(...values, rowDigest('manifest', row));
}

test('L223 a manifest from before verifies by the digest that it has, and reads as it was pinned', async () => {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  const history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  await history.commit(work, [
    addAs('m', 'before', { kind: 'fact' }),
    addAs('n', 'beside'),
    addAs('o', 'o', { kind: 'fact' }),
  ]);
  const question = { projectId: history.project, refName: refName(work), limit: 1, kinds: ['fact'] };
  const pinned = await temp.lethe.pinContext({ ...question, actorId: 'a' });
  const row = temp.db.query<[], Row>(`SELECT ${firstColumns} FROM memory_manifests`).get() ?? {};
  insertFromBefore(temp.db, { ...row, manifest_id: id });
  await history.commit(work, [correct('m', { content: 'after' })]);
  const manifestId = manifestIdSchema.parse(id);
  // A cursor where nothing is withheld is byte for byte what it was: the digests of those days cover it.
  const cursor = JSON.parse(Buffer.from(pinned.next_cursor ?? '', 'base64url').toString());
  expect(Object.keys(cursor)).toEqual(['of', 'question', 'head', 'matched', 'after', 'shown']);
  expect(temp.lethe.getManifest(manifestId)).toMatchObject({ kinds: ['fact'], limit: 1, total_active: 3 });
  expect(temp.lethe.manifestContext(history.project, manifestId)).toEqual({ ...pinned, manifest_id: id });
  expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });

  temp.db.exec('DROP TRIGGER memory_manifests_never_update');
  for (const change of [
    'withheld = \'[["m","c"]]\'',
    'filters = \'{"scopes":["x"]}\'',
    'base_seq = 1',
    'form = 2',
    'form = 3',
  ]) {
    temp.db.exec(`SAVEPOINT altered; UPDATE memory_manifests SET ${change} WHERE manifest_id = '${id}'`);
    expect(() => temp.lethe.getManifest(manifestId), change).toThrow(
      expect.objectContaining({ code: 'INTEGRITY_MISMATCH' }),
    );
    temp.db.exec('ROLLBACK TO altered; RELEASE altered');
  }
});

test('L223 a store of the version before keeps its manifests as they are', () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-manifests-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'lethe.db');
  const old = openStore(path, letheMigrations.slice(0, letheMigrations.indexOf(lethe0011Manifests)), fakeClock());
  old.pragma('foreign_keys = OFF');
  const row = {
    ...{ manifest_id: id, direction: 'input', project_id: 'demo', ref_name: work, head_seq: 1 },
    ...{ selected_memory_ids: '["m"]', inclusion_reasons: '{}', query: '', page_limit: 5, kinds: '[]', tags: '[]' },
    ...{ cursor: '', total_active: 3, context_digest: 'd'.repeat(64), session_id: '', actor_id: 'a', created_at: 't' },
  };
  insertFromBefore(old, row);
  old.close();
  const db = openStore(path, letheMigrations, fakeClock());
  const [kept] = db.query<[], Row>('SELECT * FROM memory_manifests').all();
  expect(kept).toEqual({
    ...row,
    ...{
      row_digest: rowDigest('manifest', row),
      form: 1,
      filters: '{}',
      next_cursor: '',
      withheld: '[]',
      unresolved_conflicts: '[]',
    },
    ...{ exclusion_reasons: '{}', base_seq: null, resulting_seq: null, proposed_target_ref: '', merge_proposal_id: '' },
  });
  db.close();
});

test('L224 manifests are found by their id, by their reply and by their proposal, each by an index', () => {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  for (const [name, sql] of Object.entries(manifestQueries)) {
    const plan = temp.db.explain(sql.replaceAll('?', "'x'"));
    expect([name, plan.map((step) => step.replace(/ USING .*| \(.*/, ''))]).toEqual([
      name,
      ['SEARCH memory_manifests'],
    ]);
  }
});
