import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { digestOf } from '../../scripts/lib/digest.mjs';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'memory-git-digest-'));
  mkdirSync(join(root, 'src/inner'), { recursive: true });
  writeFileSync(join(root, 'src/a.ts'), 'a');
  writeFileSync(join(root, 'src/inner/b.ts'), 'b');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const digest = () => digestOf(root, ['src', 'package.json']);

test('the same content has the same digest, whenever it was written', () => {
  const before = digest();
  writeFileSync(join(root, 'src/a.ts'), 'a');
  expect(digest()).toBe(before);
});

test('a changed, a new, a removed and a moved file each change it', () => {
  const seen = [digest()];
  writeFileSync(join(root, 'src/a.ts'), 'A');
  seen.push(digest());
  writeFileSync(join(root, 'package.json'), '{}');
  seen.push(digest());
  rmSync(join(root, 'src/inner/b.ts'));
  seen.push(digest());
  writeFileSync(join(root, 'src/b.ts'), 'b');
  seen.push(digest());
  expect(new Set(seen).size).toBe(seen.length);
});

test('files outside of the named inputs do not count', () => {
  const before = digest();
  writeFileSync(join(root, 'README.md'), 'x');
  expect(digest()).toBe(before);
});
