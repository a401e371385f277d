import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { type Environment, type HomePaths, prepareHome } from '../../src-main/home/home.ts';
import { openKeyRing } from '../../src-main/home/key-ring.ts';
import { openKeys, openLetheApiKey } from '../../src-main/home/keys.ts';
import { readStoredKeys } from '../../src-main/home/keys-file.ts';
import { putBackKeys } from '../../src-main/home/put-back.ts';
import { systemKeychain } from '../../src-main/shells/electron/system-keychain.ts';
import { keyNames } from '../../src-preload/contract/commands/operations.ts';
import { fakeClock } from '../support/history-builder.ts';
import { StandInKeychain } from '../support/keychain-stand-in.ts';
import { tempHome } from '../support/temp-home.ts';

const ids = systemIds();
const homeId = '5c1f7a52-6f0e-4c50-9a3a-1f0f4f3f9d11';
const passphrase = 'correct horse battery';

/** A started home, and its keys as a start with that keychain opens them. */
async function stage() {
  const paths: HomePaths = tempHome();
  prepareHome(paths);
  const storage = new StandInKeychain();
  const start = async (own = storage, env: Environment = {}) => {
    const opened = await openKeys(paths, env, ids, systemKeychain(own, 'linux'));
    return { ...opened, ring: openKeyRing({ vault: opened.vault, env, ids, clock: fakeClock() }) };
  };
  return { paths, storage, start, first: await start(), text: (): string => readFileSync(paths.keys, 'utf8') };
}

async function refusal(work: () => unknown): Promise<Fault> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

