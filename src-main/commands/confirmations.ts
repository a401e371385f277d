import type { Timestamp } from '../../src-preload/contract/ids.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { sha256Hex } from '../canonical/digest.ts';

/** A confirmation is good for this long. Milliseconds. */
export const confirmationLifeMs = 60_000;
const confirmationsMax = 16;

/** What a confirmation is for: one command with exactly one input. */
export interface Confirmable {
  readonly command: string;
  readonly inputDigest: string;
}

/** Confirmations that a passphrase was given for: each serves once, for exactly what it was asked for. */
export interface Confirmations {
  give(what: Confirmable): { readonly confirmation: string; readonly expires_at: Timestamp };
  /** Whether it is good for that. It is spent, whatever it was shown for. */
  take(confirmation: string, what: Confirmable): boolean;
}

/** Keeps digests only, and nothing over a restart. The oldest gives way beyond 16. */
export function createConfirmations(clock: Clock, ids: Ids): Confirmations {
  const given = new Map<string, Confirmable & { readonly expiresMs: number }>();
  return {
    give: (what) => {
      const confirmation = ids.randomBytes(32).toString('base64url');
      const expiresMs = clock.nowMs() + confirmationLifeMs;
      given.set(sha256Hex(confirmation), { ...what, expiresMs });
      const [oldest] = given.keys();
      if (given.size > confirmationsMax && oldest !== undefined) given.delete(oldest);
      return { confirmation, expires_at: toTimestamp(expiresMs) };
    },
    take: (confirmation, what) => {
      const digest = sha256Hex(confirmation);
      const found = given.get(digest);
      given.delete(digest);
      return (
        found !== undefined &&
        clock.nowMs() < found.expiresMs &&
        found.command === what.command &&
        found.inputDigest === what.inputDigest
      );
    },
  };
}
