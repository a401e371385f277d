import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { lookAt } from '../../src-main/backup/inspect.ts';
import { toolsOf } from '../../src-main/backup/open-home.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openHome } from '../../src-main/home/open.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { fakeClock } from '../support/history-builder.ts';
import { newKey, proposal } from '../support/history-in-engine.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';
import { backedUp, commitMore, contentsOf, livedInHome, signAnew } from './backup-world.ts';

// Every database is verified whole, several times, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

test('R10 R12 any changed byte is found, in every file, and looking changes nothing', async () => {
  const { engine, writer } = await livedInHome();
  await engine.run(engine.owner, 'key.set_recovery', { passphrase: 'correct horse battery staple' });
  writeFileSync(engine.paths.settings, '{"ports":{"agent":0}}');
  const { directory } = await backedUp(engine);
  const before = contentsOf(directory);
  const inspect = (place: string) => engine.run(engine.owner, 'backup.inspect', { directory: place });

  await commitMore(engine, writer, 'later', 2);
  await engine.agent('newcomer', 'readonly', 'demo');
  await proposal(engine, writer, 'demo', 'newer', 'proposed later');
  const own = await proposal(engine, engine.owner, 'demo', 'main-goes-on', 'merged later');
  await engine.run(engine.owner, 'memory.merge', { proposal_id: own.proposal_id, idempotency_key: newKey() });
  await engine.run(engine.owner, 'memory.repo_init', { project: 'other' });
  const found = await inspect(directory);
  expect(found).toMatchObject({
    ok: true,
    findings: [],
    kind: 'backup',
    home_id: engine.charon.homeId,
    has_keys: true,
  });
  expect(found.goes_back).toMatchObject({
    projects: [
      { project: 'demo', state: 'behind', changesets_then: 3, changesets_now: 7 },
      { project: 'other', state: 'only_here', main_then: null },
    ],
    tokens_to_approve: 1,
    tokens_lost: 1,
    proposals_lost: 2,
  });
  expect(found.goes_back?.audit_entries_lost).toBeGreaterThan(10);

  const copy = join(tempFolder(), 'copy');
  for (const name of readdirSync(directory)) {
    const size = readFileSync(join(directory, name)).length;
    for (const at of [0, Math.floor(size / 2), size - 1]) {
      cpSync(directory, copy, { recursive: true });
      const bytes = readFileSync(join(copy, name));
      bytes[at] = (bytes[at] ?? 0) ^ 0x01;
      writeFileSync(join(copy, name), bytes);
      const { ok, findings } = await inspect(copy);
      expect([name, at, ok, findings[0]?.where]).toEqual([name, at, false, name]);
      rmSync(copy, { recursive: true });
    }
  }
  expect(contentsOf(directory)).toEqual(before);
  expect(readdirSync(engine.paths.restore)).toEqual([]);
});

