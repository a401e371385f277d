import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createStillness } from '../../src-main/base/stillness.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { openHeld } from '../../src-main/sqlite/held.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { branch, commit } from '../support/history-in-engine.ts';
import { tempFolder } from '../support/temp-home.ts';
import { allEntries, backedUp, backUp, livedInHome } from './backup-world.ts';

// Every database is verified whole, several times, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

test('R1 with eight agents committing, a backup holds all that was acknowledged before, and reconciles clean once restored', async () => {
  const { engine } = await livedInHome();
  const agents = await Promise.all(
    Array.from({ length: 8 }, (_, index) => engine.agent(`agent-${index}`, 'propose', 'demo')),
  );
  const acknowledged: string[] = [];
  let isOver = false;
  const working = agents.map(async (agent) => {
    let at = await branch(engine, agent, 'demo', 'work');
    while (!isOver) {
      const made = await commit(engine, agent, 'demo', at, `after ${at.head}`);
      at = { ref: at.ref, head: made.changeset_id };
      acknowledged.push(made.changeset_id);
    }
  });
  while (acknowledged.length < 40) await new Promise(setImmediate);
  const { job_id: id } = await engine.run(engine.owner, 'backup.create', {});
  const before = [...acknowledged];
  await engine.backups.idle();
  isOver = true;
  await Promise.all(working);
  const { job } = await engine.run(engine.owner, 'backup.status', {});
  expect(job).toMatchObject({ job_id: id, phase: 'done', problem: null });
  expect(acknowledged.length).toBeGreaterThan(before.length);
  const phases = engine.events.flatMap((event) => (event.kind === 'backup_progress' ? [event.phase] : []));
  expect([...new Set(phases)]).toEqual(['waiting', 'copying', 'verifying', 'finishing', 'done']);

  const directory = job?.name ?? '';
  const confirm = engine.charon.homeId.slice(0, 8);
  expect((await engine.run(engine.owner, 'restore.stage', { directory, confirm })).findings).toEqual([]);
  const restored = await engine.reopen();
  for (const changesetId of before)
    expect(restored.lethe.findChangeset(changesetIdSchema.parse(changesetId))).toBeDefined();
  const there = acknowledged.filter(
    (changesetId) => restored.lethe.findChangeset(changesetIdSchema.parse(changesetId)) !== undefined,
  );
  expect(there.length).toBeLessThan(acknowledged.length);
  // Every changeset has its outcome in the ledger of the same instant, and every outcome its changeset.
  const outcomes = allEntries(restored)
    .filter(({ command, outcome }) => command === 'memory.changeset_create' && outcome === 'ok')
    .flatMap(({ object_ids: ids }) => ids.filter((one) => acknowledged.includes(one)));
  expect([...outcomes].sort()).toEqual([...there].sort());
  expect(await restored.run(restored.owner, 'restore.lift', {})).toMatchObject({ lifted: true, report: { ok: true } });
});

test('R2 the instant comes when nothing is under way, work waits for it meanwhile, and one that does not come is given up', async () => {
  const stillness = createStillness();
  const order: string[] = [];
  const leave = await stillness.enter();
  expect(
    await stillness.hold(
      5,
      async () => {},
      () => order.push('never'),
    ),
  ).toBeUndefined();
  const held = stillness.hold(
    5_000,
    async () => void order.push('settled'),
    () => order.push('instant'),
  );
  const waiting = stillness.enter().then((end) => {
    order.push('goes on');
    end();
  });
  expect(
    await stillness.hold(
      5_000,
      async () => {},
      () => order.push('two at once'),
    ),
  ).toBeUndefined();
  await new Promise(setImmediate);
  expect(order).toEqual([]);
  leave();
  leave();
  expect(await held).toBeDefined();
  await waiting;
  expect(order).toEqual(['settled', 'instant', 'goes on']);
  await expect(
    stillness.hold(
      5_000,
      () => Promise.reject(new Error('full')),
      () => 0,
    ),
  ).rejects.toThrow('full');
  (await stillness.enter())();
});

test('R3 the folder is closed to others, each database stands alone, the anchor ends with the ledger, and no key is in it', async () => {
  const { engine } = await livedInHome();
  writeFileSync(engine.paths.settings, '{"ports":{"agent":0}}');
  const { directory, manifest_digest: digest } = await backedUp(engine);
  const files = ['charon.db', 'ledger.anchor', 'lethe.db', 'manifest.json', 'settings.json'];
  expect(readdirSync(directory).sort()).toEqual(files);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of files) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  for (const name of ['lethe.db', 'charon.db']) {
    const db = connect(join(directory, name), { readOnly: true, mustExist: true });
    expect(db.pragma('journal_mode')).toBe('delete');
    db.close();
  }
  const { manifest } = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
  const last = readFileSync(join(directory, 'ledger.anchor'), 'utf8').trimEnd().split('\n').at(-1)?.split(' ');
  expect(Number(last?.[0])).toBeLessThanOrEqual(manifest.audit.seq);
  expect(manifest.counts).toMatchObject({
    projects: 1,
    refs: 3,
    changesets: 3,
    proposals: 2,
    principals: 2,
    tokens: 1,
  });
  const keys = [...readFileSync(engine.paths.keys, 'utf8').matchAll(/[A-Za-z0-9_-]{43}/g)].map(([secret]) => secret);
  expect(keys.length).toBeGreaterThan(4);
  for (const name of files)
    for (const key of keys) expect(readFileSync(join(directory, name)).includes(key)).toBe(false);
  expect((await engine.entries()).at(-1)).toMatchObject({ command: 'backup.made', object_ids: [digest] });
});

