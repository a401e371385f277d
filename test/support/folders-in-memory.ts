import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';
const prefix = 'mg-tests-';
/** A run keeps far less at any time; a container often has no more than 64 MiB here, which is too little. */
const freeBytesMin = 2 * 1024 ** 3;

/**
 * Puts the temporary folders of a run of the tests into memory where the system has room there: each commit waits for the
 * disk, and hardly a test is about that. Those that are say `onDisk()`. Without that room everything stays where it was.
 *
 * @returns what removes the folders when the run is over
 */
export function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  removeOrphans();
  const disk = tmpdir();
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  process.env.MEMORY_GIT_TESTS_DISK = disk;
  process.env.TMPDIR = folder;
  return () => {
    process.env.TMPDIR = disk;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

function hasRoom(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= freeBytesMin;
  } catch {
    return false;
  }
}

/** A run that was killed could not remove its folder, and memory is dear. */
function removeOrphans(): void {
  for (const name of readdirSync(memory)) {
    const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !isRunning(pid)) rmSync(join(memory, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is no orphan of ours either.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}