test('R11 R13 links, strangers, wrong lengths, a schema of somebody else and a key of somebody else are findings', async () => {
  const { engine } = await livedInHome();
  const { directory } = await backedUp(engine);
  const folder = tempFolder();
  const copy = join(folder, 'copy');
  const inspect = async (bend: () => void): Promise<readonly string[]> => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(directory, copy, { recursive: true });
    bend();
    const { ok, findings } = await engine.run(engine.owner, 'backup.inspect', { directory: copy });
    expect(ok).toBe(findings.length === 0);
    return findings.map(({ where, problem }) => `${where}: ${problem}`);
  };
  expect(await inspect(() => chmodSync(join(copy, 'lethe.db'), 0o644))).toEqual([]);
  const gone = 'charon.db: it is missing, a link, or cannot be read';
  expect(await inspect(() => rmSync(join(copy, 'charon.db')))).toEqual([gone]);
  const linked = await inspect(() => {
    rmSync(join(copy, 'charon.db'));
    symlinkSync(join(directory, 'charon.db'), join(copy, 'charon.db'));
  });
  expect(linked).toEqual(['the folder: charon.db is no ordinary file', gone]);
  const stranger = 'the folder: a file that no backup has';
  expect(await inspect(() => writeFileSync(join(copy, 'lethe.db-wal'), ''))).toEqual([stranger]);
  expect(await inspect(() => mkdirSync(join(copy, 'more')))).toEqual([stranger]);
  const longer = 'ledger.anchor: it is not as long as the manifest says';
  expect(await inspect(() => writeFileSync(join(copy, 'ledger.anchor'), '\n', { flag: 'a' }))).toEqual([longer]);
  expect(await inspect(() => truncateSync(join(copy, 'ledger.anchor'), 3))).toEqual([longer]);

  const resign = (): void => signAnew(copy);
  expect(await inspect(resign)).toEqual(['manifest.json: it is signed by a key that this home never had']);
  const bent = (): void => {
    const db = connect(join(copy, 'charon.db'), { readOnly: false, mustExist: true });
    db.exec('CREATE TRIGGER mine AFTER INSERT ON grants BEGIN DELETE FROM settings; END; DROP TRIGGER obols_stay');
    db.close();
    resign();
  };
  await inspect(bent);
  const looked = await lookAt(copy, join(folder, 'scratch'), await toolsOfHome(), undefined);
  expect(looked.findings.list).toMatchObject([
    { where: 'charon.db', problem: 'the trigger obols_stay is missing' },
    { where: 'charon.db', problem: 'it holds 1 thing that no version of it made' },
  ]);
  expect(looked.notes).toContainEqual(expect.stringMatching(/^nothing here can say whose it is/));

  const none = await engine.refusal(engine.owner, 'backup.inspect', { directory: folder });
  expect(none.code).toBe('BACKUP_REFUSED');
  expect((await engine.refusal(engine.owner, 'backup.inspect', { directory: 'no such' })).code).toBe('INPUT_INVALID');
  expect((await engine.refusal(engine.owner, 'backup.inspect', { directory: '../demo' })).code).toBe('INPUT_INVALID');
  symlinkSync(directory, join(folder, 'linked'));
  const link = await engine.refusal(engine.owner, 'backup.inspect', { directory: join(folder, 'linked') });
  expect(link.code).toBe('BACKUP_REFUSED');
});

test('R20 R21 R22 backups are listed with what is known of them, rehearsed, and pruned to the newest that are good', async () => {
  const { engine } = await livedInHome();
  const { owner, paths } = engine;
  const made: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    engine.clock.advance(60_000);
    made.push((await backedUp(engine)).name);
  }
  const [oldest = '', middle = '', newest = ''] = made;
  engine.clock.advance(60_000);
  const rehearsed = await engine.run(owner, 'backup.rehearse', { directory: middle });
  expect(rehearsed).toMatchObject({ ok: true, findings: [], projects: 1, refs: 3, changesets: 3 });
  expect(readdirSync(paths.restore)).toEqual([]);
  const bytes = readFileSync(join(paths.backups, newest, 'lethe.db'));
  bytes[5_000] = (bytes[5_000] ?? 0) ^ 0x01;
  writeFileSync(join(paths.backups, newest, 'lethe.db'), bytes);
  expect(await engine.run(owner, 'backup.rehearse', { directory: newest })).toMatchObject({ ok: false });
  mkdirSync(join(paths.backups, 'something'));
  const { backups, keep } = await engine.run(owner, 'backup.list', {});
  expect(keep).toBe(10);
  expect(backups.map(({ name, state, rehearsed_at: at }) => [name, state, at])).toEqual([
    [newest, 'readable', null],
    [middle, 'readable', rehearsed.rehearsed_at],
    [oldest, 'readable', null],
    ['something', 'damaged', null],
  ]);
  expect(backups[1]?.verified_at).toBe(rehearsed.rehearsed_at);
  // The newest has its size and not its bytes: the one before it is the last that is good, and stays.
  expect(await engine.run(owner, 'backup.prune', { keep: 1 })).toEqual({ removed: [oldest], kept: [newest, middle] });
  // One that somebody else signed is nobody's to prune here.
  signAnew(join(paths.backups, middle));
  expect((await engine.run(owner, 'backup.list', {})).backups.map(({ state }) => state)).toEqual([
    'readable',
    'foreign',
    'damaged',
  ]);
  expect(await engine.run(owner, 'backup.prune', { keep: 1 })).toEqual({ removed: [], kept: [newest] });
});

/** As in an empty home, where nothing can say who made a backup. */
async function toolsOfHome() {
  const common = { env: {}, clock: fakeClock(), ids: systemIds(), log: silentLog, version: '0.0.0' };
  const home = await openHome({ root: tempHome().root, ...common });
  home.release();
  return toolsOf(home, common);
}
