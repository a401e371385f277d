import {
  callsAtOnceMax,
  callsPerSecondMax,
  concurrentRequestsMax,
  failedPerSecondMax,
  streamsMax,
} from '../../src-preload/contract/limits.ts';
import type { Clock } from '../base/clock.ts';
import { type Ids, systemIds } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Oauth } from '../charon/oauth-api.ts';
import type { Commands } from '../commands/api.ts';
import type { LedgerGate } from '../commands/ledger-gate.ts';
import type { Limits } from '../home/limits.ts';
import { agentCredentials, type CredentialJudge, type CredentialLimits } from './agent-credentials.ts';
import { createPlaces } from './agent-places.ts';
import {
  closeDoor,
  createDoorServer,
  type DoorTimes,
  doorTimesDefault,
  guardedPart,
  notFound,
  sendFault,
} from './door-server.ts';
import { addLedgerDoor, ledgerMount } from './ledger-http/door.ts';
import { isLedgerUrl } from './ledger-http/path.ts';
import { ledgerRefusalOf } from './ledger-http/refusal.ts';
import { listenOnLoopback, proveSelf } from './listen.ts';
import { openMcp } from './mcp.ts';
import { createMcpRoute } from './mcp-route.ts';
import { addOauthDoor, oauthTokenPath, resourceOf } from './oauth.ts';
import type { Liveness } from './port-holder.ts';
import { addressesOf, type BodyType, decideGuard, type OwnAddresses } from './request-guard.ts';
import type { Rate } from './token-bucket.ts';

/** Every limit of the agent door (`charon.md` §3). Counts; times in milliseconds. */
export interface AgentDoorLimits extends DoorTimes, CredentialLimits {
  readonly concurrentMax: number;
  readonly streamsMax: number;
  /** How long an answer may take to begin, and a part of it may lie untaken. */
  readonly answerTimeoutMs: number;
  readonly stallTimeoutMs: number;
  /** Requests to the memory ledger that bring no credential, all together. */
  readonly strangers: Rate;
}

export const agentDoorLimitsDefault: AgentDoorLimits = {
  ...doorTimesDefault,
  failed: { perSecond: failedPerSecondMax, burst: failedPerSecondMax },
  perPrincipal: { perSecond: callsPerSecondMax, burst: callsAtOnceMax },
  concurrentMax: concurrentRequestsMax,
  streamsMax,
  answerTimeoutMs: 120_000,
  stallTimeoutMs: 30_000,
  strangers: { perSecond: 20, burst: 40 },
};

/** The limits that the settings of a home give to this door. */
export function agentLimitsOf(limits: Limits): Partial<AgentDoorLimits> {
  return {
    failed: { perSecond: limits.failed_per_second, burst: limits.failed_per_second },
    perPrincipal: { perSecond: limits.calls_per_second, burst: limits.calls_at_once },
    concurrentMax: limits.concurrent_requests,
    streamsMax: limits.streams,
  };
}

/** Whether the engine can work, and what stops it, in words that may be shown to anyone on this machine. */
export interface Readiness {
  readonly ok: boolean;
  readonly problems: readonly string[];
}

export interface AgentDoorOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly commands: Commands;
  readonly charon: CredentialJudge;
  /** What the memory ledger is asked without a credential; left out, the door has no `/v1`. */
  readonly ledger?: LedgerGate | undefined;
  /** Signing in with OAuth; left out, this door has none. */
  readonly oauth?: Oauth | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly ready: () => Promise<Readiness>;
  readonly limits?: Partial<AgentDoorLimits> | undefined;
  readonly ids?: Ids | undefined;
}

export interface AgentDoor {
  readonly url: string;
  readonly mcpUrl: string;
  /** The origin below which `/v1` is; null when this door has none. */
  readonly ledgerUrl: string | null;
  readonly port: number;
  /** What `/livez` of this very door answers with. */
  readonly nonce: string;
  close(): Promise<void>;
}

const ownNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Opens the loopback door for agents: `/mcp`, the memory ledger under `/v1`, `/livez`, `/readyz`, `/health`, nothing else (`charon.md` §3).
 * Throws PORT_TAKEN.
 */
