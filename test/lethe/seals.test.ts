import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { integrityPreimage } from '../../src-main/canonical/digest.ts';
import { digestedChangeset } from '../../src-main/lethe/changeset-rows.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { readChangesets } from '../../src-main/lethe/verify/changesets.ts';
import { storedPreimage } from '../../src-main/lethe/verify/stored-preimage.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import {
  add,
  addAs,
  attachEvidence,
  fakeClock,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  relate,
  seededIds,
  seededSigner,
  type TempLethe,
  testMergeKey,
} from '../support/history-builder.ts';
import { comparedBy, countSeals, verifying } from './seal-stage.ts';

const work = 'refs/topics/work';

async function grown(count: number): Promise<{ readonly temp: TempLethe; readonly history: HistoryBuilder }> {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  const history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  for (let n = 0; n < count; n += 1) await history.commit(work, [add(`memory ${n}`)]);
  return { temp, history };
}

test('L300 L307 L310 idle moments seal every whole stretch behind the index, and verification makes use of it', async () => {
  const { temp, history } = await grown(300);
  expect(await temp.lethe.sealNext()).toBe(true);
  // The moves are sealed first: of the changesets some still wait for the index.
  expect([countSeals(temp, 'memory_changeset_seals'), countSeals(temp, 'memory_move_seals')]).toEqual([0, 1]);
  expect(await temp.lethe.sealNext()).toBe(false);
  while (await temp.lethe.maintain());
  // What waited for the index alone is looked for again with the next changes.
  await history.commit(work, [add('one more')]);
  while (await temp.lethe.maintain());
  while (await temp.lethe.sealNext());
  expect([countSeals(temp, 'memory_changeset_seals'), countSeals(temp, 'memory_move_seals')]).toEqual([1, 1]);
  const before = temp.db.counters.rowsRead;
  expect(await temp.lethe.sealNext()).toBe(false);
  expect(temp.db.counters.rowsRead - before).toBeLessThan(5);
  const report = await temp.lethe.verifyChain(history.project);
  expect(report).toMatchObject({ ok: true, checked: 302 });
  expect(report.notes).toEqual(['256 changesets were compared with their seals, 46 verified from scratch']);

  // Of a stretch that was sealed not even a recency page can change.
  const page = temp.db
    .query<[], { seq: number; body: Uint8Array }>('SELECT seq, body FROM memory_recency_pages ORDER BY seq LIMIT 1')
    .get();
  const write = temp.db.command<[Uint8Array, number]>('UPDATE memory_recency_pages SET body = ? WHERE seq = ?');
  write.run(Uint8Array.from([0]), page?.seq ?? 0);
  expect((await temp.lethe.verifyChain(history.project)).findings[0]).toMatchObject({
    problem: 'its recency page is not what its history makes of it',
  });
  write.run(page?.body ?? Uint8Array.from([0]), page?.seq ?? 0);
  expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true });

  // A stretch that is damaged is not sealed.
  const { project } = history;
  await history.commit(work, [addAs('big', 'big'), ...Array.from({ length: 511 }, (_, n) => add(`part ${n}`))]);
  while (await temp.lethe.maintain());
  temp.db.exec('UPDATE memory_places SET active = active + 1 WHERE seq = 290');
  expect(await temp.lethe.sealNext()).toBe(false);
  expect(countSeals(temp, 'memory_changeset_seals')).toBe(1);
  expect((await temp.lethe.verifyChain(project)).findings[0]?.where).toMatch(/^index of changeset/);
  expect(countSeals(temp, 'memory_changeset_seals')).toBe(1);
});

test('L310 a store of the version before has no seals and gets them; in recovery none is made', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-seals-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'lethe.db');
  const clock = fakeClock();
  const options = {
    ...{ path, clock, ids: seededIds('seals'), headSigner: seededSigner('head'), onEvents: () => {}, log: silentLog },
    mergeKeys: new Map([['k1', testMergeKey]]),
  };
  const twelve = letheMigrations.slice(0, 12);
  expect(twelve.at(-1)?.name).toBe('lethe_0012_import');
  openStore(path, twelve, clock).close();
  // Rows of that version: what commits write has not changed since.
  const first = openLethe({ ...options, readOnly: false });
  const history = historyBuilder({ lethe: first });
  await history.init();
  await history.branch(work);
  await history.commit(
    work,
    Array.from({ length: 512 }, (_, n) => add(`memory ${n}`)),
  );
  while (await first.maintain());
  first.close();

  const readOnly = openLethe({ ...options, readOnly: true });
  expect(await readOnly.verifyChain(history.project)).toMatchObject({ ok: true, notes: [] });
  expect(await readOnly.sealNext()).toBe(false);
  expect(await readOnly.verifyChain(history.project)).toMatchObject({ ok: true, notes: [] });
  readOnly.close();

  const again = openLethe({ ...options, readOnly: false });
  expect(await again.verifyChain(history.project)).toMatchObject({ ok: true, notes: [] });
  again.close();
  const sealed = openLethe({ ...options, readOnly: true });
  expect(comparedBy(await sealed.verifyChain(history.project))).toBe(1);
  sealed.close();
});

test('L311 sealed history costs a few rows a changeset, however long it is', async () => {
  const limits = { rows: 32, ops: 512 };
  const { temp, history } = await grown(96);
  const costOf = async (): Promise<number> => {
    while (await temp.lethe.maintain());
    await verifying(temp, history.project, { limits, signedBy: 'head' });
    const before = temp.db.counters.rowsRead;
    const report = await verifying(temp, history.project, { limits });
    expect(comparedBy(report)).toBeGreaterThan(90);
    return temp.db.counters.rowsRead - before;
  };
  const cost = await costOf();
  for (let n = 0; n < 96; n += 1) await history.commit(work, [add(`further ${n}`)]);
  const longer = await costOf();
  expect((longer - cost) / 96).toBeLessThan(5);
});

test('L302 the bytes under a digest, put together as they are stored, are those that were digested', async () => {
  const { temp, history } = await grown(0);
  const evidence = [{ source: 'a<b>&c' }, { z: '\u2028', a: [1, null, { k: 'v' }] }];
  await history.commit(work, [addAs('a', 'x "quoted" <tag> \\ \n'), addAs('b', 'ü 漢字 😀')], {
    evidence,
    model: '<m>',
  });
  await history.commit(work, [relate('a', 'repeats', 'b'), attachEvidence('a', { note: '' })], {
    verification: [{ by: '' }],
  });
  await history.commit(work, []).catch(() => {});
  await history.branch('refs/topics/side', work);
  await history.commit('refs/topics/side', [add('side')]);
  await history.mergeInto(work, 'refs/topics/side');
  const stored = readChangesets(temp.db, history.project, 0, Number.MAX_SAFE_INTEGER);
  expect(stored.length).toBeGreaterThan(4);
  for (const one of stored) {
    const digested = digestedChangeset(one.row, one);
    expect(storedPreimage(one)).toBe(digested === undefined ? 'no JSON' : integrityPreimage(digested));
  }
});