/** Everything that lies in the home, as one text. */
function allText(paths: HomePaths): string {
  const files = readdirSync(paths.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}

test('H42 sealed keys are the same keys, in one 0600 file, and no plain copy is left', async () => {
  const { paths, start, first } = await stage();
  const plain = first.vault.read();
  writeFileSync(`${paths.keys}.123456`, JSON.stringify(plain));
  await first.ring.seal(homeId);
  expect(await first.ring.sealing()).toEqual({ sealed: true, reason: undefined });
  for (const secret of [plain.obol, plain.oauth, plain.ledger.secret, plain.head.seed, plain.merges[0]?.secret])
    expect(allText(paths)).not.toContain(secret);
  expect(statSync(paths.keys).mode & 0o777).toBe(0o600);
  expect(readStoredKeys(paths)).toMatchObject({ kind: 'sealed', sealed: { by: 'keychain', home_id: homeId } });
  const again = await start();
  expect(again.vault.read()).toEqual(plain);
  expect([again.keys.obol, again.keys.ledger, again.keys.head.publicKey]).toEqual([
    ...[first.keys.obol, first.keys.ledger, first.keys.head.publicKey],
  ]);
  // A write of plain keys that died half way is cleared away at the next start too.
  writeFileSync(`${paths.keys}.99`, JSON.stringify(plain));
  await start();
  expect(readdirSync(paths.root).filter((entry) => entry.startsWith('keys.json'))).toEqual(['keys.json']);
});

test('H42 a keychain that does not give back what it got, hides nothing, is locked or breaks changes nothing', async () => {
  const { storage, first, text } = await stage();
  const before = text();
  const refuse = async (): Promise<void> => {
    const fault = await refusal(() => first.ring.seal(homeId));
    expect(fault).toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE', kind: 'unavailable' });
    expect(`${fault.message} ${JSON.stringify(fault.data)}`).not.toMatch(/[A-Za-z0-9_-]{43}/);
    expect([text(), (await first.ring.sealing()).sealed]).toEqual([before, false]);
  };
  const breaking = (use: 'seal' | 'unseal') => {
    storage.onUse = (now) => {
      if (now === use) throw new Error('the keychain broke');
    };
  };
  for (const use of ['seal', 'unseal'] as const) {
    breaking(use);
    await refuse();
  }
  storage.onUse = () => undefined;
  const { decryptString } = storage;
  storage.decryptString = () => 'another text';
  await refuse();
  storage.decryptString = (sealed) => sealed.toString('utf8');
  storage.encryptString = (plain) => Buffer.from(plain);
  await refuse();
  storage.decryptString = decryptString;
  storage.available = false;
  await refuse();
  storage.available = true;
  storage.backend = 'basic_text';
  await refuse();
});

test('H42 a death while keys are sealed leaves them plain or sealed, whole in either case', async () => {
  const { paths, storage, start, first, text } = await stage();
  const plain = first.vault.read();
  const before = text();
  // Up to the trial nothing is written at all; after it one rename puts the sealed file in the place of the plain one.
  let seen = '';
  storage.onUse = (use) => {
    if (use === 'unseal') seen = text();
  };
  await first.ring.seal(homeId);
  expect(seen).toBe(before);
  const sealed = text();
  for (const [stored, left] of [
    [before, sealed],
    [sealed, before],
  ] as const) {
    writeFileSync(paths.keys, stored);
    writeFileSync(`${paths.keys}.7`, left);
    expect((await start()).vault.read()).toEqual(plain);
  }
});

test('H42 keys that were put aside in plain are named before anything is sealed', async () => {
  const { paths, start, first, text } = await stage();
  const before = text();
  const { kept } = putBackKeys(paths, { ...first.vault.read(), obol: 'x'.repeat(43) }, { replace: true, nowMs: 0 });
  writeFileSync(paths.keys, before);
  const fault = await refusal(() => first.ring.seal(homeId));
  expect(fault).toMatchObject({ code: 'KEYS_INVALID', data: { file: kept } });
  expect(text()).toBe(before);
  rmSync(join(paths.root, kept ?? ''));
  await first.ring.seal(homeId);
  const sealed = text();
  // A sealed file that was kept aside holds nothing in plain.
  putBackKeys(paths, first.vault.read(), { replace: true, nowMs: 0 });
  const again = await start();
  await again.ring.seal(homeId);
  expect([readFileSync(join(paths.root, kept ?? ''), 'utf8'), (await again.ring.sealing()).sealed]).toEqual([
    sealed,
    true,
  ]);
});

test('H43 sealed keys that cannot be opened are refused with the remedy, and stay as they are', async () => {
  const { paths, storage, start, first, text } = await stage();
  await first.ring.seal(homeId);
  const sealed = text();
  const none = await refusal(() => openKeys(paths, {}, ids));
  expect(none).toMatchObject({
    code: 'KEYS_SEALED',
    kind: 'unavailable',
    message: 'sealed: open the desk, or export with a recovery passphrase.',
  });
  const others = await refusal(() => start(new StandInKeychain()));
  expect(others).toMatchObject({ code: 'KEYS_SEALED', message: expect.stringContaining('charon keys restore FILE') });
  storage.available = false;
  const locked = await refusal(() => start());
  expect(locked).toMatchObject({
    code: 'KEYS_SEALED',
    message: expect.stringMatching(/Unlock it.*charon keys restore/),
  });
  expect(text()).toBe(sealed);
  writeFileSync(paths.charonDb, '');
  expect((await refusal(() => start())).code).toBe('KEYS_SEALED');
  expect(text()).toBe(sealed);
});

test.each([
  ['of another home', (text: string) => text.replace(homeId, '0f9ad0a1-37ab-4d0c-8c65-0a2d8b1f5e22')],
  ['without a blob', (text: string) => text.replace(/"blob": "[^"]*"/, '"blob": ""')],
  ['by something else', (text: string) => text.replace('"keychain"', '"tpm"')],
  ['with a field too many', (text: string) => text.replace('"version": 2', '"version": 2, "obol": "x"')],
])('H43 a sealed file %s is refused as damaged and never made anew', async (_name, change) => {
  const { paths, start, first, text } = await stage();
  await first.ring.seal(homeId);
  const changed = change(text());
  expect(changed).not.toBe(text());
  writeFileSync(paths.keys, changed);
  const fault = await refusal(() => start());
  expect(fault).toMatchObject({ code: 'KEYS_INVALID', data: { field: expect.any(String) } });
  expect(text()).toBe(changed);
});

test('H44 sealed keys stay sealed whatever changes them, and a change that cannot be sealed is not made', async () => {
  const { paths, storage, start, first, text } = await stage();
  await first.ring.seal(homeId);
  writeFileSync(paths.charonDb, '');
  await Promise.all(keyNames.map((name) => first.ring.rotate(name, false)));
  await openLetheApiKey({ paths, keyVault: first.vault, recovery: false }, {}, ids);
  const now = first.vault.read();
  expect(readStoredKeys(paths)?.kind).toBe('sealed');
  for (const secret of [now.obol, now.lethe_api]) expect(allText(paths)).not.toContain(secret);
  const next = await start();
  expect(next.vault.read()).toEqual(now);
  expect(next.keys.earlierObols).toEqual([first.keys.obol]);
  expect(next.ring.list().map(({ earlier }) => earlier)).toEqual([1, 0, 1, 1, 0, 0]);

  const sealed = text();
  storage.available = false;
  expect(await refusal(() => next.ring.rotate('obol', false))).toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
  expect([text(), next.vault.read()]).toEqual([sealed, now]);
});

test('H44 the environment overrides sealed keys too, and unsealed they are a plain file again', async () => {
  const { storage, start, first, text } = await stage();
  const before = text();
  await first.ring.seal(homeId);
  const { keys } = await start(storage, { CHARON_OBOL_HMAC_KEY: 'o'.repeat(32) });
  expect(keys.obol).toEqual(Buffer.from('o'.repeat(32)));
  expect(keys.ledger).toEqual(first.keys.ledger);
  await first.ring.unseal();
  expect([text(), (await first.ring.sealing()).sealed]).toEqual([before, false]);
});

test('H40 H44 a passphrase is set in sealed keys too and seals them for their home; one that is too short is refused', async () => {
  const { paths, first, text } = await stage();
  await first.ring.seal(homeId);
  expect(first.ring.recoveryEnvelope(homeId)).toBeUndefined();
  expect(first.ring.recovery()).toEqual({ set: false, set_at: null });
  const before = text();
  const short = await refusal(() => first.ring.setRecovery('too short'));
  expect(short).toMatchObject({ code: 'INPUT_INVALID', data: { field: 'passphrase' } });
  expect(text()).toBe(before);
  const state = await first.ring.setRecovery(passphrase);
  expect(state).toEqual({ set: true, set_at: expect.stringMatching(/Z$/) });
  await first.ring.rotate('merge', false);
  const envelope = first.ring.recoveryEnvelope(homeId);
  if (envelope === undefined) throw new Error('a passphrase was set');
  expect(envelope).toMatchObject({ home_id: homeId, stretch: { n: 131_072, r: 8, p: 1 } });
  expect(readStoredKeys(paths)?.kind).toBe('sealed');
  expect(text()).not.toContain(passphrase);
});

test('H45 keys are put back where there are none, the same ones change nothing, others stay unless that is asked for', async () => {
  const { paths, start, first, text } = await stage();
  const plain = first.vault.read();
  const before = text();
  expect(putBackKeys(paths, plain, { replace: false, nowMs: 0 })).toEqual({ changed: false, kept: null });
  const others = { ...plain, obol: 'x'.repeat(43) };
  for (const there of [before, '{"version": 1', '{"version": 2}']) {
    writeFileSync(paths.keys, there);
    expect(await refusal(() => putBackKeys(paths, others, { replace: false, nowMs: 0 }))).toMatchObject({
      code: 'KEYS_INVALID',
      message: expect.stringContaining('--replace'),
    });
    expect(text()).toBe(there);
  }
  writeFileSync(paths.keys, before);
  const done = putBackKeys(paths, others, { replace: true, nowMs: 86_400_000 });
  expect(done).toEqual({ changed: true, kept: 'keys.json.replaced-19700102T000000000Z' });
  expect(readFileSync(join(paths.root, done.kept ?? ''), 'utf8')).toBe(before);
  expect((await start()).vault.read()).toEqual(others);
  // The same moment again is another file's: nothing is overwritten.
  expect(() => putBackKeys(paths, plain, { replace: true, nowMs: 86_400_000 })).toThrow(/EEXIST/);
  rmSync(paths.keys);
  expect(putBackKeys(paths, plain, { replace: false, nowMs: 0 })).toEqual({ changed: true, kept: null });
  expect([text(), statSync(paths.keys).mode & 0o777]).toEqual([before, 0o600]);
});
