import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { StoreTuning } from '../sqlite/open.ts';
import { readRecovery, readTuning } from './environment.ts';
import { type Environment, type HomePaths, homeExists, homePaths, prepareHome } from './home.ts';
import { type Host, removeHost, writeHost } from './host-file.ts';
import { type KeyRing, openKeyRing } from './key-ring.ts';
import type { KeyVault } from './key-vault.ts';
import type { Keychain } from './keychain.ts';
import { type HomeKeys, openKeys } from './keys.ts';
import { lockHome } from './lock.ts';
import { isReadOnlyMedium, isWriteRefusal, openReadingCopy } from './read-only-medium.ts';
import { type RestoredMark, readRestoredMark } from './restored-mark.ts';
import { readSettings, type Settings } from './settings.ts';
import { finishSwap } from './swap.ts';

/** A home that this process holds. */
export interface OpenHome {
  readonly paths: HomePaths;
  /** Started to read only (`charon.md` §7). */
  readonly recovery: boolean;
  /** The home's own place takes no writing: this is a private copy of it, and its audit is told to the log as well. */
  readonly isReadingCopy: boolean;
  /** This home was restored and waits for its owner's check, which is why it is read only. */
  readonly restored: RestoredMark | undefined;
  readonly tuning: StoreTuning;
  readonly settings: Settings;
  readonly keys: HomeKeys;
  readonly keyVault: KeyVault;
  /** The keys as they are stored, to be listed and replaced. */
  readonly keyRing: KeyRing;
  /** Says in `host.json` where the doors are. */
  announce(doors: Pick<Host, 'socket' | 'mcp' | 'owner_page'>): void;
  /** Lets go of the home. Last of all: the stores must be closed. */
  release(): void;
}

/**
 * Takes the home at `root` for this process: environment, folders, lock, host.json, settings, keys. Whoever is refused
 * later learns who holds it from the first moment on. In recovery a home whose place takes no writing is read from a private
 * copy (H50–H52). Throws HOME_INVALID, HOME_LOCKED, KEYS_INVALID, KEYS_SEALED.
 */
export async function openHome(options: {
  readonly root: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where a window reaches it; without it sealed keys stay sealed. */
  readonly keychain?: Keychain | undefined;
}): Promise<OpenHome> {
  const { env, ids } = options;
  const own = homePaths(options.root, env);
  const recovery = readRecovery(env);
  const tuning = readTuning(env);
  if (recovery && !homeExists(own)) {
    throw new Fault(
      'HOME_INVALID',
      'There is no home to recover at that place. Name it with --home, or start without the recovery switch.',
    );
  }
  const copy = recovery && isReadOnlyMedium(own.root, ids) ? openReadingCopy(own) : undefined;
  const paths = copy === undefined ? own : homePaths(copy.root, {});
  prepareWritable(paths);
  const lock = lockHome(paths);
  const nonce = ids.randomBytes(16).toString('hex');
  const startedAt = toTimestamp(options.clock.nowMs());
  const announce: OpenHome['announce'] = (doors) =>
    writeHost(paths.host, { pid: process.pid, nonce, started_at: startedAt, ...doors });
  const release = (): void => {
    removeHost(paths.host);
    lock.release();
    copy?.remove();
  };
  try {
    announce({ socket: null, mcp: null, owner_page: null });
    finishSwap(paths);
    const restored = readRestoredMark(paths);
    const settings = readSettings(paths);
    const { keys, vault } = await openKeys(paths, env, ids, options.keychain);
    return {
      paths,
      recovery: recovery || restored !== undefined,
      isReadingCopy: copy !== undefined,
      restored,
      tuning,
      settings,
      keys: copy === undefined ? keys : { ...keys, warnings: [...keys.warnings, ...tellCopy(own)] },
      keyVault: vault,
      keyRing: openKeyRing({ vault, env, ids, clock: options.clock }),
      announce,
      release,
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

function prepareWritable(paths: HomePaths): void {
  try {
    prepareHome(paths);
  } catch (thrown) {
    if (!isWriteRefusal(thrown)) throw thrown;
    throw new Fault(
      'HOME_INVALID',
      'The place of this home takes no writing. Start with CHARON_RECOVERY_READONLY=1 to read it, or copy it to a disk that can be written.',
      {},
      { cause: thrown },
    );
  }
}

/** What whoever reads a copy must know. */
function tellCopy(own: HomePaths): readonly string[] {
  const told =
    'The place of this home takes no writing: it is read from a private copy, and every audit entry of this run is told here, since the home keeps none of them.';
  const waits =
    'Something waits for the next start of this home (a restore, or putting one back). It is not carried out here.';
  return existsSync(join(own.restore, 'next.json')) ? [told, waits] : [told];
}
