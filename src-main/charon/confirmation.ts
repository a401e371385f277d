import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { OwnerConfirm } from '../../src-preload/contract/commands/owner-word.ts';
import { Fault } from '../base/fault.ts';
import {
  hashPassphrase,
  isPassphraseLongEnough,
  type ScryptCost,
  saltBytes,
  verifyPassphrase,
} from '../canonical/passphrase.ts';
import { type CharonContext, requireWritable, write } from './context.ts';
import { passphraseWaitMs, type WrongPassphrases } from './rules/passphrase-wait.ts';
import { readSetting, writeSetting } from './settings.ts';
import { listActs } from './tables/acts.ts';
import { auditHead } from './tables/audit-entries.ts';
import { updateWrongPassphrases, wrongPassphrases } from './tables/wrong-passphrases.ts';

/**
 * What an act of power outside the desk asks for while no desk is open (`charon.md` §8). `unverified`: what is stored does not
 * carry the ledger's MAC, or is nothing that we wrote, so that nothing matches it.
 */
export type Confirmation = { readonly kind: OwnerConfirm | 'unverified' };

/** Confirming acts of power, and the list of those that were done outside the desk. */
export interface OwnerConfirmation {
  confirmation(): Confirmation;
  /** Throws INPUT_INVALID (a passphrase is missing, too short, or given for nothing), READ_ONLY. */
  setConfirmation(wanted: OwnerConfirm, passphrase: string | undefined, cost?: ScryptCost): Promise<void>;
  /**
   * Whether the passphrase is the owner's. One is looked at after the other; after five wrong ones in a row each makes the next
   * wait longer, also over a restart. Throws RATE_LIMITED with `retry_after_ms`, CONFIRMATION_UNVERIFIED.
   */
  isPassphrase(passphrase: string): Promise<boolean>;
  /** Acts of power outside the desk after an entry and before another, newest first: their outcomes in the audit ledger. */
  listActs(range: { readonly afterSeq: number; readonly beforeSeq: number }, limit: number): readonly AuditEntry[];
  /** The entry up to which the owner has seen them; 0 when the stored value does not carry the ledger's MAC. */
  actsSeenThrough(): number;
  /** Never goes back, nor past the end of the ledger. Throws READ_ONLY. */
  setActsSeenThrough(seq: number): Promise<void>;
}

const off = 'off';
/** Passphrases that wait to be looked at: each costs half a second and 128 MiB. */
const lookedAtMax = 4;

/** The verbs over a home. */
export function ownerConfirmation(context: CharonContext): OwnerConfirmation {
  const { db, clock, ids } = context;
  // In recovery nothing is written: then the count of this process stands beside the stored one.
  let inRecovery: WrongPassphrases | undefined;
  let looking: Promise<unknown> = Promise.resolve();
  let lookedAt = 0;

  const wrong = (): WrongPassphrases => inRecovery ?? wrongPassphrases(db);
  const setWrong = async (count: WrongPassphrases): Promise<void> => {
    if (context.readOnly) inRecovery = count;
    else await write(context, (target) => updateWrongPassphrases(target, count));
  };
  const look = async (passphrase: string): Promise<boolean> => {
    const stored = storedHash(context);
    const waitMs = passphraseWaitMs(wrong(), clock.nowMs());
    if (waitMs > 0) throw tooManyWrong(waitMs);
    // Counted before it is looked at, so that ending the process saves nobody a wait.
    const before = wrong();
    await setWrong({ inARow: before.inARow + 1, lastMs: clock.nowMs() });
    const isRight = await verifyPassphrase(passphrase, stored);
    if (isRight) await setWrong({ inARow: 0, lastMs: before.lastMs });
    return isRight;
  };

  return {
    confirmation: () => confirmationOf(context),
    setConfirmation: async (wanted, passphrase, cost) => {
      requireWritable(context);
      requirePassphrase(wanted, passphrase);
      const value = passphrase === undefined ? off : await hashPassphrase(passphrase, ids.randomBytes(saltBytes), cost);
      await write(context, (target, emit) => {
        writeSetting(target, context, 'owner_confirm', value);
        updateWrongPassphrases(target, { inARow: 0, lastMs: 0 });
        emit({ kind: 'owner_requests_changed' });
      });
    },
    isPassphrase: async (passphrase) => {
      if (lookedAt >= lookedAtMax) throw tooManyWrong(1_000);
      lookedAt += 1;
      const mine = looking.then(() => look(passphrase));
      looking = mine.catch(() => undefined);
      return mine.finally(() => {
        lookedAt -= 1;
      });
    },
    listActs: (range, limit) => listActs(db, range, limit),
    actsSeenThrough: () => seenThrough(context),
    setActsSeenThrough: async (seq) => {
      if (seq <= seenThrough(context)) return requireWritable(context);
      await write(context, (target, emit) => {
        writeSetting(target, context, 'acts_seen_through', String(Math.min(seq, auditHead(target).seq)));
        emit({ kind: 'owner_requests_changed' });
      });
    },
  };
}

function confirmationOf(context: CharonContext): Confirmation {
  const stored = readSetting(context, 'owner_confirm');
  if (stored.kind === 'absent') return { kind: off };
  if (stored.kind === 'forged') return { kind: 'unverified' };
  return { kind: stored.value === off ? off : 'passphrase' };
}

function storedHash(context: CharonContext): string {
  const stored = readSetting(context, 'owner_confirm');
  if (stored.kind === 'held' && stored.value !== off) return stored.value;
  throw confirmationUnverified();
}

/** What is stored about confirming cannot be believed: nothing confirms until the owner set it anew. */
export function confirmationUnverified(): Fault {
  return new Fault(
    'CONFIRMATION_UNVERIFIED',
    'How acts of power are confirmed does not carry the MAC of this home, so no passphrase counts. Open the window of the desk and set it anew under Settings; if keys.json was lost, put it back first: charon keys restore.',
  );
}

function tooManyWrong(waitMs: number): Fault {
  return new Fault(
    'RATE_LIMITED',
    `Too many passphrases were wrong. The next one is looked at in ${Math.ceil(waitMs / 1_000)} s; the desk asks for none.`,
    { retry_after_ms: waitMs },
  );
}

/** One to confirm by has 12 to 1 024 characters; to ask for nothing none is given. Throws INPUT_INVALID. */
export function requirePassphrase(wanted: OwnerConfirm, passphrase: string | undefined): void {
  const isRight = passphrase === undefined ? wanted === off : wanted !== off && isPassphraseLongEnough(passphrase);
  if (isRight) return;
  const message = wanted === off ? 'leave it out to ask for nothing.' : 'give one of 12 to 1 024 characters.';
  throw new Fault('INPUT_INVALID', `passphrase: ${message}`, { field: 'passphrase' });
}

function seenThrough(context: CharonContext): number {
  const stored = readSetting(context, 'acts_seen_through');
  const seq = stored.kind === 'held' ? Number(stored.value) : 0;
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : 0;
}
