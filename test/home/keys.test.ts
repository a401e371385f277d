import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemIds } from '../../src-main/base/ids.ts';
import { createVerifier } from '../../src-main/canonical/signature.ts';
import { type Environment, type HomePaths, prepareHome } from '../../src-main/home/home.ts';
import { findOwnerKey, type HomeKeys, openKeys } from '../../src-main/home/keys.ts';
import { refusal } from '../support/refusal.ts';
import { tempHome } from '../support/temp-home.ts';

const ids = systemIds();
const long = (letter: string): string => letter.repeat(32);

function preparedHome(): HomePaths {
  const paths = tempHome();
  prepareHome(paths);
  return paths;
}

/** The keys as a start reads them. */
async function open(paths: HomePaths, env: Environment): Promise<HomeKeys> {
  return (await openKeys(paths, env, ids)).keys;
}

test('H6 keys are made once, all different, 0600, and read again', async () => {
  const paths = preparedHome();
  const first = await open(paths, {});
  const again = await open(paths, {});
  expect(again.obol).toEqual(first.obol);
  expect(again.merges).toEqual(first.merges);
  expect(again.ledger).toEqual(first.ledger);
  expect(again.owner).toEqual(first.owner);
  expect(again.head.publicKey).toBe(first.head.publicKey);
  const all = [first.obol, first.oauth, first.ledger.key, first.merges.signing.key, first.owner].map((key) =>
    key.toString('hex'),
  );
  expect(new Set(all).size).toBe(5);
  expect(all.every((key) => key.length === 64)).toBe(true);
  expect(statSync(paths.keys).mode & 0o777).toBe(0o600);
  expect(statSync(paths.ownerKey).mode & 0o777).toBe(0o600);
  expect(createVerifier(first.head.publicKey)?.('text', again.head.sign('text'))).toBe(true);
  expect(first.warnings).toEqual([]);
});

test('H6 a home with data and no keys.json is refused and gets no new one', async () => {
  const paths = preparedHome();
  await open(paths, {});
  writeFileSync(paths.charonDb, '');
  rmSync(paths.keys);
  expect((await refusal(() => open(paths, {}))).code).toBe('KEYS_INVALID');
  expect(existsSync(paths.keys)).toBe(false);
});

test.each([
  ['not JSON', '{"version":1,'],
  ['another version', '{"version":2}'],
  ['a short secret', undefined],
])('H6 a damaged keys.json is refused and left as it is: %s', async (_name, text) => {
  const paths = preparedHome();
  await open(paths, {});
  const damaged = text ?? readFileSync(paths.keys, 'utf8').replace(/"obol": "[^"]{10}/, '"obol": "');
  writeFileSync(paths.keys, damaged);
  const fault = await refusal(() => open(paths, {}));
  expect(fault.code).toBe('KEYS_INVALID');
  expect(fault.message).not.toMatch(/[A-Za-z0-9_-]{30}/);
  expect(readFileSync(paths.keys, 'utf8')).toBe(damaged);
});

test('H2 a key file that others could read is closed again, and said', async () => {
  const paths = preparedHome();
  await open(paths, {});
  chmodSync(paths.keys, 0o644);
  expect((await open(paths, {})).warnings.join()).toMatch(/keys\.json could be read by other users/);
  expect(statSync(paths.keys).mode & 0o777).toBe(0o600);
});

test('H6 a lost owner.key is made again; the other keys stay', async () => {
  const paths = preparedHome();
  const first = await open(paths, {});
  rmSync(paths.ownerKey);
  const second = await open(paths, {});
  expect(second.owner).not.toEqual(first.owner);
  expect(second.obol).toEqual(first.obol);
  expect(findOwnerKey(paths)).toEqual(second.owner);
});

test('H7 the environment overrides each key by itself, trimmed', async () => {
  const paths = preparedHome();
  const own = await open(paths, {});
  const keys = await open(paths, { CHARON_OBOL_HMAC_KEY: ` ${long('o')}\n`, CHARON_MERGE_HMAC_KEY: long('m') });
  expect(keys.obol).toEqual(Buffer.from(long('o')));
  expect(keys.oauth).toEqual(own.oauth);
  expect(keys.merges).toEqual({
    signing: { id: '', key: Buffer.from(long('m')) },
    verifying: new Map([['', Buffer.from(long('m'))]]),
    earlier: new Map([[own.merges.signing.id, own.merges.signing.key]]),
  });
});

test('H8 of a list the first signs and all verify, the single one too', async () => {
  const keys = await open(preparedHome(), {
    CHARON_MERGE_HMAC_KEYS: `new=${long('n')}=, old=${long('o')}`,
    CHARON_MERGE_HMAC_KEY: long('m'),
  });
  expect(keys.merges.signing).toEqual({ id: 'new', key: Buffer.from(`${long('n')}=`) });
  expect([...keys.merges.verifying.keys()]).toEqual(['new', 'old', '']);
});

test('H8 the deprecated key serves merges alone and only when nothing else does, with a warning', async () => {
  const paths = preparedHome();
  const own = await open(paths, {});
  const fallback = await open(paths, { CHARON_HMAC_KEY: long('d') });
  expect(fallback.merges.signing).toEqual({ id: '', key: Buffer.from(long('d')) });
  expect(fallback.obol).toEqual(own.obol);
  expect(fallback.warnings).toEqual([expect.stringMatching(/deprecated and used for merges only/)]);
  const specific = await open(paths, { CHARON_HMAC_KEY: long('d'), CHARON_MERGE_HMAC_KEY: long('m') });
  expect(specific.merges.signing.key).toEqual(Buffer.from(long('m')));
  expect(specific.warnings).toEqual([expect.stringMatching(/deprecated and ignored/)]);
});

describe('what the environment says wrong', () => {
  test.each([
    ['H7', { CHARON_OBOL_HMAC_KEY: 'x'.repeat(31) }],
    ['H7', { CHARON_OAUTH_HMAC_KEY: 'short' }],
    ['H7', { CHARON_MERGE_HMAC_KEY: 'short' }],
    ['H8', { CHARON_HMAC_KEY: 'short' }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: long('n') }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: `=${long('n')}` }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: `a=${long('n')},` }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: 'a=short' }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: `a b=${long('n')}` }],
    ['H8', { CHARON_MERGE_HMAC_KEYS: `a=${long('n')},a=${long('m')}` }],
  ])('%s %o is refused, and no key is printed', (_rule, env) => requireRefused(env));

  test.each([
    [{ CHARON_OBOL_HMAC_KEY: long('s'), CHARON_OAUTH_HMAC_KEY: long('s') }],
    [{ CHARON_OBOL_HMAC_KEY: long('s'), CHARON_HMAC_KEY: long('s') }],
    [{ CHARON_MERGE_HMAC_KEYS: `a=${long('s')},b=${long('s')}` }],
    [{ CHARON_MERGE_HMAC_KEYS: `a=${long('s')}`, CHARON_MERGE_HMAC_KEY: long('s') }],
  ])('H9 two equal keys are refused, and neither is printed: %o', (env) => requireRefused(env));
});

async function requireRefused(env: Environment): Promise<void> {
  const paths = preparedHome();
  const fault = await refusal(() => open(paths, env));
  expect(fault.code).toBe('KEYS_INVALID');
  const said = `${fault.message} ${JSON.stringify(fault.data)} ${fault.stack}`;
  expect(said).not.toMatch(/s{6}|n{6}|m{6}|x{6}|=short/);
  expect(existsSync(paths.keys)).toBe(false);
}
