import { Fault } from '../base/fault.ts';
import { defaultTuning, type StoreTuning } from '../sqlite/open.ts';
import type { Environment } from './home.ts';

const on = new Set(['1', 'true', 'yes', 'on']);
const off = new Set(['', '0', 'false', 'no', 'off']);

/** Whether a variable of the environment is switched on; anything that is neither on nor off is HOME_INVALID (H10). */
export function readSwitch(env: Environment, name: string): boolean {
  const word = (env[name] ?? '').trim().toLowerCase();
  if (on.has(word)) return true;
  if (off.has(word)) return false;
  throw new Fault('HOME_INVALID', `${name} is neither on nor off. Write 1, true, yes or on, or leave it unset.`, {
    variable: name,
  });
}

/** Whether this start may only read: `CHARON_RECOVERY_READONLY` or `LETHE_RECOVERY_READONLY` (`charon.md` §7). */
export function readRecovery(env: Environment): boolean {
  const charon = readSwitch(env, 'CHARON_RECOVERY_READONLY');
  const lethe = readSwitch(env, 'LETHE_RECOVERY_READONLY');
  return charon || lethe;
}

/** `LETHE_SQLITE_*`: tunes waiting and checkpoints, never durability below FULL (H11). Throws HOME_INVALID. */
export function readTuning(env: Environment): StoreTuning {
  const synchronous = (env.LETHE_SQLITE_SYNCHRONOUS ?? '').trim().toUpperCase();
  if (synchronous !== '' && synchronous !== 'FULL') {
    throw new Fault(
      'HOME_INVALID',
      'LETHE_SQLITE_SYNCHRONOUS must be FULL: anything else could lose acknowledged memory. Leave it unset.',
      {
        variable: 'LETHE_SQLITE_SYNCHRONOUS',
      },
    );
  }
  return {
    busyTimeoutMs: readWhole(env, 'LETHE_SQLITE_BUSY_TIMEOUT_MS', defaultTuning.busyTimeoutMs, 600_000),
    autocheckpointPages: readWhole(env, 'LETHE_SQLITE_AUTOCHECKPOINT', defaultTuning.autocheckpointPages, 1_000_000),
  };
}

function readWhole(env: Environment, name: string, unset: number, max: number): number {
  const text = (env[name] ?? '').trim();
  if (text === '') return unset;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  throw new Fault('HOME_INVALID', `${name} must be a whole number from 1 to ${max}.`, { variable: name });
}

/** Who may reach the store's own HTTP protocol, as the environment says it (`lethe.md` §1.5, §9.2). */
export interface LetheHttpEnvironment {
  readonly trust: 'loopback' | 'private';
  readonly insecureBind: boolean;
  /** Names under which it is reached beside those of this machine. */
  readonly hostNames: readonly string[];
}

/**
 * `LETHE_TRUST`, `LETHE_ALLOW_INSECURE_BIND` (exactly `1`), `LETHE_HTTP_HOSTS` (names with commas), and `LETHE_MODE`, of which
 * `git` is the one that is served (H14). Throws HOME_INVALID.
 */
export function readLetheHttp(env: Environment): LetheHttpEnvironment {
  const mode = (env.LETHE_MODE ?? '').trim().toLowerCase();
  if (mode !== '' && mode !== 'git') {
    throw new Fault('HOME_INVALID', 'LETHE_MODE must be git: the session API is not offered here. Leave it unset.', {
      variable: 'LETHE_MODE',
    });
  }
  const trust = (env.LETHE_TRUST ?? '').trim().toLowerCase() || 'loopback';
  if (trust !== 'loopback' && trust !== 'private') {
    throw new Fault('HOME_INVALID', 'LETHE_TRUST must be loopback or private. Leave it unset for loopback.', {
      variable: 'LETHE_TRUST',
    });
  }
  const hostNames = (env.LETHE_HTTP_HOSTS ?? '').split(',').map((name) => name.trim());
  return {
    trust,
    insecureBind: env.LETHE_ALLOW_INSECURE_BIND === '1',
    hostNames: hostNames.filter((name) => name !== ''),
  };
}
