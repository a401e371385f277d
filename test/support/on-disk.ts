import { afterAll } from 'vitest';

/**
 * Puts the temporary folders of this test file on the disk, where a write waits for it, also when those of others are in memory
 * (`folders-in-memory.ts`). Call it before the file makes any.
 */
export function onDisk(): void {
  const inMemory = process.env.TMPDIR;
  const disk = process.env.MEMORY_GIT_TESTS_DISK;
  if (inMemory === undefined || disk === undefined) return;
  process.env.TMPDIR = disk;
  afterAll(() => {
    process.env.TMPDIR = inMemory;
  });
}
