import type { Door } from '../../src-preload/contract/audit.ts';
import { type Digest, digestSchema, type PrincipalId } from '../../src-preload/contract/ids.ts';
import {
  type OauthGrant,
  type OauthGrantId,
  type OauthRequest,
  type OauthRequestId,
  oauthGrantIdSchema,
  oauthRequestIdSchema,
} from '../../src-preload/contract/oauth.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { systemRecord } from './audit.ts';
import { type CharonContext, write } from './context.ts';
import type { Oauth, OauthAsked, OauthExchange, OauthLooked } from './oauth-api.ts';
import { getPrincipal } from './principals.ts';
import type { ProvenCaller } from './rules/caller.ts';
import {
  formatAccessToken,
  formatClientId,
  oauthAccessLifeMs,
  oauthCodeLifeMs,
  oauthRequestLifeMs,
  parseAccessToken,
  parseClientId,
  provesChallenge,
  readClient,
} from './rules/oauth.ts';
import { scopesOfCredential } from './rules/rights.ts';
import { audienceOf, provesToken, tokenMac } from './rules/token.ts';
import { oauthEnabled, setOauthEnabled } from './settings.ts';
import {
  decideOauthRequest,
  deleteOauthRequests,
  findOauthGrant,
  findOauthRequest,
  handOutCode,
  insertOauthGrant,
  insertOauthRequest,
  listOauthGrants,
  listPendingOauth,
  revokeOauthGrant,
  type StoredOauthGrant,
  type StoredOauthRequest,
  spendCode,
} from './tables/oauth.ts';
import { findPrincipal } from './tables/principals.ts';
import { listWaiting } from './tables/registrations.ts';

const idBytes = 8;
const secretBytes = 32;
const noMac = '0'.repeat(64);

/** The verbs of signing in, on an open policy engine. */
export function oauthVerbs(context: CharonContext): Oauth {
  const { db, clock, keys } = context;
  return {
    enabled: () => oauthEnabled(context),
    setEnabled: (on) => setOauthEnabled(context, on),
    registerClient: (wanted) => {
      const client = readClient(wanted);
      return client && { clientId: formatClientId(keys.oauth, client), client };
    },
    findClient: (clientId) => parseClientId(keys.oauth, clientId),
    begin: (asked) => begin(context, asked),
    look: (waitToken) => look(context, waitToken),
    exchange: (exchanged) => exchange(context, exchanged),
    authenticate: (token, resource, door) => authenticate(context, token, resource, door),
    listPending: () => listPendingOauth(db, clock.nowMs()).map(shownRequest),
    approve: (requestId, principalId) => decide(context, requestId, principalId),
    refuse: (requestId) => decide(context, requestId, null),
    listGrants: () => listOauthGrants(db, clock.nowMs()).map(shownGrant),
    revoke: (grantId) => revoke(context, grantId),
  };
}

async function begin(context: CharonContext, asked: OauthAsked): Promise<string> {
  const { clock, ids, keys, quotas } = context;
  const client = parseClientId(keys.oauth, asked.clientId);
  if (client?.redirects.includes(asked.redirectUri) !== true) {
    throw new Fault('INPUT_INVALID', 'client_id and redirect_uri are not those of a program that was registered here.');
  }
  return write(context, (db, emit) => {
    const nowMs = clock.nowMs();
    const max = quotas.pendingRegistrations;
    if (listPendingOauth(db, nowMs).length + listWaiting(db, nowMs).length >= max) {
      throw new Fault('QUOTA', `${max} requests wait for the owner already. Try again later.`, {
        quota: 'pending_registrations',
        max,
        retry_after_ms: oauthRequestLifeMs,
      });
    }
    deleteOauthRequests(db, nowMs);
    const requestId = oauthRequestIdSchema.parse(ids.randomBytes(idBytes).toString('hex'));
    const wait = makeSecret(context, requestId);
    insertOauthRequest(db, {
      request_id: requestId,
      wait_mac: wait.mac,
      client_id: asked.clientId,
      client_name: client.name,
      redirect_uri: asked.redirectUri,
      state: asked.state,
      challenge: asked.challenge,
      resource: asked.resource,
      match_code: String(ids.randomBytes(4).readUInt32BE(0) % 1_000_000).padStart(6, '0'),
      created_at: toTimestamp(nowMs),
      expires_ms: nowMs + oauthRequestLifeMs,
    });
    record(context, db, 'oauth.asked', [requestId]);
    emit({ kind: 'oauth_changed' });
    return wait.secret;
  });
}

