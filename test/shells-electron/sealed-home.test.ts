import { copyFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { type App, openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openAccess } from '../../src-main/shells/cli-access.ts';
import { hostEngine } from '../../src-main/shells/electron/engine-host.ts';
import { systemKeychain } from '../../src-main/shells/electron/system-keychain.ts';
import type { EngineOptions } from '../../src-main/shells/engine-protocol.ts';
import { sealingStops } from '../../src-preload/contract/key-words.ts';
import { StandInKeychain } from '../support/keychain-stand-in.ts';
import { runProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

const stops = { stops_working: [...sealingStops] };
const ids = systemIds();

/** The engine of a home in this process, as the window's keychain opens it; with its doors only where they are needed. */
async function open(home: string, storage: StandInKeychain, doors = false): Promise<App> {
  const app = await openApp({
    ...{ home, env: {}, version: '0.1.0', clock: systemClock, ids, log: silentLog },
    doors: doors ? { agentPort: 0, ownerPageDir: null } : null,
    keychain: systemKeychain(storage, 'linux'),
  });
  onTestFinished(() => app.close());
  return app;
}

/** What the window asks, answered by that engine. */
function ask(app: App, name: string, input: unknown = {}): Promise<unknown> {
  return app.commands.run({
    name,
    input,
    caller: app.ownerCaller('window'),
    client: 'desk',
    correlationId: ids.uuidv7(),
  });
}

function newHome(): { readonly home: string; file(): string } {
  const home = join(tempFolder(), 'home');
  return { home, file: () => readFileSync(join(home, 'keys.json'), 'utf8') };
}

test('H42 H44 the window seals and unseals, no other door does, and a command line goes on through the desk', async () => {
  const { home, file } = newHome();
  const storage = new StandInKeychain();
  const app = await open(home, storage, true);
  const state = { ...stops, sealed: false, available: true, reason: null };
  expect(await ask(app, 'key.sealing')).toEqual(state);
  const plain = file();
  const secrets = [...plain.matchAll(/"([A-Za-z0-9_-]{43})"/g)].map(([, secret]) => secret);
  expect(secrets).toHaveLength(5);

  const cli = await openAccess({ home, env: {}, create: false, storeOnly: false });
  await expect(cli.call('key.seal', {})).rejects.toMatchObject({ code: 'DESK_ONLY' });
  expect(file()).toBe(plain);
  expect(await ask(app, 'key.seal')).toEqual({ ...state, sealed: true });
  for (const secret of secrets) expect(file()).not.toContain(secret);
  await expect(cli.call('key.unseal', {})).rejects.toMatchObject({ code: 'DESK_ONLY' });
  expect(await cli.call('key.sealing', {})).toEqual({
    ...{ ...stops, sealed: true, available: false },
    reason: expect.stringMatching(/in the window of the desk alone/),
  });
  expect(await cli.call('key.rotate', { key: 'oauth' })).toMatchObject({ name: 'oauth', source: 'keys.json' });
  await cli.close();
  await app.close();

  await expect(open(home, new StandInKeychain())).rejects.toMatchObject({ code: 'KEYS_SEALED' });
  const again = await open(home, storage);
  expect(await ask(again, 'key.unseal')).toEqual(state);
  const now = JSON.parse(file());
  expect(now).toMatchObject({ ...JSON.parse(plain), oauth: expect.any(String) });
  expect(now.oauth).not.toBe(JSON.parse(plain).oauth);
  const entries = (await again.commands.call('audit.tail', { limit: 50 }, again.ownerCaller('window'))).entries;
  expect(
    entries
      .filter(({ command }) => command.startsWith('key.'))
      .map(({ command, door, phase }) => [command, door, phase]),
  ).toContainEqual(['key.unseal', 'window', 'outcome']);
});

test('E22 X72 sealed keys are opened by a start with the window, and by no start without', async () => {
  const { home, file } = newHome();
  const storage = new StandInKeychain();
  const app = await open(home, storage);
  await ask(app, 'key.seal');
  await app.close();
  const sealed = file();
  const ran = Promise.all([
    runProgram('charon', ['serve', '--home', home, '--port', '0']),
    runProgram('lethe', ['serve', '--home', home, '--http', '127.0.0.1:0']),
  ]);
  for (const { code, stdout, stderr } of await ran) {
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/sealed: open the desk, or export with a recovery passphrase/);
  }
  await expect(openAccess({ home, env: {}, create: false, storeOnly: false })).rejects.toMatchObject({
    ...{ code: 'KEYS_SEALED', kind: 'unavailable' },
  });

  const options: EngineOptions = { home, port: 0, ownerPage: false, rendererDir: null, version: '0.1.0' };
  const host = hostEngine({
    start: () =>
      new Worker(resolve(import.meta.dirname, '../../src-main/shells/engine.ts'), {
        workerData: options,
        stderr: true,
      }),
    keychain: systemKeychain(storage, 'linux'),
    onState: () => undefined,
    onEvent: () => undefined,
    restartsMax: 0,
    closeLimitMs: 10_000,
  });
  onTestFinished(() => host.close());
  expect(await host.request('key.sealing', {})).toMatchObject({ ok: true, output: { sealed: true, available: true } });
  expect(file()).toBe(sealed);
}, 60_000);

test('H43 the sealed keys of another home are refused before anything of this one is opened', async () => {
  const storage = new StandInKeychain();
  const [one, other] = [newHome(), newHome()];
  for (const { home } of [one, other]) {
    const app = await open(home, storage);
    await ask(app, 'key.seal');
    await app.close();
  }
  const database = readFileSync(join(one.home, 'charon.db'));
  copyFileSync(join(other.home, 'keys.json'), join(one.home, 'keys.json'));
  await expect(open(one.home, storage)).rejects.toMatchObject({
    ...{ code: 'KEYS_INVALID', data: { field: 'sealed.home_id' } },
  });
  expect(readFileSync(join(one.home, 'charon.db')).equals(database)).toBe(true);
});
