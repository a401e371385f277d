import { Fault } from '../base/fault.ts';
import { acquireFileLock, type FileLock } from '../sqlite/lock.ts';
import type { HomePaths } from './home.ts';
import { type Host, readHost } from './host-file.ts';

/**
 * Takes the home for this process (H4); the lock frees itself when the process dies. Throws HOME_LOCKED, saying who holds
 * the home when that is known (H5).
 */
export function lockHome(paths: HomePaths): FileLock {
  const lock = acquireFileLock(paths.lock);
  if (lock !== undefined) return lock;
  throw lockedBy(readHost(paths.host));
}

function lockedBy(host: Host | undefined): Fault {
  if (host === undefined) {
    return new Fault('HOME_LOCKED', 'Another process uses this home. Close it, or choose another home with --home.');
  }
  const door = host.mcp === null ? '' : ` and serves agents at ${host.mcp}`;
  return new Fault(
    'HOME_LOCKED',
    `Process ${host.pid} uses this home${door}. Close it, or choose another home with --home.`,
    {
      pid: host.pid,
      mcp: host.mcp,
      started_at: host.started_at,
    },
  );
}