/** The code is made when the page fetches it, so that nothing that opens anything waits in the file. */
async function look(context: CharonContext, waitToken: string): Promise<OauthLooked | undefined> {
  const nowMs = context.clock.nowMs();
  const request = findBySecret(context, context.db, waitToken, 'wait_mac');
  if (request === undefined) return undefined;
  const { request_id: requestId, redirect_uri: redirectUri, state, client_name: clientName } = request;
  if (request.expires_ms <= nowMs) return { kind: 'over' };
  if (request.status === 'pending') return { kind: 'waiting', clientName, matchCode: request.match_code };
  if (request.status === 'refused') return { kind: 'refused', redirectUri, state };
  const { secret: code, mac } = makeSecret(context, requestId);
  const handed = await write(context, (db) => handOutCode(db, requestId, mac, nowMs + oauthCodeLifeMs));
  return handed ? { kind: 'approved', redirectUri, state, code } : { kind: 'over' };
}

function exchange(context: CharonContext, exchanged: OauthExchange): ReturnType<Oauth['exchange']> {
  return write(context, (db, emit) => {
    const nowMs = context.clock.nowMs();
    const request = findBySecret(context, db, exchanged.code, 'code_mac');
    if (request === undefined) return undefined;
    if (request.status === 'used' && request.grant_id !== null) {
      revokeOauthGrant(db, request.grant_id, toTimestamp(nowMs));
      record(context, db, 'oauth.code_shown_again', [request.request_id, `oauth_${request.grant_id}`]);
      emit({ kind: 'oauth_changed' });
    }
    if (request.status !== 'handed') return undefined;
    const principal = findPrincipal(db, request.principal_id ?? '');
    const live = (request.code_expires_ms ?? 0) > nowMs && principal?.enabled === true && principal.profile !== 'owner';
    if (!live || !isOf(request, exchanged)) {
      spendCode(db, request.request_id, null);
      return undefined;
    }
    const grantId = oauthGrantIdSchema.parse(context.ids.randomBytes(idBytes).toString('hex'));
    const { resource, client_name } = request;
    const { principal_id: principalId } = principal;
    const grant = { grant_id: grantId, principal_id: principalId, client_name, resource };
    const expiresMs = nowMs + oauthAccessLifeMs;
    insertOauthGrant(db, { ...grant, created_at: toTimestamp(nowMs), expires_ms: expiresMs });
    spendCode(db, request.request_id, grantId);
    record(context, db, 'oauth.let_in', [request.request_id, principalId, `oauth_${grantId}`]);
    emit({ kind: 'oauth_changed' });
    const [iat, exp] = [Math.floor(nowMs / 1_000), Math.floor(expiresMs / 1_000)];
    const claims = { iss: exchanged.issuer, aud: resource, sub: principalId, jti: grantId, iat, exp };
    return {
      token: formatAccessToken(context.keys.oauth, claims),
      expiresInMs: oauthAccessLifeMs,
      scopes: scopesOfCredential(principal.profile, { kind: 'oauth', id: grantId }),
    };
  });
}

function isOf(request: StoredOauthRequest, exchanged: OauthExchange): boolean {
  return (
    request.client_id === exchanged.clientId &&
    request.redirect_uri === exchanged.redirectUri &&
    request.resource === exchanged.resource &&
    provesChallenge(exchanged.verifier, request.challenge)
  );
}