export async function openAgentDoor(options: AgentDoorOptions): Promise<AgentDoor> {
  const { commands, charon, clock, log, version } = options;
  const limits = { ...agentDoorLimitsDefault, ...options.limits };
  const ids = options.ids ?? systemIds();
  const nonce = ids.randomBytes(16).toString('hex');
  const { oauth } = options;
  let origin = '';
  const accessCaller = oauth && ((token: string) => oauth.authenticate(token, resourceOf(origin), 'agent'));
  const credentials = agentCredentials({ charon, clock, ids, limits, accessCaller });
  const mcp = openMcp({ commands, version, ids, log, streamsMax: limits.streamsMax });
  let ours: OwnAddresses = addressesOf([], 0);

  const part = options.ledger && { has: isLedgerUrl, mount: ledgerMount, refusalOf: ledgerRefusalOf };
  const server = createDoorServer({
    times: limits,
    log,
    guard: (request) => decideGuard(guardedPart(request), ours, false, bodyTypeAt(request.originalUrl, options.oauth)),
    part,
  });
  const liveness: Liveness = { product: 'memory-git', live: true, nonce, version };
  server.get('/livez', async () => liveness);
  const askReady = onceAtATime(options.ready);
  server.get('/readyz', async (_request, reply) => {
    const { ok, problems } = await askReady();
    return reply.code(ok ? 200 : 503).send({ ready: ok, problems });
  });
  server.get('/health', async (_request, reply) => {
    const { ok, problems } = await askReady();
    return reply.code(ok ? 200 : 503).send({ product: 'memory-git', version, live: true, ready: ok, problems });
  });
  // Clients with a static token must not start a sign-in: the answer is a hard 404 (`charon.md` §2).
  server.get('/.well-known/*', async (_request, reply) => {
    sendFault(reply, notFound());
    return reply;
  });
  const { answerTimeoutMs, stallTimeoutMs } = limits;
  const requests = createPlaces({
    max: limits.concurrentMax,
    refusal: 'Too many requests are being served at once.',
    answerTimeoutMs,
    stallTimeoutMs,
    refuse: (reply, fault) =>
      sendFault(reply, fault, part?.has(reply.request.originalUrl) === true ? part.refusalOf : undefined),
  });
  if (oauth !== undefined) addOauthDoor(server, { oauth, origin: () => origin, clock, rate: limits.strangers });
  const challenge = (): string =>
    oauth?.enabled() === true ? `, resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` : '';
  const mcpRoute = createMcpRoute({ credentials, mcp, requests, limits, challenge, url: 'http://127.0.0.1/mcp' });
  server.addHook('preClose', async () => mcpRoute.endStreams());
  server.route({ method: ['GET', 'POST', 'DELETE'], url: '/mcp', onRequest: mcpRoute.admit, handler: mcpRoute.serve });

  const { ledger: gate } = options;
  if (gate !== undefined) {
    const { strangers } = limits;
    addLedgerDoor(server, { commands, gate, judge: charon, credentials, requests, strangers, clock, ids, version });
  }

  const port = await listenOnLoopback(server, options.port);
  ours = addressesOf(ownNames, port);
  const url = `http://127.0.0.1:${port}`;
  origin = url;
  const mcpUrl = `${url}/mcp`;
  const close = async (): Promise<void> => {
    await closeDoor(server);
    await mcp.close();
  };
  try {
    await proveSelf(port, nonce);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, mcpUrl, ledgerUrl: gate === undefined ? null : url, port, nonce, close };
}

/** While nobody can sign in, its one path that takes a form is unknown like all others. */
function bodyTypeAt(url: string, oauth: Oauth | undefined): BodyType {
  const isForm = url.split('?', 1)[0] === oauthTokenPath && oauth?.enabled() === true;
  return isForm ? 'application/x-www-form-urlencoded' : 'application/json';
}

/** Questions that come while one is being answered share its answer; a question that fails is an unready engine. */
function onceAtATime(ask: () => Promise<Readiness>): () => Promise<Readiness> {
  let asking: Promise<Readiness> | undefined;
  return () => {
    asking ??= ask()
      .catch(() => ({ ok: false, problems: ['the engine could not be asked'] }))
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}
