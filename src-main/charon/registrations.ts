import { type PrincipalId, principalIdSchema } from '../../src-preload/contract/ids.ts';
import {
  type RegisterRequest,
  type Registration,
  type RegistrationId,
  registrationIdSchema,
} from '../../src-preload/contract/ltx.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { type CharonContext, write } from './context.ts';
import type { Ltx, Polled, Registered } from './ltx-api.ts';
import { makeKey, makeToken } from './ltx-keys.ts';
import { makePrincipal } from './principals.ts';
import { formatListCursor, parseListCursor } from './rules/list-cursor.ts';
import { parseLtxToken, registrationLifeMs } from './rules/ltx-token.ts';
import { didOf, readPublicKey } from './rules/passport-key.ts';
import { audienceOf } from './rules/token.ts';
import { openRegistration } from './settings.ts';
import { insertPassport } from './tables/passports.ts';
import { findPrincipalByName } from './tables/principals.ts';
import {
  claimRegistration,
  decideRegistration,
  findLatestOf,
  findRegistrationOf,
  findStoredRegistration,
  insertRegistration,
  listRegistrations,
  listWaiting,
  type StoredRegistration,
} from './tables/registrations.ts';
import { provesUnderAny } from './token-keys.ts';

/** After so long the one that is over the quota may ask again. Milliseconds. */
const quotaWaitMs = 3_600_000;
const cursorList = 'registrations';
const noMac = '0'.repeat(64);

/**
 * Asks to be let in: waits for the owner, or is let in at once where that is on (`ledger.md` §1). Throws
 * `AGENT_ALREADY_EXISTS` for a name and owner that are let in or wait already, `QUOTA`, `INPUT_INVALID`.
 */
export function register(context: CharonContext, request: RegisterRequest): Promise<Registered> {
  const publicKey = request.passport_public_key === undefined ? null : readPublicKey(request.passport_public_key);
  return write(context, (db, emit) => {
    const nowMs = context.clock.nowMs();
    requireNewAgent(db, request, nowMs);
    const { pendingRegistrations: max } = context.quotas;
    const open = openRegistration(context);
    if (!open && listWaiting(db, nowMs).length >= max) {
      throw new Fault('QUOTA', `${max} registrations wait for the owner already. Try again later.`, {
        quota: 'pending_registrations',
        max,
        retry_after_ms: quotaWaitMs,
      });
    }
    const registrationId = registrationIdSchema.parse(context.ids.uuidv7());
    const poll = makeToken(context, 'poll');
    insertRegistration(db, {
      registrationId,
      agentName: request.agent_name,
      owner: request.owner_identifier,
      publicKey,
      pollMac: poll.mac,
      createdAt: toTimestamp(nowMs),
      expiresMs: nowMs + registrationLifeMs,
    });
    emit({ kind: 'registration_changed', registration_id: registrationId });
    if (!open) {
      return { kind: 'pending', registration: getShown(context, db, registrationId), pollToken: poll.token };
    }
    const agent = letIn(context, db, getStored(db, registrationId));
    claimRegistration(db, registrationId);
    emit({ kind: 'principal_changed', principal_id: agent });
    const { token } = makeKey(context, db, agent, 'root');
    return { kind: 'registered', registration: getShown(context, db, registrationId), agent, token };
  });
}

/** What became of a registration, without changing it. Throws `UNAUTHENTICATED` for a token that is not that one's. */
export function lookAtRegistration(
  context: CharonContext,
  registrationId: string,
  pollToken: string,
): ReturnType<Ltx['lookAtRegistration']> {
  const stored = proveRegistration(context, context.db, registrationId, pollToken);
  if (isOver(stored, context.clock.nowMs())) return { kind: 'expired' };
  if (stored.status === 'pending' || stored.status === 'refused') return { kind: stored.status };
  return { kind: 'decided' };
}

/** Mints the root key of one that was approved: the first who asks gets it, once. Throws as `lookAtRegistration`. */
export function claim(context: CharonContext, registrationId: string, pollToken: string): Promise<Polled> {
  return write(context, (db, emit): Polled => {
    const looked = lookAtRegistration(context, registrationId, pollToken);
    if (looked.kind !== 'decided') return looked;
    const { principal_id: agent, owner_identifier: owner, ...stored } = getStored(db, registrationId);
    assert(agent !== null, 'an approved registration has made its principal');
    if (!claimRegistration(db, stored.registration_id)) return { kind: 'registered', agent, owner, token: null };
    const { token } = makeKey(context, db, agent, 'root');
    emit({ kind: 'registration_changed', registration_id: stored.registration_id });
    emit({ kind: 'principal_changed', principal_id: agent });
    return { kind: 'registered', agent, owner, token };
  });
}

/**
 * Makes the agent: its principal, without a grant, and its passport (`ledger.md` §1). Throws `REGISTRATION_NOT_FOUND`,
 * `REGISTRATION_STATE` for one that was decided or whose time is over.
 */
export function approveRegistration(context: CharonContext, registrationId: RegistrationId): Promise<Registration> {
  return write(context, (db, emit) => {
    const agent = letIn(context, db, requireWaiting(context, db, registrationId));
    emit({ kind: 'registration_changed', registration_id: registrationId });
    emit({ kind: 'principal_changed', principal_id: agent });
    return getShown(context, db, registrationId);
  });
}

/** Refuses it for good; the agent may ask anew. Throws as `approveRegistration`. */
export function refuseRegistration(context: CharonContext, registrationId: RegistrationId): Promise<Registration> {
  return write(context, (db, emit) => {
    requireWaiting(context, db, registrationId);
    decideRegistration(db, registrationId, null, toTimestamp(context.clock.nowMs()));
    emit({ kind: 'registration_changed', registration_id: registrationId });
    return getShown(context, db, registrationId);
  });
}

