import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { tempFolder } from '../support/temp-home.ts';
import { send } from './raw-http.ts';

const redirectUrl = 'http://127.0.0.1:5000/callback';
const verifier = 'v'.repeat(64);
const challenge = createHash('sha256').update(verifier).digest('base64url');

/** The whole engine with one agent, and how the owner, a browser and a program act on it. */
async function openEngine(enabled = true) {
  const app = await openApp({
    home: join(tempFolder(), 'home'),
    env: {},
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const owner = <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    app.commands.call(name, input, app.ownerCaller('owner_socket'));
  const { principal } = await owner('principal.reconcile', { name: 'agent', profile: 'propose', project: 'demo' });
  if (enabled) await owner('oauth.set_enabled', { enabled });
  const mcpUrl = app.doors.mcp ?? '';
  const { origin, host, port } = new URL(mcpUrl);
  const ask = (path: string, body?: string, type = 'application/json', bearer?: string) =>
    send({
      port: Number(port),
      method: body === undefined ? 'GET' : 'POST',
      path,
      headers: {
        host,
        accept: 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': type }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body }),
    });
  /** As a browser that the program opened: to the page that waits, past the owner's decision, back to the program. */
  const browse = async (url: URL, decide: 'approve' | 'refuse'): Promise<URL> => {
    const begun = await ask(`${url.pathname}${url.search}`);
    expect(begun.status).toBe(302);
    const waiting = await ask(String(begun.headers.location));
    expect([waiting.status, waiting.headers['content-security-policy']]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ]);
    const [request] = (await owner('oauth.pending', {})).requests;
    if (request === undefined) throw new Error('a request waits');
    expect(waiting.body).toContain(request.match_code);
    const { request_id } = request;
    if (decide === 'approve') await owner('oauth.approve', { request_id, principal_id: principal.principal_id });
    else await owner('oauth.refuse', { request_id });
    const back = await ask(String(begun.headers.location));
    expect(back.status).toBe(302);
    return new URL(String(back.headers.location));
  };
  return { app, owner, principal, mcpUrl, origin, ask, browse };
}

/** What a program keeps while it signs in, as both SDKs ask for it. */
function memoryOfProgram() {
  let client: { client_id: string } | undefined;
  let tokens: { access_token: string; token_type: string } | undefined;
  let codeVerifier = '';
  const sent: URL[] = [];
  return {
    sent,
    provider: {
      redirectUrl,
      clientMetadata: {
        client_name: 'An <b>editor</b>',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      state: () => 'a state of the program',
      clientInformation: () => client,
      saveClientInformation: (saved: { client_id: string }) => {
        client = saved;
      },
      tokens: () => tokens,
      saveTokens: (saved: { access_token: string; token_type: string }) => {
        tokens = saved;
      },
      redirectToAuthorization: (url: URL) => void sent.push(url),
      saveCodeVerifier: (saved: string) => {
        codeVerifier = saved;
      },
      codeVerifier: () => codeVerifier,
    },
    token: () => tokens?.access_token ?? '',
  };
}

type Provider = ReturnType<typeof memoryOfProgram>['provider'];

function isTransport1(value: unknown): value is Parameters<Client1['connect']>[0] {
  return value instanceof Transport1;
}

/** A client that signs in when it is told 401. `finish` is what it does with the address that the browser came back to. */
const makers = {
  sdk1: (url: URL, provider: Provider) => {
    const transport = new Transport1(url, { authProvider: provider });
    const client = new Client1({ name: 'signed-in', version: '1' });
    const connect = async (): Promise<void> => {
      if (isTransport1(transport)) await client.connect(transport);
    };
    return { client, connect, finish: (back: URL) => transport.finishAuth(back.searchParams.get('code') ?? '') };
  },
  sdk2: (url: URL, provider: Provider) => {
    const transport = new Transport2(url, { authProvider: provider });
    const client = new Client2({ name: 'signed-in', version: '1' });
    return {
      client,
      connect: () => client.connect(transport),
      finish: (back: URL) => transport.finishAuth(back.searchParams),
    };
  },
} as const;

test.each(['sdk1', 'sdk2'] as const)(
  'T121 T124 a client of %s signs in, works, and gets the 401 of every refused credential once its access was ended',
  async (kind) => {
    const { owner, principal, mcpUrl, origin, browse, ask } = await openEngine();
    const program = memoryOfProgram();
    const first = makers[kind](new URL(mcpUrl), program.provider);
    await expect(first.connect()).rejects.toThrow();
    const [sent] = program.sent;
    if (sent === undefined) throw new Error('the program opened a browser');
    const back = await browse(sent, 'approve');
    expect(`${back.origin}${back.pathname}`).toBe(redirectUrl);
    expect([back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual(['a state of the program', origin]);
    await first.finish(back);

    const second = makers[kind](new URL(mcpUrl), program.provider);
    await second.connect();
    onTestFinished(() => second.client.close());
    const names = (await second.client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('memory_changeset_create');
    expect(names).not.toContain('memory_merge');
    await second.client.callTool({ name: 'memory_repo_init', arguments: { project: 'demo' } });
    const entries = (await owner('audit.tail', { limit: 20 })).entries;
    const [grant] = (await owner('oauth.grants', {})).grants;
    expect(entries.find(({ command }) => command === 'memory.repo_init')).toMatchObject({
      principal: principal.principal_id,
      credential_kind: 'oauth',
      credential_id: `oauth_${grant?.grant_id}`,
    });
    expect(grant).toMatchObject({ client_name: 'An <b>editor</b>', principal_id: principal.principal_id });
    expect((await ask('/v1/me', undefined, '', program.token())).status).toBe(401);

    await owner('oauth.revoke', { grant_id: grant?.grant_id ?? '' });
    const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
    const ended = await ask('/mcp', list, 'application/json', program.token());
    const none = await ask('/mcp', list, 'application/json', 'nonsense');
    expect([ended.status, ended.body]).toEqual([401, none.body]);
    expect(ended.headers['www-authenticate']).toBe(
      `Bearer realm="Memory Git", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    );
  },
);

test('T120 while it is off every path of it is 404, and a 401 names no place to sign in', async () => {
  const { ask, owner } = await openEngine(false);
  const gets = [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/oauth/authorize?client_id=x&redirect_uri=y',
    '/oauth/wait?request=x',
  ];
  const statuses = async (): Promise<readonly number[]> => {
    const answers = [];
    for (const path of gets) answers.push(await ask(path));
    for (const path of ['/oauth/register', '/oauth/token']) answers.push(await ask(path, '{}'));
    return answers.map(({ status }) => status);
  };
  expect(new Set(await statuses())).toEqual(new Set([404]));
  const refused = await ask('/mcp', '{}');
  expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer realm="Memory Git"']);
  await owner('oauth.set_enabled', { enabled: true });
  expect(await statuses()).toEqual([200, 200, 200, 200, 400, 410, 400, 415]);
  await owner('oauth.set_enabled', { enabled: false });
  expect(new Set(await statuses())).toEqual(new Set([404]));
});

test('T122 a browser is sent to the registered address alone, and what is wrong is said there or on a page', async () => {
  const { ask, browse, origin, mcpUrl } = await openEngine();
  const registered = await ask('/oauth/register', JSON.stringify({ client_name: 'x', redirect_uris: [redirectUrl] }));
  expect(registered.status).toBe(201);
  const { client_id } = z.looseObject({ client_id: z.string() }).parse(JSON.parse(registered.body));
  const asked = {
    client_id,
    redirect_uri: redirectUrl,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource: mcpUrl,
  };
  const authorize = (other: Partial<Record<keyof typeof asked, string>>) =>
    ask(`/oauth/authorize?${new URLSearchParams({ ...asked, ...other })}`);
  for (const other of [{ redirect_uri: 'https://evil.example/' }, { client_id: `${client_id}x` }]) {
    const answer = await authorize(other);
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.body).not.toMatch(/<script|evil/);
  }
  const errors = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ resource: 'http://127.0.0.1:1/mcp' }, 'invalid_target'],
  ] as const;
  for (const [other, error] of errors) {
    const back = new URL(String((await authorize(other)).headers.location));
    expect([`${back.origin}${back.pathname}`, back.searchParams.get('error')]).toEqual([redirectUrl, error]);
  }
  const refused = await browse(new URL(`/oauth/authorize?${new URLSearchParams(asked)}`, origin), 'refuse');
  expect([refused.searchParams.get('error'), refused.searchParams.get('code')]).toEqual(['access_denied', null]);
  const bad = await ask('/oauth/register', JSON.stringify({ redirect_uris: ['http://evil.example/'] }));
  expect([bad.status, JSON.parse(bad.body).error]).toEqual([400, 'invalid_redirect_uri']);
  const crossSite = await send({
    port: Number(new URL(origin).port),
    path: `/oauth/authorize?${new URLSearchParams(asked)}`,
    headers: { host: new URL(origin).host, 'sec-fetch-site': 'cross-site' },
  });
  expect(crossSite.status).toBe(403);
});

test('T123 the token endpoint takes a form alone, each field once, and answers every bad code alike', async () => {
  const { ask } = await openEngine();
  const form = 'application/x-www-form-urlencoded';
  const good = new URLSearchParams({
    grant_type: 'authorization_code',
    code: 'x',
    client_id: 'x',
    redirect_uri: redirectUrl,
  });
  expect((await ask('/oauth/token', '{}')).status).toBe(415);
  expect((await ask('/oauth/token', `${good}&code=y`, form)).status).toBe(400);
  expect((await ask('/oauth/token', 'x'.repeat(20_000), form)).status).toBe(413);
  expect(JSON.parse((await ask('/oauth/token', 'grant_type=refresh_token', form)).body).error).toBe(
    'unsupported_grant_type',
  );
  const answers = [];
  for (const code of ['x', '0'.repeat(16), `${'0'.repeat(16)}.${'A'.repeat(43)}`]) {
    good.set('code', code);
    answers.push(await ask('/oauth/token', String(good), form));
  }
  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
  expect(JSON.parse(answers[0]?.body ?? '').error).toBe('invalid_grant');
});
