import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { _electron, expect, test } from '@playwright/test';

const root = resolve(import.meta.dirname, '../..');

test('the built desk runs in a real window: sealed, connected to its engine, and quiet about its rules', async () => {
  const home = mkdtempSync(join(tmpdir(), 'memory-git-window-'));
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const app = await _electron.launch({
    ...(process.env.ELECTRON_PATH === undefined ? {} : { executablePath: process.env.ELECTRON_PATH }),
    args: [...(isRoot ? ['--no-sandbox'] : []), root, '--home', home, '--port', '0'],
  });
  try {
    const window = await app.firstWindow();
    const violations: string[] = [];
    window.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) violations.push(message.text());
    });
    await expect(window).toHaveURL(/^app:\/\/desk\//);
    expect(
      await window.evaluate(() => ['process', 'require', 'module', 'Buffer'].filter((name) => name in globalThis)),
    ).toEqual([]);
    await expect.poll(() => window.evaluate(() => globalThis.document.body.textContent.length)).toBeGreaterThan(0);
    const answer = await window.evaluate(() => Reflect.get(globalThis, 'memoryGit').request('project.list', {}));
    expect(answer).toMatchObject({ ok: true });
    const blocked = await window.evaluate(() =>
      fetch('https://example.org/').then(
        () => 'let through',
        () => 'blocked',
      ),
    );
    expect(blocked).toBe('blocked');
    expect(violations.filter((text) => !text.includes('example.org'))).toEqual([]);
  } finally {
    await app.close();
    rmSync(home, { recursive: true, force: true });
  }
});
