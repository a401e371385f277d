import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runQuietly } from '../../scripts/lib/run.mjs';
import { formatDuration } from '../../scripts/lib/say.mjs';
import { reasonIn } from '../../scripts/lib/set-up.mjs';

const node = (code: string, limitMs?: number) =>
  runQuietly({
    title: 'a test step',
    command: process.execPath,
    args: ['-e', code],
    cwd: tmpdir(),
    env: process.env,
    ...(limitMs === undefined ? {} : { limitMs }),
  });

test('the output of a failing program is kept, with its exit code', async () => {
  const result = await node('console.log("out"); console.error("err"); process.exitCode = 3');
  expect(result).toMatchObject({ ok: false, code: 3, timedOut: false });
  expect(result.output).toContain('out');
  expect(result.output).toContain('err');
});

test('a program that takes longer than its limit is stopped', async () => {
  const result = await node('setInterval(() => {}, 1000)', 300);
  expect(result).toMatchObject({ ok: false, timedOut: true });
  expect(result.durationMs).toBeLessThan(5_000);
});

test('a program that is not there is a failure with its reason, not a crash', async () => {
  const result = await runQuietly({
    title: 'a test step',
    command: '/nowhere/program',
    args: [],
    cwd: tmpdir(),
    env: process.env,
  });
  expect(result).toMatchObject({ ok: false, code: null });
  expect(result.output).toContain('ENOENT');
});

test('the reason of a failure is one short line', () => {
  expect(reasonIn('\n  at x\nError: getaddrinfo ENOTFOUND github.com\n  at y')).toBe(
    'Error: getaddrinfo ENOTFOUND github.com',
  );
  expect(reasonIn(`fatal ${'x'.repeat(500)}`).length).toBe(120);
  expect(reasonIn('')).toBe('no reason given');
});

test.each([
  [400, '0.4 s'],
  [12_345, '12 s'],
  [125_000, '2 min 05 s'],
])('%i ms is %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});
