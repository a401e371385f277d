import { readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { readLetheHttp } from '../../src-main/home/environment.ts';
import { openLetheApiKey } from '../../src-main/home/keys.ts';
import { openHome } from '../../src-main/home/open.ts';
import { readSettings } from '../../src-main/home/settings.ts';
import { tempHome } from '../support/temp-home.ts';

async function madeHome() {
  const home = await openHome({ root: tempHome().root, env: {}, clock: systemClock, ids: systemIds() });
  onTestFinished(home.release);
  return home;
}

test('H13 the key comes from the environment, else from keys.json beside a policy engine, else there is none', async () => {
  const home = await madeHome();
  const { paths } = home;
  const ids = systemIds();
  const open = (env: Record<string, string>, recovery = false) => openLetheApiKey({ ...home, recovery }, env, ids);
  expect(await open({})).toBeUndefined();
  expect(await open({ LETHE_API_KEY: ' abc ' })).toEqual({ key: 'abc', source: 'environment' });
  const keys = readFileSync(paths.keys, 'utf8');
  writeFileSync(paths.charonDb, '');
  await expect(open({}, true)).rejects.toThrow(expect.objectContaining({ code: 'KEYS_INVALID' }));
  expect(readFileSync(paths.keys, 'utf8')).toBe(keys);
  const made = await open({});
  expect(made?.source).toBe('keys.json');
  expect(await open({}, true)).toEqual(made);
  expect(JSON.parse(readFileSync(paths.keys, 'utf8'))).toEqual({ ...JSON.parse(keys), lethe_api: made?.key });
  home.release();
  (await openHome({ root: paths.root, env: {}, clock: systemClock, ids })).release();
});

test('H13 a key that no header can carry, or that also serves another purpose, is refused and not repeated', async () => {
  const home = await madeHome();
  const shared = 's'.repeat(40);
  for (const env of [
    { LETHE_API_KEY: 'two words' },
    { LETHE_API_KEY: 'ü' },
    { LETHE_API_KEY: shared, CHARON_MERGE_HMAC_KEY: shared },
    { LETHE_API_KEY: shared, CHARON_OBOL_HMAC_KEY: shared },
    { LETHE_API_KEY: shared, CHARON_OAUTH_HMAC_KEY: shared },
    { LETHE_API_KEY: shared, CHARON_MERGE_HMAC_KEYS: `k1=${shared}` },
  ]) {
    const open = () => openLetheApiKey(home, env, systemIds());
    await expect(open()).rejects.toThrow(expect.objectContaining({ code: 'KEYS_INVALID' }));
    await expect(open()).rejects.not.toThrow(new RegExp(env.LETHE_API_KEY));
  }
});

test('H14 trust, insecure binds, names and mode out of the environment', () => {
  const retention = { daysMax: 30, perSessionMax: 500 };
  const unset = { trust: 'loopback', insecureBind: false, hostNames: [], mode: 'git', retention };
  expect(readLetheHttp({})).toEqual(unset);
  expect(readLetheHttp({ LETHE_MODE: ' GIT ', LETHE_TRUST: '', LETHE_ALLOW_INSECURE_BIND: 'true' })).toEqual(unset);
  expect(
    readLetheHttp({ LETHE_TRUST: ' Private ', LETHE_ALLOW_INSECURE_BIND: '1', LETHE_HTTP_HOSTS: 'a.lan, b.lan,' }),
  ).toEqual({ ...unset, trust: 'private', insecureBind: true, hostNames: ['a.lan', 'b.lan'] });
  for (const mode of ['legacy', 'git', 'hybrid'])
    expect(readLetheHttp({ LETHE_MODE: ` ${mode.toUpperCase()} ` }).mode).toBe(mode);
  expect(readLetheHttp({ LETHE_ASSEMBLY_RETENTION_DAYS: '0', LETHE_ASSEMBLY_MAX_PER_SESSION: '7' }).retention).toEqual({
    daysMax: undefined,
    perSessionMax: 7,
  });
  for (const env of [{ LETHE_MODE: 'x' }, { LETHE_ASSEMBLY_RETENTION_DAYS: '-2' }, { LETHE_TRUST: 'all' }])
    expect(() => readLetheHttp(env)).toThrow(expect.objectContaining({ code: 'HOME_INVALID' }));
});

test('H12 the settings open the store’s own protocol only when they say so', async () => {
  const { paths } = await madeHome();
  const read = (settings: unknown) => {
    writeFileSync(paths.settings, JSON.stringify(settings));
    return readSettings(paths).lethe_http;
  };
  expect(read({})).toEqual({ enabled: false, port: 18_485 });
  expect(read({ lethe_http: { enabled: true } })).toEqual({ enabled: true, port: 18_485 });
  expect(() => read({ lethe_http: { enabled: 'yes' } })).toThrow(
    expect.objectContaining({ data: { field: 'lethe_http.enabled' } }),
  );
});
