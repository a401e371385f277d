import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { StoreTuning } from '../sqlite/open.ts';
import { readRecovery, readTuning } from './environment.ts';
import { type Environment, type HomePaths, homeExists, homePaths, prepareHome } from './home.ts';
import { type Host, removeHost, writeHost } from './host-file.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import { type HomeKeys, openKeys } from './keys.ts';
import { lockHome } from './lock.ts';
import { readSettings, type Settings } from './settings.ts';

/** A home that this process holds. */
export interface OpenHome {
  readonly paths: HomePaths;
  /** Started to read only (`charon.md` §7). */
  readonly recovery: boolean;
  readonly tuning: StoreTuning;
  readonly settings: Settings;
  readonly keys: HomeKeys;
  /** The keys as they are stored, to be listed and replaced. */
  readonly keyRing: KeyRing;
  /** Says in `host.json` where the doors are. */
  announce(doors: Pick<Host, 'socket' | 'mcp' | 'owner_page'>): void;
  /** Lets go of the home. Last of all: the stores must be closed. */
  release(): void;
}

/**
 * Takes the home at `root` for this process: environment, folders, lock, host.json, settings, keys. Whoever is refused
 * later learns who holds it from the first moment on. Throws HOME_INVALID, HOME_LOCKED, KEYS_INVALID.
 */
export function openHome(options: {
  readonly root: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
}): OpenHome {
  const { env, ids } = options;
  const paths = homePaths(options.root, env);
  const recovery = readRecovery(env);
  const tuning = readTuning(env);
  if (recovery && !homeExists(paths)) {
    throw new Fault(
      'HOME_INVALID',
      'There is no home to recover at that place. Name it with --home, or start without the recovery switch.',
    );
  }
  prepareHome(paths);
  const lock = lockHome(paths);
  const nonce = ids.randomBytes(16).toString('hex');
  const startedAt = toTimestamp(options.clock.nowMs());
  const announce: OpenHome['announce'] = (doors) =>
    writeHost(paths.host, { pid: process.pid, nonce, started_at: startedAt, ...doors });
  const release = (): void => {
    removeHost(paths.host);
    lock.release();
  };
  try {
    announce({ socket: null, mcp: null, owner_page: null });
    return {
      paths,
      recovery,
      tuning,
      settings: readSettings(paths),
      keys: openKeys(paths, env, ids),
      keyRing: openKeyRing({ paths, env, ids, clock: options.clock }),
      announce,
      release,
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}
