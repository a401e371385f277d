import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chromiumCandidates, findChromium } from '../../scripts/lib/chromium.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-chromium-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function program(name: string, exitCode: number): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nexit ${exitCode}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('CHROMIUM_PATH wins', () => {
  const path = program('my-browser', 0);
  vi.stubEnv('CHROMIUM_PATH', path);
  expect(findChromium()).toBe(path);
});

test('a CHROMIUM_PATH that does not start is an error that names it, not passed over', () => {
  vi.stubEnv('CHROMIUM_PATH', join(folder, 'absent'));
  expect(() => findChromium()).toThrow(/CHROMIUM_PATH.*absent/);
});

test('a browser on the PATH that cannot run is passed over for one that can', () => {
  program('chromium', 127);
  const path = program('chromium-browser', 0);
  vi.stubEnv('CHROMIUM_PATH', '');
  vi.stubEnv('PATH', folder);
  expect(findChromium()).toBe(path);
});

test('the usual places of each system are searched, the PATH first', () => {
  expect(chromiumCandidates('linux', { PATH: '/p' })[0]).toBe('/p/chromium');
  expect(chromiumCandidates('linux', {})).toContain('/usr/bin/chromium');
  expect(chromiumCandidates('darwin', { HOME: '/Users/o' })).toContain(
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  );
  expect(chromiumCandidates('win32', { PROGRAMFILES: 'C:/Programs' }).join()).toContain('msedge.exe');
});
