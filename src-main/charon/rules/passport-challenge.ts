import type { PassportChallenge } from '../../../src-preload/contract/ltx.ts';

/** A challenge lives this long. Milliseconds (`ledger.md` §5). */
export const challengeLifeMs = 60_000;

/** What a passport signs to sign in: six lines joined by LF, none at the end. */
export function signInMessage(challenge: PassportChallenge): string {
  return [
    'lithtrix.passport.signin.v1',
    challenge.challenge_id,
    challenge.nonce,
    challenge.agent_id,
    challenge.issued_at,
    challenge.expires_at,
  ].join('\n');
}
