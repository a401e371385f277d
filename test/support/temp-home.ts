import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type HomePaths, homePaths } from '../../src-main/home/home.ts';

/** A folder of this test's own, gone when the test is over. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** The places of a home that does not exist yet. */
export function tempHome(): HomePaths {
  return homePaths(join(tempFolder(), 'home'), {});
}
