import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemIds } from '../../src-main/base/ids.ts';
import { type Environment, type HomePaths, prepareHome } from '../../src-main/home/home.ts';
import { type KeyRing, openKeyRing } from '../../src-main/home/key-ring.ts';
import { type HomeKeys, openKeys } from '../../src-main/home/keys.ts';
import { keyNames } from '../../src-preload/contract/commands/operations.ts';
import { fakeClock } from '../support/history-builder.ts';
import { refusal } from '../support/refusal.ts';
import { tempHome } from '../support/temp-home.ts';

const ids = systemIds();

/** A started home: its keys as a start reads them, and its ring. */
async function stage(env: Environment = {}) {
  const paths: HomePaths = tempHome();
  prepareHome(paths);
  const start = async (): Promise<HomeKeys> => (await openKeys(paths, env, ids)).keys;
  const { keys: first, vault } = await openKeys(paths, env, ids);
  const ring: KeyRing = openKeyRing({ vault, env, ids, clock: fakeClock() });
  return { paths, start, first, ring };
}

test('H30 a replaced key is another one from the next start on, and what must still verify is kept', async () => {
  const { paths, start, first, ring } = await stage();
  for (const name of keyNames) await ring.rotate(name, false);
  const next = await start();
  for (const one of ['obol', 'oauth'] as const) expect(next[one].equals(first[one])).toBe(false);
  expect(next.earlierObols).toEqual([first.obol]);
  expect(next.ledger.id).not.toBe(first.ledger.id);
  expect([...next.earlierLedgers]).toEqual([[first.ledger.id, first.ledger.key]]);
  expect(next.merges.signing).not.toEqual(first.merges.signing);
  expect([...next.merges.verifying.keys()]).toEqual([next.merges.signing.id]);
  expect([...next.merges.earlier]).toEqual([[first.merges.signing.id, first.merges.signing.key]]);
  expect([next.head.keyId, next.head.publicKey]).not.toEqual([first.head.keyId, first.head.publicKey]);
  expect(next.owner).toEqual(first.owner);
  expect(statSync(paths.keys).mode & 0o777).toBe(0o600);
});

test('H30 keys are replaced again and again, each earlier one kept once', async () => {
  const { start, first, ring } = await stage();
  await ring.rotate('obol', false);
  const second = await start();
  await ring.rotate('obol', false);
  expect((await start()).earlierObols).toEqual([first.obol, second.obol]);
  for (let round = 0; round < 3; round += 1) await ring.rotate('merge', false);
  expect((await start()).merges.earlier.size).toBe(3);
  expect(ring.list().find(({ name }) => name === 'merge')?.earlier).toBe(3);
});

test('H31 to drop the earlier obol keys ends all of them and nothing else', async () => {
  const { start, ring } = await stage();
  await ring.rotate('ledger', false);
  await ring.rotate('obol', false);
  const facts = await ring.rotate('obol', true);
  expect(facts).toMatchObject({ name: 'obol', earlier: 0, since: expect.any(String) });
  const next = await start();
  expect([next.earlierObols, next.earlierLedgers.size]).toEqual([[], 1]);
  for (const name of keyNames.filter((one) => one !== 'obol'))
    expect(await refusal(() => ring.rotate(name, true))).toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'drop_earlier' },
    });
});

test.each([
  ['obol', 'CHARON_OBOL_HMAC_KEY'],
  ['oauth', 'CHARON_OAUTH_HMAC_KEY'],
  ['merge', 'CHARON_MERGE_HMAC_KEY'],
  ['merge', 'CHARON_HMAC_KEY'],
  ['lethe_api', 'LETHE_API_KEY'],
] as const)(
  'H31 the key %s of %s is not replaced in the home, and the refusal holds no key',
  async (name, variable) => {
    const { paths, ring } = await stage({ [variable]: 'a'.repeat(40) });
    const before = readFileSync(paths.keys, 'utf8');
    const fault = await refusal(() => ring.rotate(name, false));
    expect(fault).toMatchObject({ code: 'INPUT_INVALID', data: { field: 'key', variable } });
    expect(fault.message).not.toContain('aaaa');
    expect(readFileSync(paths.keys, 'utf8')).toBe(before);
    expect(ring.list().find((facts) => facts.name === name)).toEqual({
      ...{ name, id: null, source: 'environment', since: null },
      earlier: 0,
    });
  },
);

test('H31 a list of keys holds no key', async () => {
  const { paths, ring } = await stage();
  for (const name of keyNames) await ring.rotate(name, false);
  const told = JSON.stringify(ring.list());
  for (const [secret] of readFileSync(paths.keys, 'utf8').matchAll(/[A-Za-z0-9_-]{43}/g))
    expect(told).not.toContain(secret);
  expect(ring.list().map(({ name, source, earlier }) => [name, source, earlier])).toEqual([
    ['obol', 'keys.json', 1],
    ['oauth', 'keys.json', 0],
    ['merge', 'keys.json', 1],
    ['ledger', 'keys.json', 1],
    ['head', 'keys.json', 0],
    ['lethe_api', 'keys.json', 0],
  ]);
});
