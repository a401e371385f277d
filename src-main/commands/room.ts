import type { CommandContract } from '../../src-preload/contract/command.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { CommandDeps } from './deps.ts';

/** Whether a mutation has room: on the disk, and in the quotas of whoever asks (`charon.md` §3). */
export interface Room {
  /** Throws DISK_FULL, QUOTA. Takes nothing. */
  check(): void;
  /**
   * Takes what the call needs, in the same transaction as the intent that is on its way: all of it or nothing.
   * Throws what the intent was refused with, and QUOTA.
   */
  take(intended: Promise<void>): Promise<void>;
  /** The call failed: it made no branch. */
  giveBack(): Promise<void>;
}

/** Commands that make a branch when they succeed. */
const branching: ReadonlySet<string> = new Set(['memory.branch_create', 'memory.revert_propose']);

/** The owner has no quotas; what the owner decides about rights and proposals needs no room on the disk either. */
export function roomOf(deps: CommandDeps, contract: CommandContract, caller: Caller, input: unknown): Room {
  const { charon } = deps;
  const { principal_id: principalId } = caller.principal;
  const counted = caller.credential.kind !== 'owner';
  const refs = branching.has(contract.name) ? 1 : 0;
  const use = { refs, payloadBytes: Buffer.byteLength(JSON.stringify(input), 'utf8') };
  return {
    check: () => {
      if (addsMemory(contract)) requireDisk(deps);
      if (counted) charon.requireQuota(principalId, use);
    },
    take: async (intended) => {
      const taken = counted ? charon.takeQuota(principalId, use) : Promise.resolve();
      const [room, intent] = await Promise.allSettled([taken, intended]);
      if (intent.status === 'rejected') throw intent.reason;
      if (room.status === 'rejected') throw room.reason;
    },
    giveBack: async () => {
      if (!counted || refs === 0) return;
      await charon.takeQuota(principalId, { refs: -refs, payloadBytes: 0 }).catch((thrown: unknown) => {
        deps.log.warn({ err: thrown }, 'a branch that was not made counts all the same');
      });
    },
  };
}

function addsMemory({ name, scope }: CommandContract): boolean {
  return scope !== 'owner' || name === 'store.import';
}

/** Throws DISK_FULL when nothing more is to be written: too little of the disk of this home is free. */
export function requireDisk({ disk }: Pick<CommandDeps, 'disk'>): void {
  if (disk === undefined || disk.freeBytes() >= disk.freeBytesMin) return;
  throw new Fault(
    'DISK_FULL',
    `Fewer than ${disk.freeBytesMin} bytes are free on the disk of this home, so nothing is written. Reading works. Free some space, then try again.`,
    { free_bytes_min: disk.freeBytesMin },
  );
}