/** Newest first, in pages; `waiting` those that wait for a decision, which are few. Throws `CURSOR_INVALID`. */
export function pageOfRegistrations(
  context: CharonContext,
  page: Parameters<Ltx['listRegistrations']>[0],
): ReturnType<Ltx['listRegistrations']> {
  const shown = (stored: StoredRegistration): Registration => toRegistration(stored, context.clock.nowMs());
  if (page.waiting) return { registrations: listWaiting(context.db, context.clock.nowMs()).map(shown) };
  const before = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : parseListCursor(page.cursor, cursorList, null);
  const rows = listRegistrations(context.db, before, page.limit + 1);
  const last = rows[page.limit - 1];
  const registrations = rows.slice(0, page.limit).map(shown);
  if (rows.length <= page.limit || last === undefined) return { registrations };
  return { registrations, nextCursor: formatListCursor({ project: cursorList, status: null, before: last.seq }) };
}

/** The registration that made a principal. */
export function registrationOf(context: CharonContext, principalId: PrincipalId): Registration | undefined {
  const stored = findRegistrationOf(context.db, principalId);
  return stored && toRegistration(stored, context.clock.nowMs());
}

function requireNewAgent(db: ReadableDb, request: RegisterRequest, nowMs: number): void {
  const known = findLatestOf(db, request.agent_name, request.owner_identifier);
  if (known === undefined || (known.status === 'pending' && isOver(known, nowMs))) return;
  const message =
    known.status === 'pending'
      ? 'An agent of this name and owner waits for the owner’s decision already. Ask for it with its registration_id and poll_token.'
      : 'An agent of this name and owner is registered. Use its key, ask the owner for another one, or choose another agent_name.';
  throw new Fault('AGENT_ALREADY_EXISTS', message, { status: known.status });
}

/** The agent of a registration that waits, in the caller's transaction. */
function letIn(context: CharonContext, db: WritableDb, stored: StoredRegistration): PrincipalId {
  const at = toTimestamp(context.clock.nowMs());
  const principal = makePrincipal(db, context.ids, {
    name: freeName(db, stored.agent_name, stored.registration_id),
    profile: 'propose',
    actorId: undefined,
    createdAt: at,
  });
  if (stored.public_key !== null) insertPassport(db, principal.principal_id, stored.public_key, at);
  decideRegistration(db, stored.registration_id, principal.principal_id, at);
  return principal.principal_id;
}

/**
 * The agent's own name, or the first of `name-2` to `name-9` that nobody has, else one with the end of the registration's
 * id: names of principals are unique, and finding one costs the same however many have it.
 */
function freeName(db: ReadableDb, wanted: string, registrationId: RegistrationId): string {
  const numbered = [2, 3, 4, 5, 6, 7, 8, 9].map((count) => `${wanted}-${count}`);
  const free = [wanted, ...numbered].find((name) => findPrincipalByName(db, name) === undefined);
  return free ?? `${wanted}-${registrationId.slice(-12)}`;
}

function proveRegistration(
  context: CharonContext,
  db: ReadableDb,
  registrationId: string,
  pollToken: string,
): StoredRegistration {
  const stored = findStoredRegistration(db, registrationId);
  const isPoll = parseLtxToken(pollToken)?.use === 'poll';
  const proven = provesUnderAny(
    context.keys,
    isPoll ? pollToken : '',
    audienceOf(context.homeId),
    stored?.poll_mac ?? noMac,
  );
  if (stored !== undefined && proven) return stored;
  throw new Fault(
    'UNAUTHENTICATED',
    'The poll_token of this registration is needed: Authorization: Bearer ltx_poll_… It was in the answer to POST /v1/register.',
  );
}

function requireWaiting(context: CharonContext, db: ReadableDb, registrationId: RegistrationId): StoredRegistration {
  const stored = getStored(db, registrationId);
  const { status } = toRegistration(stored, context.clock.nowMs());
  if (status === 'pending') return stored;
  throw new Fault('REGISTRATION_STATE', `This registration is ${status}. Look at the list as it is now.`, { status });
}

function getStored(db: ReadableDb, registrationId: string): StoredRegistration {
  const stored = findStoredRegistration(db, registrationId);
  if (stored !== undefined) return stored;
  throw new Fault(
    'REGISTRATION_NOT_FOUND',
    'registration_id names no registration. `registration ls` shows them all.',
    {
      field: 'registration_id',
    },
  );
}

function getShown(context: CharonContext, db: ReadableDb, registrationId: RegistrationId): Registration {
  return toRegistration(getStored(db, registrationId), context.clock.nowMs());
}

/** Whether its time is over, or it is of before a restore: then the agent asks anew. */
function isOver(stored: StoredRegistration, nowMs: number): boolean {
  return stored.is_of_before === 1 || stored.expires_ms <= nowMs;
}

/** As it may be shown: one that nobody decided or fetched in time is expired. */
function toRegistration(stored: StoredRegistration, nowMs: number): Registration {
  const open = stored.status === 'pending' || stored.status === 'approved';
  return {
    registration_id: stored.registration_id,
    agent_name: stored.agent_name,
    owner_identifier: stored.owner_identifier,
    did: stored.public_key === null ? null : didOf(stored.public_key),
    status: open && isOver(stored, nowMs) ? 'expired' : stored.status,
    created_at: stored.created_at,
    expires_at: toTimestamp(stored.expires_ms),
    decided_at: stored.decided_at,
    principal_id: stored.principal_id === null ? null : principalIdSchema.parse(stored.principal_id),
  };
}
