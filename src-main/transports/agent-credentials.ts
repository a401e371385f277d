import type { FastifyRequest } from 'fastify';
import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Caller, Charon } from '../charon/api.ts';
import { type Rate, type TokenBucket, tokenBucket } from './token-bucket.ts';

/** What the agent door asks of the policy engine. */
export type CredentialJudge = Pick<Charon, 'authenticate'> & { readonly audit: Pick<Charon['audit'], 'note'> };

export interface CredentialLimits {
  readonly failed: Rate;
  readonly perPrincipal: Rate;
}

/** From a request to the one who sends it. */
export interface AgentCredentials {
  /**
   * The caller with the rights of this moment. Throws UNAUTHENTICATED, one text for every reason (T10), and
   * RATE_LIMITED when failures come too fast (T11) or this principal does (T12).
   */
  authenticate(request: FastifyRequest): Caller;
  /** Takes `count` more from the principal's rate, for a request that holds several calls. Throws RATE_LIMITED. */
  charge(caller: Caller, count: number): void;
}

/** Three parts with dots: a JWT. No other token of ours has a dot. */
const accessPattern = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/=-]{1,512})$/i;

/** Bearer → principal. A good credential is looked at first, so that a flood of bad ones locks nobody out. */
export function agentCredentials(options: {
  readonly charon: CredentialJudge;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: CredentialLimits;
  /** Whose an access token is that came by signing in; left out, nobody signs in at this door. */
  readonly accessCaller?: ((token: string) => Caller | undefined) | undefined;
}): AgentCredentials {
  const { charon, clock, ids, limits } = options;
  const failures = tokenBucket(limits.failed, clock);
  const buckets = new Map<PrincipalId, TokenBucket>();

  function charge(caller: Caller, count: number): void {
    const id = caller.principal.principal_id;
    const bucket = buckets.get(id) ?? tokenBucket(limits.perPrincipal, clock);
    buckets.set(id, bucket);
    const waitMs = bucket.take(count);
    if (waitMs > 0) throw rateLimited('This principal calls faster than its limit.', waitMs);
  }

  /** What signing in gives is for `/mcp` alone: that is the resource that it names. */
  function callerOf(token: string, request: FastifyRequest): Caller | undefined {
    if (token === '') return undefined;
    if (!accessPattern.test(token)) return charon.authenticate(token, 'agent');
    return request.routeOptions.url === '/mcp' ? options.accessCaller?.(token) : undefined;
  }

  return {
    charge,
    authenticate(request) {
      const token = bearerOf(request);
      const caller = callerOf(token, request);
      if (caller === undefined) {
        const waitMs = failures.take(1);
        if (waitMs > 0) throw rateLimited('Too many requests with credentials that are not good.', waitMs);
        charon.audit.note(failedSubject(token, ids.uuidv7()), 'denied UNAUTHENTICATED');
        throw new Fault(
          'UNAUTHENTICATED',
          'A valid token is needed: Authorization: Bearer obol_… The owner mints one at the desk.',
        );
      }
      charge(caller, 1);
      return caller;
    },
  };
}

/** The bearer of a request as it came, or '' when there is none. */
export function bearerOf(request: FastifyRequest): string {
  return bearerPattern.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** RATE_LIMITED with the wait in data, which becomes `Retry-After`. */
export function rateLimited(reason: string, retryAfterMs: number): Fault {
  return new Fault('RATE_LIMITED', `${reason} Wait, then try again.`, { retry_after_ms: retryAfterMs });
}

/** Of an obol its id, of a key of the memory ledger `ltx_…` up to its id. */
function publicHalf(token: string): string {
  const [, kind, id = ''] = /^(obol_|ltx_(?:sub_|session_|poll_)?)([0-9a-f]{16})_/.exec(token) ?? [];
  return kind === undefined || kind === 'obol_' ? id : `${kind}${id}`;
}

/** Of a token only its public half is noted, and only when it has the shape of one. */
function failedSubject(token: string, correlationId: string): Parameters<Charon['audit']['note']>[0] {
  return {
    principal: '',
    credentialKind: 'none',
    credentialId: publicHalf(token),
    door: 'agent',
    command: 'authenticate',
    project: '',
    objectIds: [],
    requestDigest: '',
    correlationId,
  };
}
