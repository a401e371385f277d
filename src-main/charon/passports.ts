import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import type { Passport, PassportChallenge } from '../../src-preload/contract/ltx.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { verifyPassportSignature } from '../canonical/consolidation.ts';
import { type CharonContext, write } from './context.ts';
import type { PassportProof } from './ltx-api.ts';
import { makeToken } from './ltx-keys.ts';
import { agentIdOf } from './rules/agent-id.ts';
import { formatHomeId } from './rules/home-id.ts';
import { ltxSessionLifeMs } from './rules/ltx-token.ts';
import { challengeLifeMs, signInMessage } from './rules/passport-challenge.ts';
import { inBase64Url } from './rules/passport-key.ts';
import { insertSession } from './tables/ltx-sessions.ts';
import { burnChallenge, type ChallengeRow, findChallenge, insertChallenge } from './tables/passport-challenges.ts';
import { findPassport, updatePassportRevoked } from './tables/passports.ts';

/** The passport that may sign now. Throws `PASSPORT_NOT_FOUND`, `PASSPORT_REVOKED`. */
export function requirePassport(context: CharonContext, principalId: PrincipalId): Passport {
  const passport = findPassport(context.db, principalId);
  if (passport === undefined) throw passportNotFound();
  if (passport.revoked_at === null) return passport;
  throw new Fault(
    'PASSPORT_REVOKED',
    'The passport of this agent was revoked by the owner: nothing that it signs counts. Register anew with another one.',
  );
}

/** Revokes for good; its sessions end with it. Throws `PASSPORT_NOT_FOUND`. */
export function revokePassport(context: CharonContext, principalId: PrincipalId): Promise<Passport> {
  return write(context, (db, emit) => {
    updatePassportRevoked(db, principalId, toTimestamp(context.clock.nowMs()));
    const passport = findPassport(db, principalId);
    if (passport === undefined) throw passportNotFound();
    emit({ kind: 'principal_changed', principal_id: principalId });
    return passport;
  });
}

/** Something to sign within a minute, once (`ledger.md` §5). Throws as `requirePassport`. */
export function makeChallenge(context: CharonContext, principalId: PrincipalId): Promise<PassportChallenge> {
  return write(context, (db) => {
    requirePassport(context, principalId);
    const issuedMs = Math.floor(context.clock.nowMs() / 1_000) * 1_000;
    const challenge = {
      id: formatHomeId(context.ids.randomBytes(16)),
      principalId,
      nonce: formatHomeId(context.ids.randomBytes(16)),
    };
    insertChallenge(db, challenge, issuedMs, issuedMs + challengeLifeMs);
    return toChallenge({
      challenge_id: challenge.id,
      principal_id: principalId,
      nonce: challenge.nonce,
      issued_ms: issuedMs,
      expires_ms: issuedMs + challengeLifeMs,
      burnt: 0,
    });
  });
}

/**
 * Burns the challenge, and answers with it when the passport signed what `messageOf` makes of it: a failed signature burns
 * it too. One text for every challenge that cannot be signed: unknown, foreign, over, used (`ledger.md` §5).
 * Throws as `requirePassport`, `PASSPORT_SIGNATURE_REQUIRED`, `PASSPORT_SIGNATURE_INVALID`.
 */
export async function prove(
  context: CharonContext,
  principalId: PrincipalId,
  proof: PassportProof,
  messageOf: (challenge: PassportChallenge) => string,
): Promise<PassportChallenge> {
  const passport = requirePassport(context, principalId);
  const { challengeId, signature } = proof;
  if (challengeId === undefined || challengeId === '' || signature === undefined || signature === '') {
    throw new Fault(
      'PASSPORT_SIGNATURE_REQUIRED',
      'This needs the signature of the passport. Ask POST /v1/auth/passport/challenge for a challenge, sign it, and send challenge_id and the signature.',
    );
  }
  const burnt = await write(context, (db) => {
    const row = findChallenge(db, challengeId);
    if (row === undefined || row.principal_id !== principalId || !burnChallenge(db, challengeId)) return undefined;
    return row.expires_ms > context.clock.nowMs() ? row : undefined;
  });
  const challenge = burnt === undefined ? undefined : toChallenge(burnt);
  const publicKey = inBase64Url(passport.public_key);
  if (challenge !== undefined && verifyPassportSignature(publicKey, messageOf(challenge), signature)) return challenge;
  throw new Fault(
    'PASSPORT_SIGNATURE_INVALID',
    'The challenge cannot be used, or this is not the passport’s signature of it. A challenge serves once, for 60 seconds: ask for a new one and sign that.',
  );
}

/** A session of an hour for a signed challenge (`ledger.md` §1). Throws as `prove`. */
export async function signIn(
  context: CharonContext,
  principalId: PrincipalId,
  proof: PassportProof,
): Promise<{ readonly token: string; readonly expiresInSeconds: number }> {
  await prove(context, principalId, proof, signInMessage);
  return write(context, (db) => {
    const nowMs = context.clock.nowMs();
    const { id, token, mac } = makeToken(context, 'session');
    insertSession(db, { sessionId: id, principalId, expiresMs: nowMs + ltxSessionLifeMs }, mac, nowMs);
    return { token, expiresInSeconds: ltxSessionLifeMs / 1_000 };
  });
}

function toChallenge(row: ChallengeRow): PassportChallenge {
  return {
    challenge_id: row.challenge_id,
    agent_id: agentIdOf(row.principal_id),
    nonce: row.nonce,
    issued_at: toTimestamp(row.issued_ms),
    expires_at: toTimestamp(row.expires_ms),
  };
}

function passportNotFound(): Fault {
  return new Fault(
    'PASSPORT_NOT_FOUND',
    'There is no passport of that agent. An agent brings its passport_public_key when it registers.',
  );
}