test('R4 a canceled backup, a failed one and one of a dead process leave nothing; one is made at a time, where nothing is', async () => {
  const { engine } = await livedInHome();
  const create = (out?: string) => engine.run(engine.owner, 'backup.create', out === undefined ? {} : { out });
  const started = await create();
  expect((await engine.refusal(engine.owner, 'backup.create', {})).code).toBe('BACKUP_REFUSED');
  expect(await engine.run(engine.owner, 'backup.cancel', { job_id: started.job_id })).toMatchObject({
    phase: 'canceled',
  });
  expect(readdirSync(engine.paths.backups)).toEqual([]);
  expect((await engine.refusal(engine.owner, 'backup.cancel', { job_id: started.job_id })).code).toBe(
    'STATE_NOT_FOUND',
  );
  const taken = tempFolder();
  expect(await backUp(engine, taken)).toMatchObject({ phase: 'failed', code: 'BACKUP_REFUSED' });
  expect(await backUp(engine, join(taken, 'no', 'where'))).toMatchObject({ phase: 'failed', code: 'BACKUP_REFUSED' });
  expect(readdirSync(taken)).toEqual([]);
  const { root, backups } = engine.paths;
  for (const out of [
    'here',
    root,
    join(root, 'restore', 'mine'),
    join(backups, 'mine.partial'),
    join(taken, 'a.partial'),
  ])
    expect([out, (await engine.refusal(engine.owner, 'backup.create', { out })).code]).toEqual([out, 'INPUT_INVALID']);
  mkdirSync(join(engine.paths.backups, 'dead.partial'));
  mkdirSync(join(engine.paths.restore, 'inspect-00000000'), { recursive: true });
  const again = await engine.reopen();
  expect([readdirSync(again.paths.backups), readdirSync(again.paths.restore)]).toEqual([[], []]);
  const recovered = await again.reopen({ recovery: true });
  expect((await recovered.refusal(recovered.owner, 'backup.create', {})).code).toBe('READ_ONLY');
});

test('R5 a home that does not verify is not backed up, and the refusal names what does not hold', async () => {
  const { engine } = await livedInHome();
  const db = connect(engine.paths.letheDb, { readOnly: false, mustExist: true });
  db.exec('DROP TRIGGER memory_op_payloads_never_update');
  db.exec("UPDATE memory_op_payloads SET body = replace(body, 'owner', 'other')");
  db.close();
  const job = await backUp(engine);
  expect(job).toMatchObject({ phase: 'failed', code: 'INTEGRITY_MISMATCH' });
  expect(job.problem).toMatch(
    /does not verify, so it was not backed up: lethe\.db: the trigger .*never_update is missing/,
  );
  expect(readdirSync(engine.paths.backups)).toEqual([]);
});

test('R6 a copy is given up when the write-ahead log grows beyond its bound, and holds the state of its instant otherwise', async () => {
  const folder = tempFolder();
  const db = connect(join(folder, 'a.db'), { readOnly: false, mustExist: false });
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x TEXT) STRICT');
  const insert = db.command<[string]>('INSERT INTO t (x) VALUES (?)');
  const fill = (rows: number): void => {
    for (let row = 0; row < rows; row += 1) insert.run('x'.repeat(3_000));
  };
  fill(400);
  const count = (path: string) => {
    const copy = connect(path, { readOnly: true, mustExist: true });
    const rows = copy.query<[], { rows: number }>('SELECT count(*) AS rows FROM t').get()?.rows;
    copy.close();
    return rows;
  };
  const held = openHeld(join(folder, 'a.db'));
  held.hold();
  await held.copyInto(join(folder, 'b.db'), () => fill(20));
  expect(count(join(folder, 'b.db'))).toBe(400);
  held.close();
  const bounded = openHeld(join(folder, 'a.db'), 4_096);
  bounded.hold();
  await expect(bounded.copyInto(join(folder, 'c.db'), () => fill(20))).rejects.toMatchObject({ code: 'STORE_BUSY' });
  bounded.close();
  db.close();
});

test('R7 with a recovery passphrase the keys are in it, sealed, and listed as such', async () => {
  const { engine } = await livedInHome();
  await backedUp(engine);
  await engine.run(engine.owner, 'key.set_recovery', { passphrase: 'correct horse battery staple' });
  const { directory, name } = await backedUp(engine);
  const sealed = readFileSync(join(directory, 'keys.recovery.json'), 'utf8');
  for (const [secret] of readFileSync(engine.paths.keys, 'utf8').matchAll(
    /"(?:obol|secret|seed)": "([A-Za-z0-9_-]{43})"/g,
  ))
    expect(sealed).not.toContain(secret);
  const { backups } = await engine.run(engine.owner, 'backup.list', {});
  expect(backups.map((one) => [one.name === name, one.has_keys])).toEqual([
    [true, true],
    [false, false],
  ]);
  expect(existsSync(join(backups[1]?.directory ?? '', 'keys.recovery.json'))).toBe(false);
});
