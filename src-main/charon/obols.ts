import type { Door } from '../../src-preload/contract/audit.ts';
import { type ObolId, obolIdSchema, type PrincipalId, type Timestamp } from '../../src-preload/contract/ids.ts';
import type { Obol } from '../../src-preload/contract/principal.ts';
import { fromTimestamp, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { Caller } from './api.ts';
import { type CharonContext, write } from './context.ts';
import { getPrincipal } from './principals.ts';
import { scopesOf } from './rules/profiles.ts';
import {
  audienceOf,
  decideExpiry,
  formatToken,
  obolIdBytes,
  obolSecretBytes,
  parseToken,
  tokenMac,
} from './rules/token.ts';
import {
  findObol,
  findStoredObol,
  insertObol,
  type StoredObol,
  updateObolEpoch,
  updateRevoked,
} from './tables/obols.ts';
import { findPrincipal } from './tables/principals.ts';
import { provesUnderAny } from './token-keys.ts';

/** Stands in for the row of a token that nobody has, so that refusing it costs the same. */
const noObol = obolIdSchema.parse('0'.repeat(obolIdBytes * 2));
const noMac = '0'.repeat(64);
const useIntervalMs = 60_000;
const useTextCharactersMax = 128;

/**
 * Mints a bearer token, whose text is in this answer and nowhere else (`charon.md` §2). `expiresMs` null never expires.
 * Throws `PRINCIPAL_NOT_FOUND`, `PRINCIPAL_DISABLED`, `OWNER_ONLY` (no bearer carries the owner), `INPUT_INVALID`.
 */
export function mintObol(
  context: CharonContext,
  input: { readonly principalId: PrincipalId; readonly expiresMs: number | null },
): Promise<{ readonly obol: Obol; readonly token: string }> {
  return write(context, (db, emit) => {
    const principal = getPrincipal(db, input.principalId);
    if (principal.profile === 'owner')
      throw new Fault('OWNER_ONLY', 'No token can carry the owner, who enters at the desk. Mint one for an agent.');
    if (!principal.enabled)
      throw new Fault('PRINCIPAL_DISABLED', 'This principal is disabled. Enable it, then mint the token.');
    const nowMs = context.clock.nowMs();
    const expiresMs = decideExpiry(nowMs, input.expiresMs);
    const obolId = obolIdSchema.parse(context.ids.randomBytes(obolIdBytes).toString('hex'));
    const token = formatToken(obolId, context.ids.randomBytes(obolSecretBytes));
    const audience = audienceOf(context.homeId);
    const obol: Obol = {
      obol_id: obolId,
      principal_id: principal.principal_id,
      audience,
      created_at: toTimestamp(nowMs),
      expires_at: expiresMs === null ? null : toTimestamp(expiresMs),
      revoked_at: null,
      last_used_at: null,
      last_client: null,
      last_tool: null,
    };
    insertObol(db, obol, tokenMac(context.keys.obol, token, audience));
    emit({ kind: 'principal_changed', principal_id: principal.principal_id });
    return { obol, token };
  });
}

/** Refused from the next call on, for good; revoking again answers the same. Throws `OBOL_NOT_FOUND`. */
export function revokeObol(context: CharonContext, obolId: ObolId): Promise<Obol> {
  return write(context, (db, emit) => {
    updateRevoked(db, getObol(db, obolId).obol_id, toTimestamp(context.clock.nowMs()));
    const obol = getObol(db, obolId);
    emit({ kind: 'principal_changed', principal_id: obol.principal_id });
    return obol;
  });
}

/** Lets in again a token that was minted before a restore (`charon.md` §7). Throws `OBOL_NOT_FOUND`, `OBOL_REVOKED`. */
export function reapproveObol(context: CharonContext, obolId: ObolId): Promise<Obol> {
  return write(context, (db, emit) => {
    if (getObol(db, obolId).revoked_at !== null)
      throw new Fault('OBOL_REVOKED', 'This token was revoked, and that stands. Mint another.', { field: 'obol_id' });
    updateObolEpoch(db, obolId);
    const obol = getObol(db, obolId);
    emit({ kind: 'principal_changed', principal_id: obol.principal_id });
    return obol;
  });
}

/**
 * The caller that a token stands for, with the rights of this moment. One answer for unknown, malformed, expired,
 * revoked and foreign tokens and for a disabled principal, after the same work (`charon.md` §2, §3).
 */
export function authenticate(context: CharonContext, token: string, door: Door): Caller | undefined {
  const { db, keys, clock } = context;
  const named = parseToken(token);
  const audience = audienceOf(context.homeId);
  const stored = findStoredObol(db, named ?? noObol);
  const proven = provesUnderAny(keys, named === undefined ? '' : token, audience, stored?.token_mac ?? noMac);
  const principal = findPrincipal(db, stored?.principal_id ?? '');
  if (stored === undefined || principal === undefined || !proven) return undefined;
  if (!isLive(stored, clock.nowMs())) return undefined;
  if (!principal.enabled || principal.profile === 'owner') return undefined;
  return { principal, scopes: scopesOf(principal.profile), credential: { kind: 'obol', id: stored.obol_id }, door };
}

/**
 * Keeps when, by which client and for which tool a token was last used, at most once a minute; never throws. `update` writes
 * it for the kind of token that the keeper is for.
 */
export function createUseKeeper<Id extends string>(
  context: CharonContext,
  update: (
    db: WritableDb,
    id: Id,
    use: { readonly at: Timestamp; readonly client: string; readonly tool: string },
  ) => void,
): (id: Id, use: { readonly client: string; readonly tool: string }) => void {
  const keptMs = new Map<Id, number>();
  return (id, use) => {
    const nowMs = context.clock.nowMs();
    const before = keptMs.get(id);
    if (context.readOnly || (before !== undefined && nowMs - before < useIntervalMs)) return;
    keptMs.set(id, nowMs);
    const kept = { at: toTimestamp(nowMs), client: shown(use.client), tool: shown(use.tool) };
    write(context, (db) => update(db, id, kept)).catch((thrown: unknown) => {
      keptMs.delete(id);
      context.log.warn({ err: thrown, token: id }, 'the last use of a token could not be kept');
    });
  };
}

function isLive(stored: StoredObol, nowMs: number): boolean {
  if (stored.revoked_at !== null || stored.needs_reapproval === true) return false;
  return stored.expires_at === null || nowMs < fromTimestamp(stored.expires_at);
}

function getObol(db: ReadableDb, obolId: ObolId): Obol {
  const found = findObol(db, obolId);
  if (found !== undefined) return found;
  throw new Fault('OBOL_NOT_FOUND', 'obol_id names no token. `obol ls` shows them all.', { field: 'obol_id' });
}

/** A client names itself: printable, and not too long. */
function shown(text: string): string {
  return text.replaceAll(/\p{C}/gu, '').slice(0, useTextCharactersMax).toWellFormed();
}
