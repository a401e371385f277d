import type { Door } from '../../src-preload/contract/audit.ts';
import { type PrincipalId, timestampSchema } from '../../src-preload/contract/ids.ts';
import { type LtxKey, type LtxKeyId, type LtxKeyKind, ltxKeyIdSchema } from '../../src-preload/contract/ltx.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import type { Caller } from './api.ts';
import { type CharonContext, write } from './context.ts';
import type { MintedKey } from './ltx-api.ts';
import { getPrincipal } from './principals.ts';
import { agentIdOf } from './rules/agent-id.ts';
import {
  formatLtxToken,
  type LtxTokenUse,
  ltxIdBytes,
  ltxSecretBytes,
  parseLtxToken,
  tokenUseOf,
} from './rules/ltx-token.ts';
import { requireRootKey, scopesOfCredential } from './rules/rights.ts';
import { audienceOf, tokenMac } from './rules/token.ts';
import { findStoredKey, insertKey, updateKeyEpoch, updateKeyRevoked, withoutMac } from './tables/ltx-keys.ts';
import { findSession } from './tables/ltx-sessions.ts';
import { findPassport } from './tables/passports.ts';
import { findPrincipal } from './tables/principals.ts';
import { provesUnderAny } from './token-keys.ts';

/** Stands in for the row of a token that nobody has, so that refusing it costs the same. */
const noId = '0'.repeat(ltxIdBytes * 2);
const noMac = '0'.repeat(64);

/** A fresh token with its public half and the MAC that is stored of it. */
export function makeToken(
  context: CharonContext,
  use: LtxTokenUse,
): { readonly id: string; readonly token: string; readonly mac: string } {
  const id = context.ids.randomBytes(ltxIdBytes).toString('hex');
  const token = formatLtxToken(use, id, context.ids.randomBytes(ltxSecretBytes));
  return { id, token, mac: tokenMac(context.keys.obol, token, audienceOf(context.homeId)) };
}

/** A new key in the caller's transaction. Throws `PRINCIPAL_NOT_FOUND`, `PRINCIPAL_DISABLED`, `OWNER_ONLY`. */
export function makeKey(context: CharonContext, db: WritableDb, principalId: PrincipalId, kind: LtxKeyKind): MintedKey {
  const principal = getPrincipal(db, principalId);
  if (principal.profile === 'owner')
    throw new Fault('OWNER_ONLY', 'No key can carry the owner, who enters at the desk. Make one for an agent.');
  if (!principal.enabled)
    throw new Fault('PRINCIPAL_DISABLED', 'This principal is disabled. Enable it, then make the key.');
  const { id, token, mac } = makeToken(context, tokenUseOf(kind));
  const key: LtxKey = {
    key_id: ltxKeyIdSchema.parse(id),
    principal_id: principalId,
    agent_id: agentIdOf(principalId),
    kind,
    created_at: timestampSchema.parse(toTimestamp(context.clock.nowMs())),
    revoked_at: null,
    last_used_at: null,
    last_client: null,
    last_tool: null,
  };
  insertKey(db, key, mac);
  return { key, token };
}

/** Makes a key, whose text is in this answer and nowhere else (`ledger.md` §1). Throws as `makeKey`. */
export function mintKey(
  context: CharonContext,
  input: { readonly principalId: PrincipalId; readonly kind: LtxKeyKind },
): Promise<MintedKey> {
  return write(context, (db, emit) => {
    const minted = makeKey(context, db, input.principalId, input.kind);
    emit({ kind: 'principal_changed', principal_id: input.principalId });
    return minted;
  });
}

/** Refused from the next call on, for good; revoking again answers the same. Throws `LTX_KEY_NOT_FOUND`. */
export function revokeKey(context: CharonContext, keyId: LtxKeyId): Promise<LtxKey> {
  return write(context, (db, emit) => {
    const known = findStoredKey(db, keyId);
    if (known === undefined)
      throw new Fault('LTX_KEY_NOT_FOUND', 'key_id names no key. `ltx ls` shows them all.', { field: 'key_id' });
    updateKeyRevoked(db, keyId, toTimestamp(context.clock.nowMs()));
    emit({ kind: 'principal_changed', principal_id: known.principal_id });
    return withoutMac(findStoredKey(db, keyId) ?? known);
  });
}

