import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../base/fault.ts';
import type { Ids } from '../../base/ids.ts';
import type { Caller } from '../../charon/api.ts';
import { requireRootKey } from '../../charon/rules/rights.ts';
import type { Commands } from '../../commands/api.ts';
import { credentialOf } from '../../commands/audit-trail.ts';
import type { LedgerGate } from '../../commands/ledger-gate.ts';
import { type AgentCredentials, bearerOf, type CredentialJudge, rateLimited } from '../agent-credentials.ts';
import type { Places } from '../agent-places.ts';
import { type Rate, tokenBucket } from '../token-bucket.ts';
import { readLedgerBody } from './body.ts';
import { ledgerCapabilities } from './capabilities.ts';
import { type LedgerPlace, readLedgerUrl } from './path.ts';
import { commandRunner, type LedgerRoute, ledgerRoutes } from './routes.ts';

/** Most bytes of a body: escapes inflate a value, whose own limit decides (`ledger.md` §2). */
export const ledgerBodyBytesMax = 4 * 1_048_576;
/** Where requests of this door are routed to, whatever their URL says. */
export const ledgerMount = '/v1';

export interface LedgerDoorOptions {
  readonly commands: Commands;
  readonly gate: LedgerGate;
  readonly judge: CredentialJudge;
  readonly credentials: AgentCredentials;
  readonly requests: Places;
  /** What requests without a credential share. */
  readonly strangers: Rate;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
}

/** What was found out about a request before its body was read. */
interface Admitted {
  readonly place: LedgerPlace;
  readonly route: LedgerRoute;
  readonly caller: Caller | undefined;
}

/**
 * The memory ledger at the agent door (`ledger.md`): place and method, credential, rate and place, then the body. The server
 * rewrites every URL below `/v1` to `/v1` itself, so that its own router decodes and judges nothing of them.
 */
export function addLedgerDoor(server: FastifyInstance, options: LedgerDoorOptions): void {
  const { commands, gate, ids, clock, version, requests } = options;
  const routes = ledgerRoutes(gate, ledgerCapabilities(version));
  const strangers = tokenBucket(options.strangers, clock);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body);
    scope.route({
      method: scope.supportedMethods,
      url: ledgerMount,
      bodyLimit: ledgerBodyBytesMax,
      onRequest: async (request, reply) => {
        const found = findRoute(routes, request, reply);
        if (found.route.admits === 'open') {
          const waitMs = strangers.take(1);
          if (waitMs > 0) throw rateLimited('Too many requests without a key.', waitMs);
        }
        const caller = found.route.admits === 'open' ? undefined : authenticate(options, request, reply);
        if (caller !== undefined && found.route.admits === 'root') requireRoot(options, caller, found);
        requests.enter(reply, caller?.principal.principal_id ?? '');
        admitted.set(request, { ...found, caller });
      },
      handler: async (request, reply) => {
        const found = admitted.get(request);
        assert(found !== undefined, 'a request is served after it was admitted');
        requireJsonType(request);
        const { caller, place, route } = found;
        const client = request.headers['user-agent'] ?? '';
        const run =
          caller === undefined
            ? () => Promise.reject(new Fault('UNAUTHENTICATED', keyNeeded))
            : commandRunner(commands, { caller, client, correlationId: ids.uuidv7() });
        const answer = await route.answer({
          params: place.params,
          query: place.query,
          body: route.method === 'PUT' || route.method === 'POST' ? readLedgerBody(request.body) : undefined,
          ifMatch: request.headers['if-match'],
          token: bearerOf(request),
          run,
        });
        requests.handOver(reply);
        return reply.code(answer.status).type('application/json').send(JSON.stringify(answer.body));
      },
    });
  });
}

/** Throws STATE_NOT_FOUND for a place that there is not, METHOD_NOT_ALLOWED with `Allow` for a method that it has not. */
function findRoute(
  routes: readonly LedgerRoute[],
  request: FastifyRequest,
  reply: FastifyReply,
): Pick<Admitted, 'place' | 'route'> {
  const place = readLedgerUrl(request.method, request.originalUrl);
  const served = routes.filter(({ pattern }) => pattern === place?.pattern);
  if (place === undefined || served.length === 0)
    throw new Fault('STATE_NOT_FOUND', 'There is nothing at this path. GET /v1/capabilities says what there is.');
  const route = served.find(({ method }) => method === request.method);
  if (route !== undefined) return { place, route };
  const methods = served.map(({ method }) => method);
  void reply.header('allow', methods.join(', '));
  const remedy = methods.includes('PUT')
    ? 'Use PUT to store a value, GET to read it, DELETE to delete it.'
    : place.pattern.startsWith('memory')
      ? 'Use GET here; PUT /v1/memory/{key} stores a value and GET /v1/memory/{key} reads it.'
      : `Use ${methods.join(' or ')}.`;
  throw new Fault('METHOD_NOT_ALLOWED', `${request.method} is not served here. ${remedy}`);
}

const keyNeeded =
  'A valid key is needed: Authorization: Bearer ltx_… Register with POST /v1/register, or ask the owner for one (charon ltx mint).';

/** Throws UNAUTHENTICATED in this door's words, KEY_REVOKED for a key that was one, RATE_LIMITED. */
function authenticate({ credentials, gate }: LedgerDoorOptions, request: FastifyRequest, reply: FastifyReply): Caller {
  try {
    return credentials.authenticate(request);
  } catch (thrown) {
    if (!(thrown instanceof Fault && thrown.code === 'UNAUTHENTICATED')) throw thrown;
    void reply.header('www-authenticate', 'Bearer realm="Memory Git"');
    if (gate.wasRevoked(bearerOf(request)))
      throw new Fault(
        'KEY_REVOKED',
        'This key was revoked. Use the one that took its place, or ask the owner for another.',
      );
    throw new Fault('UNAUTHENTICATED', keyNeeded);
  }
}

/** The root key comes before the body is looked at (`ledger.md` §5); a refusal is in the ledger as the pipeline's own are. */
function requireRoot(
  { judge, ids }: LedgerDoorOptions,
  caller: Caller,
  found: Pick<Admitted, 'place' | 'route'>,
): void {
  try {
    requireRootKey(caller);
  } catch (thrown) {
    const subject = {
      principal: caller.principal.principal_id,
      ...credentialOf(caller),
      door: caller.door,
      command: `ledger ${found.route.method} ${found.place.pattern}`,
      project: '',
      objectIds: [],
      requestDigest: '',
      correlationId: ids.uuidv7(),
    };
    judge.audit.note(subject, 'denied ROOT_KEY_REQUIRED');
    throw thrown;
  }
}

/** A body is JSON; whoever sends none need not say so, and a bodiless request may. */
function requireJsonType(request: FastifyRequest): void {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return;
  const mediaType = (request.headers['content-type'] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json')
    throw new Fault('CONTENT_TYPE_REFUSED', 'The Content-Type of a body must be application/json.');
}
