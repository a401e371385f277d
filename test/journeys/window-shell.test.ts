import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'memory-git-window-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('E22 the built window starts its engine in a thread, serves the built page, answers it alone, seals its keys and closes the home', () => {
  const script = join(root, 'test/support/run-built-window.ts');
  const result = spawnSync(process.execPath, [script, root, home], { encoding: 'utf8', timeout: 60_000 });
  expect([result.status, result.stderr]).toEqual([0, expect.not.stringContaining('"level":50')]);
  const seen = JSON.parse(result.stdout);
  expect(seen.projects).toEqual({ ok: true, output: { projects: [] } });
  expect(seen.created).toMatchObject({ ok: true });
  expect(seen.events).toMatchObject([{ kind: 'principal_changed' }]);
  expect(seen.sealing).toMatchObject({ ok: true, output: { sealed: true, available: true } });
  expect(JSON.parse(readFileSync(join(home, 'keys.json'), 'utf8'))).toMatchObject({
    version: 2,
    sealed: { by: 'keychain' },
  });
  expect(seen.foreign).toMatchObject({ ok: false, fault: { code: 'ORIGIN_REFUSED' } });
  expect(seen.states).toMatchObject([
    { kind: 'running', mcpUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) },
  ]);
  const nonce = /name="csp-nonce" content="([\w-]{16,})"/.exec(seen.html)?.[1];
  expect(seen.policy).toContain(`'nonce-${nonce}'`);
  expect(seen.calls.slice(-2)).toEqual(['quit prevented', 'quit']);
  expect(existsSync(join(home, 'lethe.db'))).toBe(true);
  expect(readdirSync(home).filter((name) => name.endsWith('-wal'))).toEqual([]);
});
