import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';

const redirectUri = 'http://127.0.0.1:5000/callback';
const verifier = 'v'.repeat(64);
const household = new Household();
let serving: Serving;
let desk: DeskPage;

beforeAll(async () => {
  serving = await household.serve({ ownerPage: true });
  desk = await DeskPage.open(z.string().parse(serving.owner));
});
afterAll(async () => {
  await desk.close();
  await household.clear();
});

const post = async (url: string, body: string, type: string): Promise<unknown> =>
  (await fetch(url, { method: 'POST', headers: { 'Content-Type': type }, body })).json();

test('a program asks to sign in, the owner compares the number and lets it in, and ends it again', async () => {
  await desk.allowing(() => household.agent('Editor', 'propose', 'demo'));
  const { origin } = new URL(serving.mcp);
  const wellKnown = `${origin}/.well-known/oauth-authorization-server`;
  await desk.goTo('Agents');
  expect((await fetch(wellKnown)).status).toBe(404);
  await desk.page.getByRole('switch', { name: 'Programs may ask to sign in' }).click();
  await expect.poll(async () => (await fetch(wellKnown)).status).toBe(200);

  const places = z
    .object({ registration_endpoint: z.string(), authorization_endpoint: z.string(), token_endpoint: z.string() })
    .parse(await (await fetch(wellKnown)).json());
  const asked = { client_name: 'My <b>editor</b>', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
  const registered = await post(places.registration_endpoint, JSON.stringify(asked), 'application/json');
  const { client_id: clientId } = z.object({ client_id: z.string() }).parse(registered);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const authorize = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, code_challenge: challenge },
    ...{ code_challenge_method: 'S256', state: 's', resource: serving.mcp },
  });
  const begun = await fetch(`${places.authorization_endpoint}?${authorize}`, { redirect: 'manual' });
  const waitingAt = new URL(begun.headers.get('location') ?? '', origin).href;
  const waiting = await (await fetch(waitingAt, { redirect: 'manual' })).text();

  const requests = desk.page.getByRole('region', { name: 'Programs that ask to sign in' });
  await requests.getByText('My <b>editor</b>').waitFor();
  const number = (await requests.locator('strong.mg-mono').textContent()) ?? '';
  expect(number).toMatch(/^\d{6}$/);
  expect(waiting).toContain(number);
  await requests.getByRole('combobox', { name: 'Connect it as' }).click();
  await desk.page.getByRole('option', { name: 'Editor (propose)' }).click();
  await desk.show('sign-in');
  await requests.getByRole('button', { name: 'Let it in' }).click();
  await requests.waitFor({ state: 'detached' });

  const back = await fetch(waitingAt, { redirect: 'manual' });
  const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const exchanged = new URLSearchParams({
    ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: clientId },
    ...{ code_verifier: verifier, resource: serving.mcp },
  });
  const granted = await post(places.token_endpoint, exchanged.toString(), 'application/x-www-form-urlencoded');
  const { access_token: token } = z.object({ access_token: z.string() }).parse(granted);
  const client = await household.client('sdk2-auto', serving.mcp, token);
  expect((await client.call('memory_repo_init', { project: 'demo' })).isError).toBe(false);

  await desk.page.getByRole('link', { name: /^Editor/ }).click();
  const signedIn = desk.page.getByRole('region', { name: 'Signed in' });
  await signedIn.getByText('My <b>editor</b>').waitFor();
  await signedIn.getByRole('button', { name: 'End…' }).click();
  await desk.page.getByRole('dialog').getByRole('button', { name: 'End access' }).click();
  await signedIn.waitFor({ state: 'detached' });
  await expect(client.call('memory_status', { project: 'demo' })).rejects.toThrow();
  expect(desk.complaints).toEqual([]);
  expect(desk.barriers).toEqual([]);
});