/** Lets in again a key that was made before a restore (`charon.md` §7). Throws `LTX_KEY_NOT_FOUND`, `KEY_REVOKED`. */
export function reapproveKey(context: CharonContext, keyId: LtxKeyId): Promise<LtxKey> {
  return write(context, (db, emit) => {
    const known = findStoredKey(db, keyId);
    if (known === undefined)
      throw new Fault('LTX_KEY_NOT_FOUND', 'key_id names no key. `ltx ls` shows them all.', { field: 'key_id' });
    if (known.revoked_at !== null)
      throw new Fault('KEY_REVOKED', 'This key was revoked, and that stands. Make another.', { field: 'key_id' });
    updateKeyEpoch(db, keyId);
    emit({ kind: 'principal_changed', principal_id: known.principal_id });
    return withoutMac(findStoredKey(db, keyId) ?? known);
  });
}

/**
 * A new root key in the place of the one that asks, in one transaction (`ledger.md` §1). Throws `ROOT_KEY_REQUIRED`, and
 * `KEY_REVOKED` when another request was quicker.
 */
export function rotateKey(context: CharonContext, caller: Caller): Promise<MintedKey> {
  return write(context, (db, emit) => {
    const { id } = requireRootKey(caller);
    const asking = findStoredKey(db, id);
    if (asking === undefined || asking.revoked_at !== null)
      throw new Fault(
        'KEY_REVOKED',
        'This key was revoked. Use the one that took its place, or ask the owner for another.',
      );
    const minted = makeKey(context, db, asking.principal_id, 'root');
    updateKeyRevoked(db, asking.key_id, toTimestamp(context.clock.nowMs()));
    emit({ kind: 'principal_changed', principal_id: asking.principal_id });
    return minted;
  });
}

/**
 * The caller that a key or a session stands for, with the rights of this moment. One answer for every token that is not
 * good, after the same work; that one was revoked is for `wasRevoked` to say.
 */
export function authenticateLtx(context: CharonContext, token: string, door: Door): Caller | undefined {
  const { db, clock } = context;
  const named = parseLtxToken(token);
  const stored = findStored(context, named);
  const proven = provesUnderAny(
    context.keys,
    named === undefined ? '' : token,
    audienceOf(context.homeId),
    stored?.mac ?? noMac,
  );
  const principal = findPrincipal(db, stored?.principalId ?? '');
  if (stored === undefined || principal === undefined || !proven || stored.endedMs <= clock.nowMs()) return undefined;
  if (!principal.enabled || principal.profile === 'owner') return undefined;
  const credential = { kind: 'ltx', id: named?.id ?? noId, key: stored.key } as const;
  return { principal, scopes: scopesOfCredential(principal.profile, credential), credential, door };
}

/** True when that is a key of this home, whole, that was revoked: its holder may know. */
export function wasRevoked(context: CharonContext, token: string): boolean {
  const named = parseLtxToken(token);
  if (named === undefined || named.use === 'session' || named.use === 'poll') return false;
  const stored = findStoredKey(context.db, named.id);
  const proven = provesUnderAny(context.keys, token, audienceOf(context.homeId), stored?.token_mac ?? noMac);
  return proven && stored !== undefined && stored.revoked_at !== null;
}

interface Stored {
  readonly principalId: PrincipalId;
  readonly key: LtxKeyKind | 'session';
  readonly mac: string;
  /** From when on it is refused: 0 for what is refused already. */
  readonly endedMs: number;
}

function findStored(context: CharonContext, named: ReturnType<typeof parseLtxToken>): Stored | undefined {
  const { db } = context;
  if (named?.use === 'session') {
    const session = findSession(db, named.id);
    if (session === undefined) return undefined;
    const passport = findPassport(db, session.principal_id);
    const endedMs = passport?.revoked_at === null ? session.expires_ms : 0;
    return { principalId: session.principal_id, key: 'session', mac: session.token_mac, endedMs };
  }
  const key = findStoredKey(db, named?.id ?? noId);
  if (key === undefined || named?.use !== tokenUseOf(key.kind)) return undefined;
  const isGood = key.revoked_at === null && key.needs_reapproval !== true;
  const endedMs = isGood ? Number.POSITIVE_INFINITY : 0;
  return { principalId: key.principal_id, key: key.kind, mac: key.token_mac, endedMs };
}
