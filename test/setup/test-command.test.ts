import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUILD_INPUTS, digestOf } from '../../scripts/lib/digest.mjs';
import { BUILT_FILES } from '../../scripts/lib/facts.mjs';

/** A test runner that reports what a file in the folder says for its first project, and ends with its exit code. */
const runner = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const project = process.argv[process.argv.indexOf('--project') + 1];
const { exitCode, report } = JSON.parse(readFileSync(project + '.plan.json', 'utf8'));
const file = process.argv.find((arg) => arg.startsWith('--outputFile.json=')).split('=')[1];
if (report !== null) writeFileSync(file, JSON.stringify(report));
console.log('ran ' + project);
process.exitCode = exitCode;
`;
const passes = 'process.exitCode = 0;';
const fails = 'console.log("something is wrong"); process.exitCode = 1;';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-test-'));
  cpSync(resolve(import.meta.dirname, '../../scripts'), join(folder, 'scripts'), { recursive: true });
  const lock = JSON.stringify({ packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } });
  put('package.json', '{"type":"module"}');
  put('package-lock.json', lock);
  put('node_modules/.package-lock.json', lock);
  put('scripts/typecheck.mjs', passes);
  put('node_modules/@biomejs/biome/bin/biome', passes);
  put('node_modules/knip/bin/knip.js', passes);
  put('node_modules/vitest/vitest.mjs', runner);
  plan('unit', 0, 'passed', 'passed', 'skipped');
  plan('journeys', 0, 'passed');
  for (const file of BUILT_FILES) put(file, '');
  put('node_modules/.memory-git/built', digestOf(folder, BUILD_INPUTS));
  put('browser', '#!/bin/sh\nexit 0\n');
  chmodSync(join(folder, 'browser'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function plan(project: string, exitCode: number, ...statuses: string[]): void {
  const status = statuses.includes('failed') ? 'failed' : 'passed';
  const report = { testResults: [{ status, assertionResults: statuses.map((each) => ({ status: each })) }] };
  put(`${project}.plan.json`, JSON.stringify({ exitCode, report }));
}

function run(env: Record<string, string> = {}) {
  const result = spawnSync(process.execPath, [join(folder, 'scripts/test.mjs')], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, CHROMIUM_PATH: join(folder, 'browser'), ...env },
  });
  return {
    status: result.status,
    lastLine: result.stdout.trimEnd().split('\n').at(-1),
    stdout: result.stdout,
    stderr: result.stderr,
  };
}

test('everything passed: the counts are the last line and the exit code is 0', () => {
  expect(run()).toMatchObject({ status: 0, lastLine: '3 passed, 0 failed, 1 skipped' });
});

test('a failed test: it is counted, and the exit code is 1', () => {
  plan('unit', 1, 'passed', 'failed');
  expect(run()).toMatchObject({ status: 1, lastLine: '2 passed, 1 failed, 0 skipped' });
});

test.each([
  ['type check', 'scripts/typecheck.mjs'],
  ['lint', 'node_modules/@biomejs/biome/bin/biome'],
  ['unused code', 'node_modules/knip/bin/knip.js'],
])('a failed %s counts as one failed and is named; the tests run all the same', (name, file) => {
  put(file, fails);
  const result = run();
  expect(result).toMatchObject({ status: 1, lastLine: '3 passed, 1 failed, 1 skipped' });
  expect(result.stderr).toContain(`failed: ${name}`);
});

test('a build that fails counts as one failed, and the journeys, which need it, are not run', () => {
  rmSync(join(folder, 'out/main/index.js'));
  put('node_modules/electron-vite/bin/electron-vite.js', fails);
  const result = run();
  expect(result).toMatchObject({ status: 1, lastLine: '2 passed, 1 failed, 1 skipped' });
  expect(result.stderr).toContain('something is wrong');
  expect(result.stderr).toContain('the journeys were not run');
});

test('a browser that does not start counts as one failed and is said', () => {
  const result = run({ CHROMIUM_PATH: join(folder, 'absent') });
  expect(result).toMatchObject({ status: 1, lastLine: '2 passed, 1 failed, 1 skipped' });
  expect(result.stderr).toContain('CHROMIUM_PATH names a program that does not start');
});

test('a test runner that leaves no report is one failed, never a success', () => {
  put('journeys.plan.json', JSON.stringify({ exitCode: 0, report: null }));
  expect(run()).toMatchObject({ status: 1, lastLine: '2 passed, 1 failed, 1 skipped' });
});

test('packages that cannot be installed end it with one failed and the installer’s own words', () => {
  rmSync(join(folder, 'node_modules'), { recursive: true });
  put('npm-cli.js', 'console.error("npm error code ENOTFOUND"); process.exitCode = 1;');
  const result = run({ npm_execpath: join(folder, 'npm-cli.js') });
  expect(result).toMatchObject({ status: 1, lastLine: '0 passed, 1 failed, 0 skipped' });
  expect(result.stderr).toContain('npm error code ENOTFOUND');
  expect(result.stdout).not.toContain('ran ');
});
