import { createHash, createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OauthExchange } from '../../src-main/charon/oauth-api.ts';
import { isRedirectUri, parseAccessToken, shownName } from '../../src-main/charon/rules/oauth.ts';
import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import { dayMs } from '../../src-preload/contract/limits.ts';
import { grantSchema } from '../../src-preload/contract/principal.ts';
import { type CharonWorld, codeOf, openWorld, seededKey, testKeys } from './charon-world.ts';

const issuer = 'http://127.0.0.1:18484';
const resource = `${issuer}/mcp`;
const redirectUri = 'http://127.0.0.1:5000/callback';
const verifier = 'v'.repeat(64);
const challenge = createHash('sha256').update(verifier).digest('base64url');

let world: CharonWorld;
let agent: PrincipalId;
let clientId: string;
beforeEach(async () => {
  world = await openWorld();
  const { charon } = world;
  await charon.oauth.setEnabled(true);
  agent = (await charon.reconcilePrincipal({ name: 'agent', profile: 'propose', grant: grantSchema.parse('demo') }))
    .principal.principal_id;
  clientId = charon.oauth.registerClient({ name: 'Editor', redirects: [redirectUri] })?.clientId ?? '';
});
afterEach(() => world.remove());

function begin(): Promise<string> {
  return world.charon.oauth.begin({ clientId, redirectUri, state: 's', challenge, resource });
}

async function approvedCode(): Promise<string> {
  const { oauth } = world.charon;
  const waitToken = await begin();
  const [request] = oauth.listPending();
  if (request === undefined) throw new Error('a request waits');
  await oauth.approve(request.request_id, agent);
  const looked = await oauth.look(waitToken);
  if (looked?.kind !== 'approved') throw new Error('an approved request has a code');
  return looked.code;
}

function exchange(code: string, other: Partial<OauthExchange> = {}) {
  return world.charon.oauth.exchange({ code, clientId, redirectUri, verifier, issuer, resource, ...other });
}

async function access(): Promise<string> {
  return (await exchange(await approvedCode()))?.token ?? '';
}

const callerOf = (token: string, at = resource) => world.charon.oauth.authenticate(token, at, 'agent');

