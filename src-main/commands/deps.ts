import type { Timestamp } from '../../src-preload/contract/ids.ts';
import type { Backups } from '../backup/backups.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Caller, Charon } from '../charon/api.ts';
import { scopesOfCredential } from '../charon/rules/rights.ts';
import type { KeyRing } from '../home/key-ring.ts';
import type { Ledger } from '../ledger/api.ts';
import type { Lethe } from '../lethe/api.ts';
import type { EventHub } from './events.ts';
import type { MemoryStore } from './memory-store.ts';
import type { Metrics } from './metrics.ts';

/** What the engine says about itself. */
export interface EngineFacts {
  readonly version: string;
  readonly home: string;
  readonly mcpUrl: string | null;
  readonly startedAt: Timestamp;
  /** The owner page's address with a new one-time code; undefined while that door is shut. */
  readonly newLoginUrl?: (() => string) | undefined;
}

/** Everything that commands stand on; built by the composition root. */
export interface CommandDeps {
  /** Where memory is: `files`, or a store in another process (`charon.md` §7). */
  readonly lethe: MemoryStore;
  /** The store of this home's own file, for what only the process that has the file may do. */
  readonly files: Lethe;
  readonly charon: Charon;
  readonly ledger: Ledger;
  readonly events: EventHub;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Milliseconds that only ever grow, for durations. */
  readonly monotonicMs: () => number;
  readonly ids: Ids;
  readonly keyRing: KeyRing;
  readonly log: Log;
  readonly recoveryReadonly: boolean;
  /** The home is read from a private copy: nothing that would be done to it would last. */
  readonly isReadingCopy?: boolean | undefined;
  /** Hears how far a long command of this very process has come: a command line shows it. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** How much of the disk is free, and with how little of it nothing more is written. Left out: nobody looks. */
  readonly disk?: { freeBytes(): number; readonly freeBytesMin: number } | undefined;
  /** The backups of this home, which also say when nothing may begin. Left out: this process makes none. */
  readonly backups?: Backups | undefined;
  /** Asked at every call, since the doors open after the commands. */
  readonly facts: () => EngineFacts;
}

/** Whether memory is in another process, so that this home's own file holds none of it. */
export function isElsewhere({ lethe, files }: Pick<CommandDeps, 'lethe' | 'files'>): boolean {
  return lethe !== files;
}

/**
 * The caller with the rights of this moment, whatever the door knew of it when the connection began (`charon.md` §1).
 * Throws PRINCIPAL_DISABLED.
 */
export function liveCaller(charon: Charon, caller: Caller): Caller {
  const principal = charon.findPrincipal(caller.principal.principal_id);
  if (principal?.enabled !== true) {
    throw new Fault('PRINCIPAL_DISABLED', 'This principal is disabled. Ask the owner to enable it at the desk.');
  }
  return { ...caller, principal, scopes: scopesOfCredential(principal.profile, caller.credential) };
}