function authenticate(context: CharonContext, token: string, resource: string, door: Door): ProvenCaller | undefined {
  const { db, keys, clock } = context;
  const claims = parseAccessToken(keys.oauth, token);
  const grant = findOauthGrant(db, claims?.jti ?? '');
  const principal = findPrincipal(db, claims?.sub ?? '');
  if (claims === undefined || grant === undefined || principal === undefined || !oauthEnabled(context))
    return undefined;
  if (claims.aud !== resource || grant.resource !== resource || grant.principal_id !== claims.sub) return undefined;
  if (grant.revoked_at !== null || grant.is_of_before === 1 || grant.expires_ms <= clock.nowMs()) return undefined;
  if (!principal.enabled || principal.profile === 'owner') return undefined;
  const credential = { kind: 'oauth', id: grant.grant_id } as const;
  return { principal, scopes: scopesOfCredential(principal.profile, credential), credential, door };
}

function decide(
  context: CharonContext,
  requestId: OauthRequestId,
  principalId: PrincipalId | null,
): Promise<OauthRequest> {
  return write(context, (db, emit) => {
    const request = findOauthRequest(db, requestId);
    if (request === undefined || request.expires_ms <= context.clock.nowMs()) {
      throw new Fault('REGISTRATION_NOT_FOUND', 'request_id names no program that waits. `oauth ls` shows them.', {
        field: 'request_id',
      });
    }
    if (principalId !== null) requireAgent(db, principalId);
    if (!decideOauthRequest(db, requestId, principalId)) {
      throw new Fault('REGISTRATION_STATE', 'This program was answered already.', { field: 'request_id' });
    }
    emit({ kind: 'oauth_changed' });
    return shownRequest(request);
  });
}

function requireAgent(db: WritableDb, principalId: PrincipalId): void {
  const principal = getPrincipal(db, principalId);
  if (principal.profile === 'owner')
    throw new Fault('OWNER_ONLY', 'No program can sign in as the owner, who enters at the desk. Choose an agent.');
  if (!principal.enabled)
    throw new Fault('PRINCIPAL_DISABLED', 'This principal is disabled. Enable it, then let the program in.');
}

function revoke(context: CharonContext, grantId: OauthGrantId): Promise<OauthGrant> {
  return write(context, (db, emit) => {
    revokeOauthGrant(db, grantId, toTimestamp(context.clock.nowMs()));
    const grant = findOauthGrant(db, grantId);
    if (grant === undefined)
      throw new Fault('STATE_NOT_FOUND', 'grant_id names no access. `oauth ls` shows them.', { field: 'grant_id' });
    emit({ kind: 'oauth_changed' });
    return shownGrant(grant);
  });
}

/** No caller does these, so that the engine itself stands in the ledger: in the transaction of what was done. */
function record({ audit, clock }: CharonContext, db: WritableDb, command: string, objectIds: readonly string[]): void {
  audit.append(db, systemRecord(clock, command, 'done', objectIds));
}

/** `<request id>.<secret>`, and the MAC that is kept of it. */
function makeSecret({ ids, keys, homeId }: CharonContext, requestId: OauthRequestId): { secret: string; mac: Digest } {
  const secret = `${requestId}.${ids.randomBytes(secretBytes).toString('base64url')}`;
  return { secret, mac: digestSchema.parse(tokenMac(keys.oauth, secret, audienceOf(homeId))) };
}

/** The request that a secret belongs to, after the same work whether or not there is one. */
function findBySecret(
  { keys, homeId }: CharonContext,
  db: Parameters<typeof findOauthRequest>[0],
  secret: string,
  kept: 'wait_mac' | 'code_mac',
): StoredOauthRequest | undefined {
  const request = findOauthRequest(db, secret.slice(0, idBytes * 2));
  return provesToken(keys.oauth, secret, audienceOf(homeId), request?.[kept] ?? noMac) ? request : undefined;
}

function shownRequest(request: StoredOauthRequest): OauthRequest {
  const { request_id, client_name, match_code, created_at, expires_ms } = request;
  const returnsTo = new URL(request.redirect_uri).origin;
  return {
    request_id,
    client_name,
    returns_to: returnsTo,
    match_code,
    created_at,
    expires_at: toTimestamp(expires_ms),
  };
}

function shownGrant({ expires_ms: expiresMs, is_of_before: _over, ...grant }: StoredOauthGrant): OauthGrant {
  return { ...grant, expires_at: toTimestamp(expiresMs) };
}
