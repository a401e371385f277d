import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { sha256Hex } from '../canonical/digest.ts';

/** A one-time code is good for this long. Milliseconds. */
export const codeLifeMs = 60_000;
const codesMax = 16;
const sessionsMax = 64;

/** Who may use the owner page: one-time codes, and the sessions that they opened. All of it ends with the process. */
export interface OwnerSessions {
  /** A new one-time code, for the fragment of an address. */
  newCode(): string;
  /** The token of a new session; undefined for a code that was used, has expired or never was (T42). */
  exchange(code: string): string | undefined;
  isOpen(token: string): boolean;
}

/** Keeps digests only. The oldest codes and sessions give way beyond 16 and 64. */
export function ownerSessions(clock: Clock, ids: Ids): OwnerSessions {
  const expiryByCode = new Map<string, number>();
  const sessions = new Set<string>();
  const secret = (): string => ids.randomBytes(32).toString('base64url');
  return {
    newCode() {
      const code = secret();
      expiryByCode.set(sha256Hex(code), clock.nowMs() + codeLifeMs);
      dropOldest(expiryByCode, codesMax);
      return code;
    },
    exchange(code) {
      const digest = sha256Hex(code);
      const expiresAtMs = expiryByCode.get(digest);
      expiryByCode.delete(digest);
      if (expiresAtMs === undefined || clock.nowMs() >= expiresAtMs) return undefined;
      const token = secret();
      sessions.add(sha256Hex(token));
      dropOldest(sessions, sessionsMax);
      return token;
    },
    isOpen: (token) => sessions.has(sha256Hex(token)),
  };
}

function dropOldest(
  kept: { readonly size: number; keys(): IterableIterator<string>; delete(key: string): boolean },
  max: number,
): void {
  for (const key of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(key);
  }
}
