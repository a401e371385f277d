import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { prepareHome } from '../../src-main/home/home.ts';
import { readHost, removeHost, writeHost } from '../../src-main/home/host-file.ts';
import { lockHome } from '../../src-main/home/lock.ts';
import { tempHome } from '../support/temp-home.ts';

const host = {
  pid: 4711,
  nonce: 'n',
  socket: null,
  mcp: 'http://127.0.0.1:18484/mcp',
  owner_page: null,
  started_at: '2026-01-01T00:00:00Z',
};

test('H4 a second holder is refused until the first one lets go', () => {
  const paths = tempHome();
  prepareHome(paths);
  const lock = lockHome(paths);
  expect(statSync(paths.lock).mode & 0o777).toBe(0o600);
  expect(() => lockHome(paths)).toThrow(expect.objectContaining({ code: 'HOME_LOCKED' }));
  lock.release();
  lockHome(paths).release();
});

test('H4 H5 another process that holds the home is named, and its death frees the home', async () => {
  const paths = tempHome();
  prepareHome(paths);
  const script = `
    import { homePaths } from '${new URL('../../src-main/home/home.ts', import.meta.url)}';
    import { lockHome } from '${new URL('../../src-main/home/lock.ts', import.meta.url)}';
    lockHome(homePaths(${JSON.stringify(paths.root)}, {}));
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  writeHost(paths.host, { ...host, pid: child.pid ?? 0 });
  expect(() => lockHome(paths)).toThrow(`Process ${child.pid} uses this home and serves agents at ${host.mcp}`);
  child.kill('SIGKILL');
  await once(child, 'close');
  lockHome(paths).release();
});

test('H5 a host.json that makes no sense is no one', () => {
  const paths = tempHome();
  prepareHome(paths);
  expect(readHost(paths.host)).toBeUndefined();
  for (const text of ['', '{', '[]', '{"pid":"x"}']) {
    writeFileSync(paths.host, text);
    expect(readHost(paths.host)).toBeUndefined();
  }
  const lock = lockHome(paths);
  expect(() => lockHome(paths)).toThrow(/Another process uses this home/);
  lock.release();
});

test('H2 H5 host.json is read as it was written, 0600, and goes away', () => {
  const paths = tempHome();
  prepareHome(paths);
  writeHost(paths.host, host);
  expect(readHost(paths.host)).toEqual(host);
  expect(statSync(paths.host).mode & 0o777).toBe(0o600);
  removeHost(paths.host);
  removeHost(paths.host);
  expect(readHost(paths.host)).toBeUndefined();
});