describe('signing in', () => {
  test('C150 it is off until it is turned on, and off ends what was given with the next call', async () => {
    const fresh = await openWorld();
    expect(fresh.charon.oauth.enabled()).toBe(false);
    await fresh.remove();
    const token = await access();
    expect(callerOf(token)?.principal.principal_id).toBe(agent);
    await world.charon.oauth.setEnabled(false);
    expect(callerOf(token)).toBeUndefined();
    await world.charon.oauth.setEnabled(true);
    expect(callerOf(token)?.credential.kind).toBe('oauth');
    world.withDb((db) =>
      db.exec("UPDATE settings SET mac = replace(mac, substr(mac, 1, 1), 'x') WHERE name = 'oauth_enabled'"),
    );
    expect(world.charon.oauth.enabled()).toBe(false);
  });

  test('C151 redirects are of this machine or over HTTPS, and a program is what its id says', async () => {
    for (const good of [redirectUri, 'http://localhost:1/x?y=1', 'http://[::1]:9/', 'https://vscode.dev/redirect'])
      expect(isRedirectUri(good), good).toBe(true);
    for (const bad of [
      'http://evil.example/',
      'http://127.0.0.1.evil.example/',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'https://a.example/#x',
      'https://a.example/#',
      'https://user:pass@a.example/',
      'nowhere',
      '',
    ])
      expect(isRedirectUri(bad), bad).toBe(false);
    const { oauth } = world.charon;
    expect(oauth.findClient(clientId)).toEqual({ name: 'Editor', redirects: [redirectUri] });
    expect(oauth.registerClient({ name: 'x', redirects: ['http://evil.example/'] })).toBeUndefined();
    expect(oauth.registerClient({ name: 'x', redirects: [] })).toBeUndefined();
    expect(shownName('a\u202e\u0007b '.repeat(1))).toBe('ab');
    expect(shownName('\u200b')).toBe('a program without a name');
    const forged = Buffer.from(JSON.stringify({ name: 'Evil', redirects: ['https://evil.example/'] })).toString(
      'base64url',
    );
    expect(oauth.findClient(`${forged}.${clientId.split('.')[1]}`)).toBeUndefined();
    expect(
      await codeOf(oauth.begin({ clientId, redirectUri: 'https://evil.example/', state: null, challenge, resource })),
    ).toBe('INPUT_INVALID');
  });

  test('C152 a request waits 10 minutes, is decided once, for an agent that may work; 20 wait at once', async () => {
    const { charon, clock } = world;
    const { oauth } = charon;
    const waitToken = await begin();
    const [request] = oauth.listPending();
    if (request === undefined) throw new Error('a request waits');
    expect(request).toMatchObject({ client_name: 'Editor', returns_to: 'http://127.0.0.1:5000' });
    expect(await oauth.look(waitToken)).toEqual({
      kind: 'waiting',
      clientName: 'Editor',
      matchCode: request.match_code,
    });
    expect(await oauth.look(`${waitToken}x`)).toBeUndefined();
    expect(await codeOf(oauth.approve(request.request_id, charon.owner().principal_id))).toBe('OWNER_ONLY');
    await charon.setPrincipalEnabled(agent, false);
    expect(await codeOf(oauth.approve(request.request_id, agent))).toBe('PRINCIPAL_DISABLED');
    await oauth.refuse(request.request_id);
    expect(await oauth.look(waitToken)).toEqual({ kind: 'refused', redirectUri, state: 's' });
    expect(await codeOf(oauth.refuse(request.request_id))).toBe('REGISTRATION_STATE');
    for (let n = 0; n < 20; n += 1) await begin();
    expect(await codeOf(begin())).toBe('QUOTA');
    const [late] = oauth.listPending();
    clock.advance(600_000);
    expect(oauth.listPending()).toEqual([]);
    expect(await oauth.look(waitToken)).toEqual({ kind: 'over' });
    expect(await codeOf(oauth.refuse(late?.request_id ?? request.request_id))).toBe('REGISTRATION_NOT_FOUND');
    await begin();
    expect(world.withDb((db) => db.query<[], { n: number }>('SELECT COUNT(*) AS n FROM oauth_requests').get())).toEqual(
      { n: 1 },
    );
  });

  test('C153 a code is handed out once and lives a minute', async () => {
    const { oauth } = world.charon;
    const waitToken = await begin();
    const [request] = oauth.listPending();
    if (request === undefined) throw new Error('a request waits');
    await oauth.approve(request.request_id, agent);
    const twice = await Promise.all([oauth.look(waitToken), oauth.look(waitToken)]);
    expect(twice.map((looked) => looked?.kind).sort()).toEqual(['approved', 'over']);
    world.clock.advance(60_000);
    const [code = ''] = twice.flatMap((looked) => (looked?.kind === 'approved' ? [looked.code] : []));
    expect(await exchange(code)).toBeUndefined();
  });

  test.each<[string, Partial<OauthExchange>]>([
    ['verifier', { verifier: 'w'.repeat(64) }],
    ['verifier of another length', { verifier: 'v' }],
    ['address', { redirectUri: 'https://vscode.dev/redirect' }],
    ['program', { clientId: 'x.y' }],
    ['resource', { resource: 'http://127.0.0.1:1/mcp' }],
  ])('C153 another %s gets nothing, and the code is spent', async (_what, other) => {
    const code = await approvedCode();
    expect(await exchange(code, other)).toBeUndefined();
    expect(await exchange(code)).toBeUndefined();
    expect(world.charon.oauth.listGrants()).toEqual([]);
  });

  test('C154 a code that is shown again ends the access that it gave', async () => {
    const code = await approvedCode();
    const given = await exchange(code);
    expect(callerOf(given?.token ?? '')).toBeDefined();
    expect(await exchange(code)).toBeUndefined();
    expect(callerOf(given?.token ?? '')).toBeUndefined();
  });

  test('C157 asking, being let in and a code shown again stand in the ledger, which verifies', async () => {
    const code = await approvedCode();
    await exchange(code);
    await exchange(code);
    const { audit, oauth } = world.charon;
    const [grant] = oauth.listGrants();
    const entries = audit.tail({ limit: 10 }).filter(({ command }) => command.startsWith('oauth.'));
    expect(entries.map(({ command }) => command)).toEqual(['oauth.code_shown_again', 'oauth.let_in', 'oauth.asked']);
    expect(entries[1]?.object_ids).toEqual([expect.any(String), agent, `oauth_${grant?.grant_id}`]);
    expect(JSON.stringify(entries)).not.toContain(code.split('.')[1]);
    expect((await audit.verify()).ok).toBe(true);
  });

  test('C155 rights are those of the call, without review, merge and trusted writes, for 24 hours', async () => {
    const { charon, clock } = world;
    const token = await access();
    expect(callerOf(token)?.scopes).toContain('memory.commit');
    await charon.reconcilePrincipal({ name: 'agent', profile: 'write', grant: grantSchema.parse('demo') });
    expect(callerOf(token)?.scopes).toContain('memory.commit');
    expect(callerOf(token)?.scopes).not.toContain('memory.write');
    await charon.reconcilePrincipal({ name: 'agent', profile: 'review', grant: grantSchema.parse('demo') });
    expect(callerOf(token)?.scopes).toEqual(['memory.read', 'memory.search', 'ledger.read']);
    await charon.setPrincipalEnabled(agent, false);
    expect(callerOf(token)).toBeUndefined();
    await charon.setPrincipalEnabled(agent, true);
    clock.advance(dayMs - 1);
    expect(callerOf(token)).toBeDefined();
    clock.advance(1);
    expect(callerOf(token)).toBeUndefined();
    expect(charon.oauth.listGrants()).toEqual([]);
  });

  test('C155 a revocation counts from the next call, stands, and is known after a restart', async () => {
    const token = await access();
    const [grant] = world.charon.oauth.listGrants();
    if (grant === undefined) throw new Error('an access is listed');
    const revoked = await world.charon.oauth.revoke(grant.grant_id);
    world.clock.advance(1_000);
    expect(await world.charon.oauth.revoke(grant.grant_id)).toEqual(revoked);
    world = await world.reopen();
    expect(callerOf(token)).toBeUndefined();
  });

  test('C156 a token of another header, key, resource or home is none', async () => {
    const token = await access();
    const [, body = ''] = token.split('.');
    const signed = (header: object, key: Buffer): string => {
      const head = Buffer.from(JSON.stringify(header)).toString('base64url');
      return `${head}.${body}.${createHmac('sha256', key).update(`${head}.${body}`).digest('base64url')}`;
    };
    expect(signed({ alg: 'HS256', typ: 'JWT' }, testKeys.oauth)).toBe(token);
    const bad = [
      signed({ alg: 'HS256', typ: 'JWT' }, seededKey('obol')),
      signed({ alg: 'HS512', typ: 'JWT' }, testKeys.oauth),
      `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${body}.`,
      `${token}.x`,
      token.slice(0, -1),
      '..',
      '',
    ];
    for (const one of bad) expect(callerOf(one), one).toBeUndefined();
    expect(callerOf(token, 'http://127.0.0.1:1/mcp')).toBeUndefined();
    expect(parseAccessToken(testKeys.oauth, token)).toMatchObject({ iss: issuer, aud: resource, sub: agent });
    const elsewhere = await openWorld();
    await elsewhere.charon.oauth.setEnabled(true);
    expect(elsewhere.charon.oauth.authenticate(token, resource, 'agent')).toBeUndefined();
    await elsewhere.remove();
    expect(token.length).toBeLessThanOrEqual(512);
  });
});
