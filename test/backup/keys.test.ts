import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openHomeAsAsked } from '../../src-main/backup/open-home.ts';
import { restoreBackup } from '../../src-main/backup/restore.ts';
import { takeKeys } from '../../src-main/backup/take-keys.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import type { Environment } from '../../src-main/home/home.ts';
import { openHome } from '../../src-main/home/open.ts';
import { fakeClock } from '../support/history-builder.ts';
import { tempHome } from '../support/temp-home.ts';
import { backedUp, livedInHome, withHome } from './backup-world.ts';

// Every database is verified whole, several times, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const passphrase = 'correct horse battery staple';

/** The stores of a home, for as long as `work` takes. */
async function withStores<Result>(
  root: string,
  work: (stores: Awaited<ReturnType<typeof openStores>>) => Promise<Result>,
  env: Environment = {},
): Promise<Result> {
  const [clock, ids] = [fakeClock(), systemIds()];
  const home = await openHomeAsAsked({ root, env, clock, ids, log: silentLog, version: '0.0.0' });
  const stores = await openStores({ home, clock, ids, log: silentLog, onEvents: () => {} });
  try {
    return await work(stores);
  } finally {
    await stores.close();
    home.release();
  }
}

test('R38 into an empty home the keys come with the passphrase, and everything of before verifies; without them it is said', async () => {
  const { engine } = await livedInHome();
  const bare = await backedUp(engine);
  await engine.run(engine.owner, 'key.set_recovery', { passphrase });
  const { directory } = await backedUp(engine);
  const { merges, ledger } = JSON.parse(readFileSync(engine.paths.keys, 'utf8'));
  await engine.close();
  const taking = (root: string, from: string, word: string) =>
    openHome({ root, env: {}, clock: fakeClock(), ids: systemIds() }).then(async (home) => {
      try {
        await takeKeys(home, from, async () => word);
      } finally {
        home.release();
      }
    });

  const whole = tempHome();
  await expect(taking(whole.root, bare.directory, passphrase)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
  await expect(taking(whole.root, directory, 'another passphrase')).rejects.toMatchObject({ code: 'KEYS_INVALID' });
  await taking(whole.root, directory, passphrase);
  const mark = await withHome(whole.root, (tools) => restoreBackup(tools, { directory }));
  expect([mark.safety, mark.notes]).toEqual([null, []]);
  await expect(taking(whole.root, directory, passphrase)).rejects.toMatchObject({ code: 'KEYS_INVALID' });
  const now = JSON.parse(readFileSync(whole.keys, 'utf8'));
  expect([now.ledger, now.merges.slice(1)]).toEqual([ledger, merges]);
  await withStores(whole.root, async ({ charon, lethe }) => {
    expect(await charon.audit.verify()).toMatchObject({ ok: true, notes: [] });
    for (const { project_id: id } of lethe.listProjects())
      expect(await lethe.verifyChain(id)).toMatchObject({ ok: true, notes: [] });
  });

  const without = tempHome();
  const other = await withHome(without.root, (tools) => restoreBackup(tools, { directory: bare.directory }));
  expect(other.notes).toContainEqual(
    expect.stringMatching(/^audit ledger: \d+ entries: MAC not verifiable, key absent$/),
  );
  await withStores(without.root, async ({ charon }) => {
    const { ok, notes } = await charon.audit.verify();
    expect([ok, notes]).toEqual([true, [expect.stringMatching(/MAC not verifiable, key absent/)]]);
    const started = charon.audit.tail({ limit: 20 }).find(({ command }) => command === 'audit.key_started');
    expect(started?.mac_key_id).not.toBe(ledger.id);
  });
});

test('R33 R37 a merge key of the environment that signed before is refused until it was changed, and so is another home', async () => {
  const env = { CHARON_MERGE_HMAC_KEYS: `one=${'1'.repeat(40)}` };
  const { engine } = await livedInHome({ env });
  const { directory } = await backedUp(engine);
  await engine.close();
  const { root } = engine.paths;
  const restoring = (keys: string, at = root) =>
    withHome(at, (tools) => restoreBackup(tools, { directory }), { CHARON_MERGE_HMAC_KEYS: keys });
  await expect(restoring(env.CHARON_MERGE_HMAC_KEYS)).rejects.toMatchObject({
    code: 'KEYS_INVALID',
    data: { variable: 'CHARON_MERGE_HMAC_KEYS' },
  });
  const changed = `two=${'2'.repeat(40)}`;
  await expect(restoring(`${changed},${env.CHARON_MERGE_HMAC_KEYS}`)).rejects.toMatchObject({ code: 'KEYS_INVALID' });
  const stranger = tempHome();
  await withStores(stranger.root, async () => {});
  await expect(restoring(changed, stranger.root)).rejects.toMatchObject({ code: 'BACKUP_REFUSED' });
  await withStores(stranger.root, async ({ charon }) => expect(charon.readOnly).toBe(false));
  expect((await restoring(changed)).notes.filter((note) => !note.includes('key that is not at hand'))).toEqual([]);
  await withStores(root, async ({ charon }) => expect(charon.readOnly).toBe(true), {
    CHARON_MERGE_HMAC_KEYS: changed,
  });
});
