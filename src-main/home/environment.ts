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

function readWhole(env: Environment, name: string, unset: number, max: number, min = 1): number {
  const text = (env[name] ?? '').trim();
  if (text === '') return unset;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Fault('HOME_INVALID', `${name} must be a whole number from ${min} to ${max}.`, { variable: name });
}

/** Which routes the store's own HTTP protocol serves (`lethe.md` §1.5): those of sessions, those of memory, or both. */
export const letheModes = ['legacy', 'git', 'hybrid'] as const;
export type LetheMode = (typeof letheModes)[number];

/** Who may reach the store's own HTTP protocol, as the environment says it (`lethe.md` §1.5, §9.2). */
export interface LetheHttpEnvironment {
  readonly trust: 'loopback' | 'private';
  readonly insecureBind: boolean;
  /** Names under which it is reached beside those of this machine. */
  readonly hostNames: readonly string[];
  readonly mode: LetheMode;
  readonly retention: AssemblyRetentionSetting;
}

/** How long assemblies of sessions are kept; undefined keeps them. */
export interface AssemblyRetentionSetting {
  readonly daysMax: number | undefined;
  readonly perSessionMax: number | undefined;
}

/**
 * `LETHE_TRUST`, `LETHE_ALLOW_INSECURE_BIND` (exactly `1`), `LETHE_HTTP_HOSTS` (names with commas), `LETHE_MODE`, and how long
 * assemblies are kept: `LETHE_ASSEMBLY_RETENTION_DAYS` and `LETHE_ASSEMBLY_MAX_PER_SESSION`, 0 for ever (H14). Throws HOME_INVALID.
 */
export function readLetheHttp(env: Environment): LetheHttpEnvironment {
  const word = (env.LETHE_MODE ?? '').trim().toLowerCase() || 'git';
  const mode = letheModes.find((one) => one === word);
  if (mode === undefined) {
    throw new Fault('HOME_INVALID', `LETHE_MODE must be ${letheModes.join(', ')}. Leave it unset for git.`, {
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
    mode,
    retention: {
      daysMax: readWhole(env, 'LETHE_ASSEMBLY_RETENTION_DAYS', 30, 36_500, 0) || undefined,
      perSessionMax: readWhole(env, 'LETHE_ASSEMBLY_MAX_PER_SESSION', 500, 1_000_000, 0) || undefined,
    },
  };
}
