import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUILD_INPUTS, digestOf } from '../../scripts/lib/digest.mjs';
import { BUILT_FILES } from '../../scripts/lib/facts.mjs';

/** An engine that says it is ready, records how it was started, and records how it was ended. */
const engine = `
import { appendFileSync } from 'node:fs';
const log = (line) => appendFileSync('engine.log', line + '\\n');
log('start ' + process.argv.slice(2).join(' '));
process.on('SIGTERM', () => { log('closed'); process.exit(0); });
console.log(JSON.stringify({ ready: true, mcp: 'http://127.0.0.1:1/mcp', owner: process.argv.includes('--owner-page') ? 'http://127.0.0.1:2/#code=abc' : null }));
setInterval(() => {}, 1000);
`;

let folder = '';
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-start-'));
  cpSync(resolve(import.meta.dirname, '../../scripts'), join(folder, 'scripts'), { recursive: true });
  const lock = JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } });
  put('package.json', '{"type":"module"}');
  put('package-lock.json', lock);
  put('node_modules/.package-lock.json', lock);
  for (const file of BUILT_FILES) put(file, file.endsWith('charon.js') ? engine : '');
  put('node_modules/.memory-git/built', digestOf(folder, BUILD_INPUTS));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function putProgram(path: string, script: string): string {
  put(path, `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, path), 0o755);
  return join(folder, path);
}

function start(args: readonly string[], env: Record<string, string>) {
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, CHROMIUM_PATH: _chromium, ...rest } = process.env;
  const child = spawn(process.execPath, [join(folder, 'scripts/start.mjs'), ...args], {
    cwd: folder,
    env: { ...rest, ...env },
  });
  running.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

const textOf = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; waited < 10_000 && !condition(); waited += 20) await new Promise((done) => setTimeout(done, 20));
  expect(condition()).toBe(true);
}

describe('npm start', () => {
  test('--headless runs the engine without any window, passes the rest on, and a signal closes it', async () => {
    const { child, ended, stdout, stderr } = start(['--headless', '--home', 'h', '--port', '0'], { DISPLAY: ':0' });
    await until(() => stdout().includes('"ready":true'));
    expect(textOf('engine.log')).toBe('start serve --home h --port 0\n');
    expect(stderr()).toBe('');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(textOf('engine.log')).toContain('closed');
  });

  test('without a display the owner page’s address is printed and nothing is opened', async () => {
    const { child, ended, stdout, stderr } = start([], {});
    await until(() => stdout().includes('http://127.0.0.1:2/#code=abc'));
    expect(stderr()).toMatch(/no display here/);
    expect(textOf('engine.log')).toBe('start serve --owner-page --json\n');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(textOf('engine.log')).toContain('closed');
  });

  test('without Electron’s binary one line says so, a browser window opens, and closing it closes the engine', async () => {
    const browser = putProgram('browser', '[ "$1" = --version ] && exit 0\necho "$@" > browser.log\nsleep 0.3');
    const { ended, stderr } = start([], { DISPLAY: ':0', CHROMIUM_PATH: browser });
    expect(await ended).toBe(0);
    expect(textOf('browser.log')).toContain('--app=http://127.0.0.1:2/#code=abc');
    expect(stderr()).toMatch(/Electron's binary could not be fetched/);
    expect(textOf('engine.log')).toBe('start serve --owner-page --json\nclosed\n');
  });

  test('the failed download is not tried again at the next start', async () => {
    const browser = putProgram('browser', 'exit 0');
    expect(await start([], { DISPLAY: ':0', CHROMIUM_PATH: browser }).ended).toBe(0);
    const again = start([], { DISPLAY: ':0', CHROMIUM_PATH: browser });
    expect(await again.ended).toBe(0);
    expect(again.stderr()).not.toMatch(/fetching Electron/);
    expect(again.stderr()).toMatch(/Electron’s binary is not here/);
  });

  test('a browser that cannot open its window leaves the address on the terminal', async () => {
    const browser = putProgram('browser', '[ "$1" = --version ] && exit 0\nexit 1');
    const { child, ended, stdout } = start([], { DISPLAY: ':0', CHROMIUM_PATH: browser });
    await until(() => stdout().includes('http://127.0.0.1:2/#code=abc'));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('Electron opens the window when it is there, and gets the arguments', async () => {
    put('node_modules/electron/path.txt', 'electron');
    putProgram('node_modules/electron/dist/electron', 'echo "$@" > electron.log');
    const { ended } = start(['--home', 'h'], { DISPLAY: ':0' });
    expect(await ended).toBe(0);
    expect(textOf('electron.log')).toMatch(/\. --home h$/m);
    expect(textOf('engine.log')).toBe('');
  });

  test('an Electron that cannot open its window is said, and the owner page takes its place', async () => {
    put('node_modules/electron/path.txt', 'electron');
    putProgram('node_modules/electron/dist/electron', 'exit 127');
    const browser = putProgram('browser', 'exit 0');
    const { ended, stderr } = start([], { DISPLAY: ':0', CHROMIUM_PATH: browser });
    expect(await ended).toBe(0);
    expect(stderr()).toMatch(/Electron could not open its window/);
    expect(textOf('engine.log')).toContain('--owner-page');
  });

  test('an engine that cannot start ends it with the engine’s exit code', async () => {
    put('out/main/charon.js', 'console.error("the home is taken"); process.exitCode = 3;');
    const { ended, stderr } = start([], {});
    expect(await ended).toBe(3);
    expect(stderr()).toContain('the home is taken');
  });
});
