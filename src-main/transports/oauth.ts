import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { scopes } from '../../src-preload/contract/principal.ts';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Oauth, OauthLooked } from '../charon/oauth-api.ts';
import { isChallenge, scopesByOauth } from '../charon/rules/oauth.ts';
import { rateLimited } from './agent-credentials.ts';
import { notFound } from './door-server.ts';
import { oauthPage, pagePolicy } from './oauth-page.ts';
import { type Rate, tokenBucket } from './token-bucket.ts';

/** The one POST of this door that is a form, as RFC 6749 §4.1.3 has it. */
export const oauthTokenPath = '/oauth/token';
const formBytesMax = 16_384;
const stateCharactersMax = 1_024;
const waitSeconds = 2;

export interface OauthDoorOptions {
  readonly oauth: Oauth;
  /** The origin of this door, known once it listens. */
  readonly origin: () => string;
  readonly clock: Clock;
  /** What requests of all programs that ask to sign in share. */
  readonly rate: Rate;
}

/** What an access reaches at a door of that origin. */
export function resourceOf(origin: string): string {
  return `${origin}/mcp`;
}

/**
 * Signing in at the agent door (`charon.md` §2; RFC 6749, 7636, 7591, 8414, 8707, 9728): authorization code with S256, for
 * public programs. Each route is 404 while the owner has not turned signing in on.
 */
export function addOauthDoor(server: FastifyInstance, options: OauthDoorOptions): void {
  const { oauth, origin } = options;
  const bucket = tokenBucket(options.rate, options.clock);
  void server.register(async (scope) => {
    scope.addHook('onRequest', async () => {
      if (!oauth.enabled()) throw notFound();
      const waitMs = bucket.take(1);
      if (waitMs > 0) throw rateLimited('Too many requests to sign in.', waitMs);
    });
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formBytesMax },
      async (_request: FastifyRequest, body: string) => readForm(body),
    );
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
      scope.get(path, async () => resourceMetadata(origin()));
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/mcp'])
      scope.get(path, async () => serverMetadata(origin()));
    scope.post('/oauth/register', async (request, reply) => register(oauth, options.clock, request, reply));
    scope.get('/oauth/authorize', async (request, reply) => authorize(options, request, reply));
    scope.get('/oauth/wait', async (request, reply) => wait(options, request, reply));
    scope.post(oauthTokenPath, async (request, reply) => exchange(options, request, reply));
  });
}

const scopesSupported = scopesByOauth(scopes);

function resourceMetadata(origin: string): object {
  return {
    resource: resourceOf(origin),
    authorization_servers: [origin],
    scopes_supported: scopesSupported,
    bearer_methods_supported: ['header'],
    resource_name: 'Memory Git',
  };
}

function serverMetadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}${oauthTokenPath}`,
    registration_endpoint: `${origin}/oauth/register`,
    scopes_supported: scopesSupported,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

/** Unknown fields are left alone, as RFC 7591 §2 asks; what cannot be had is answered with what is. */
const registrationSchema = z.object({
  redirect_uris: z.array(z.string()).min(1),
  client_name: z.string().default(''),
});

async function register(
  oauth: Oauth,
  clock: Clock,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const asked = registrationSchema.safeParse(request.body);
  const known = asked.success
    ? oauth.registerClient({ name: asked.data.client_name, redirects: asked.data.redirect_uris })
    : undefined;
  if (known === undefined) {
    return refuse(
      reply,
      'invalid_redirect_uri',
      'redirect_uris must be 1 to 5 addresses, each over https or http on this machine (127.0.0.1, localhost, [::1]), without a fragment.',
    );
  }
  return reply.code(201).send({
    client_id: known.clientId,
    client_id_issued_at: Math.floor(clock.nowMs() / 1_000),
    client_name: known.client.name,
    redirect_uris: known.client.redirects,
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
}

const one = z.string();
const authorizeSchema = z.object({
  client_id: one,
  redirect_uri: one,
  response_type: one.optional(),
  code_challenge: one.optional(),
  code_challenge_method: one.optional(),
  resource: one.optional(),
  state: one.max(stateCharactersMax).optional(),
});

/**
 * Begins a request and sends the browser to the page that waits. What is wrong about program or redirect is said on a page:
 * a browser is never sent to an address that was not registered. Everything else goes back there.
 */
async function authorize(
  { oauth, origin }: OauthDoorOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parsed = authorizeSchema.safeParse(request.query);
  const asked = parsed.data;
  const client = asked && oauth.findClient(asked.client_id);
  if (asked === undefined || client?.redirects.includes(asked.redirect_uri) !== true) {
    return page(reply.code(400), 'This program cannot sign in', [
      'It is not registered here, or asks to return to another address than it was registered with. Let it register again.',
    ]);
  }
  const state = asked.state ?? null;
  const back = (error: string, said: string): FastifyReply =>
    reply.redirect(returnUrl(origin(), asked.redirect_uri, state, { error, error_description: said }), 302);
  if (asked.response_type !== 'code') return back('unsupported_response_type', 'response_type must be code.');
  if (asked.code_challenge_method !== 'S256' || !isChallenge(asked.code_challenge ?? ''))
    return back('invalid_request', 'code_challenge with the method S256 is needed.');
  const resource = resourceOf(origin());
  if (asked.resource !== undefined && asked.resource !== resource)
    return back('invalid_target', `resource must be ${resource}.`);
  try {
    const waitToken = await oauth.begin({
      clientId: asked.client_id,
      redirectUri: asked.redirect_uri,
      state,
      challenge: asked.code_challenge ?? '',
      resource,
    });
    return reply.redirect(`/oauth/wait?request=${encodeURIComponent(waitToken)}`, 302);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'QUOTA') return back('temporarily_unavailable', thrown.message);
    throw thrown;
  }
}

async function wait(
  { oauth, origin }: OauthDoorOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { data } = z.object({ request: one }).safeParse(request.query);
  const looked: OauthLooked = (data && (await oauth.look(data.request))) ?? { kind: 'over' };
  switch (looked.kind) {
    case 'waiting':
      return page(
        reply,
        'Waiting for you in Memory Git',
        [
          `${looked.clientName} asks to be let in.`,
          `Open Memory Git, look for the number ${looked.matchCode}, and decide there. This page then goes on by itself.`,
        ],
        waitSeconds,
      );
    case 'approved':
      return reply.redirect(returnUrl(origin(), looked.redirectUri, looked.state, { code: looked.code }), 302);
    case 'refused':
      return reply.redirect(returnUrl(origin(), looked.redirectUri, looked.state, { error: 'access_denied' }), 302);
    case 'over':
      return page(reply.code(410), 'This is over', ['Start signing in again from the program.']);
  }
}

const exchangeSchema = z.object({
  grant_type: one,
  code: one.optional(),
  client_id: one.optional(),
  redirect_uri: one.optional(),
  code_verifier: one.optional(),
  resource: one.optional(),
});

async function exchange(
  { oauth, origin }: OauthDoorOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { data } = exchangeSchema.safeParse(request.body);
  if (data === undefined) return refuse(reply, 'invalid_request', 'Send grant_type, each field once, as a form.');
  if (data.grant_type !== 'authorization_code')
    return refuse(
      reply,
      'unsupported_grant_type',
      'grant_type must be authorization_code. Sign in again for another token.',
    );
  const resource = resourceOf(origin());
  if (data.resource !== undefined && data.resource !== resource)
    return refuse(reply, 'invalid_target', `resource must be ${resource}.`);
  const given = await oauth.exchange({
    code: data.code ?? '',
    clientId: data.client_id ?? '',
    redirectUri: data.redirect_uri ?? '',
    verifier: data.code_verifier ?? '',
    issuer: origin(),
    resource,
  });
  if (given === undefined)
    return refuse(reply, 'invalid_grant', 'The code is not good here, or not any more. Sign in again.');
  return reply.send({
    access_token: given.token,
    token_type: 'Bearer',
    expires_in: Math.floor(given.expiresInMs / 1_000),
    scope: given.scopes.join(' '),
  });
}

/** Where a browser goes on: the registered address with what came of it, the state as it came, and who says so (RFC 9207). */
function returnUrl(
  origin: string,
  redirectUri: string,
  state: string | null,
  said: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(said)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set('state', state);
  url.searchParams.set('iss', origin);
  return url.href;
}

/** A form as RFC 6749 §3.2 reads it: no field twice, and no one that an object means otherwise. */
function readForm(body: string): Readonly<Record<string, string>> {
  const fields = [...new URLSearchParams(body)];
  const names = fields.map(([name]) => name);
  if (new Set(names).size !== names.length || names.includes('__proto__'))
    throw new Fault('BODY_INVALID', 'The form has a field twice, or one named __proto__.');
  return Object.fromEntries(fields);
}

function refuse(reply: FastifyReply, error: string, said: string): FastifyReply {
  return reply.code(400).send({ error, error_description: said });
}

function page(reply: FastifyReply, title: string, lines: readonly string[], refreshSeconds?: number): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .type('text/html; charset=utf-8')
    .send(oauthPage(title, lines, refreshSeconds));
}
