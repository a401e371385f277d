import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';

const answerSchema = z.record(z.string(), z.unknown());
const registeredSchema = z.object({ registration_id: z.string(), poll_token: z.string() });
const hostile = '<img src=x onerror="document.title=1"> \u202Eevil';

/** A registered agent as a script would be one: plain HTTP and nothing else. */
class Script {
  readonly origin: string;
  key = '';

  constructor(mcp: string) {
    this.origin = new URL(mcp).origin;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    token = this.key,
  ): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token === '' ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  async put(key: string, value: unknown, more: Record<string, unknown> = {}): Promise<void> {
    const { status, body } = await this.send('PUT', `/v1/memory/${encodeURIComponent(key)}`, { value, ...more });
    expect(status, JSON.stringify(body)).toBe(200);
  }
}

describe('the ledger at the desk', () => {
  const household = new Household();
  const passport = generateKeyPairSync('ed25519');
  let serving: Serving;
  let desk: DeskPage;
  let script: Script;
  let registration = { registration_id: '', poll_token: '' };
  let agentId = '';

  beforeAll(async () => {
    serving = await household.serve({ ownerPage: true });
    desk = await DeskPage.open(z.string().parse(serving.owner));
    script = new Script(serving.mcp);
  });
  afterAll(async () => {
    await desk.close();
    await household.clear();
  });
  let broken = false;
  beforeEach(({ skip }) => {
    if (broken) skip('an earlier step failed');
  });
  afterEach(({ task }) => {
    broken ||= task.result?.state === 'fail';
  });

  test('an agent asks to be let in, and waits for the owner', async () => {
    await desk.goTo('Ledger');
    await desk.sees('No agent keeps keys yet');
    const asked = await script.send('POST', '/v1/register', {
      agent_name: 'night-script',
      owner_identifier: 'me@example.org',
      agree_to_terms: true,
      passport_public_key: passport.publicKey.export({ type: 'spki', format: 'pem' }),
    });
    expect(asked.status).toBe(202);
    registration = registeredSchema.parse(asked.body);
    const path = `/v1/register/${registration.registration_id}`;
    expect((await script.send('GET', path, undefined, registration.poll_token)).status).toBe(202);
    await desk.page.getByRole('region', { name: 'Waiting for your word' }).getByText('night-script').waitFor();
    await desk.show('registration');
  });

  test('the owner lets it in, and it fetches its key once', async () => {
    await desk.button('Let it in').click();
    await desk.page.getByRole('region', { name: 'Waiting for your word' }).waitFor({ state: 'detached' });
    const path = `/v1/register/${registration.registration_id}`;
    const claimed = await script.send('GET', path, undefined, registration.poll_token);
    expect(claimed.status).toBe(201);
    const { api_key: key, agent_id: id } = z.object({ api_key: z.string(), agent_id: z.string() }).parse(claimed.body);
    script.key = key;
    agentId = id;
    expect(key).toMatch(/^ltx_/);
  });

  test('its keys appear with every version, differences, tombstones and what was derived from what', async () => {
    await script.put('session-state', { theme: 'dark', open: ['a.ts'] });
    await script.put('session-state', { theme: 'light', open: ['a.ts', 'b.ts'] }, { importance: 'high' });
    await script.put('session-state', { summary: hostile }, { derived_from: { start_version: 1, end_version: 2 } });
    await script.put('short', 'gone soon');
    expect((await script.send('DELETE', '/v1/memory/short')).status).toBe(200);
    await desk.page.getByRole('link', { name: /night-script/ }).click();
    await desk.page.getByRole('link', { name: /^session-state/ }).click();
    await desk.page.getByRole('button', { name: /^v2/ }).click();
    const differences = desk.page.getByRole('region', { name: 'Differences' });
    await differences.getByText('theme', { exact: true }).waitFor();
    await differences.getByText(/Changed beside the value: importance/).waitFor();
    await desk.page.getByRole('button', { name: /^v3/ }).click();
    await desk.page.getByRole('region', { name: 'Value' }).getByText('derived from v1 to v2').waitFor();
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    await desk.show('ledger');
    await desk.page.getByRole('link', { name: /^short/ }).click();
    await desk.sees('Deleted: the key held nothing.');
    await desk.page.getByRole('button', { name: /^v1/ }).click();
    await desk.page.getByRole('region', { name: 'Value' }).getByText('gone soon').waitFor();
  });

  test('a key reads as it was at a time', async () => {
    await desk.page.getByRole('link', { name: /^session-state/ }).click();
    await desk.page.getByLabel('As of a time').fill('2020-01-01T00:00:00');
    await desk.sees('There was nothing under this key yet.');
    await desk.button('Back to now').click();
    await desk.page
      .getByRole('region', { name: 'Value' })
      .getByText(/summary/)
      .waitFor();
  });

  test('a signed policy stands in its history, and custody is the owner’s', async () => {
    const params = {
      ...{ schema_version: 1, compression: { strategy: 'none' }, weighting: {}, fade_rules: {} },
      declared_at: '2026-01-10T12:00:00Z',
    };
    const canonical =
      '{"compression":{"strategy":"none"},"declared_at":"2026-01-10T12:00:00Z","fade_rules":{},"schema_version":1,"weighting":{}}';
    const asked = await script.send('POST', '/v1/auth/passport/challenge', { agent_id: agentId }, '');
    const challenge = z
      .object({ challenge_id: z.string(), nonce: z.string(), issued_at: z.string(), expires_at: z.string() })
      .parse(asked.body);
    const lines = [
      ...['lithtrix.consolidation.amend.v1', challenge.challenge_id, challenge.nonce, 'consolidation-v1', canonical],
      ...[challenge.issued_at, challenge.expires_at],
    ];
    const amended = await script.send('POST', '/v1/me/consolidation-policy/amend', {
      ...{ template_id: 'consolidation-v1', params, challenge_id: challenge.challenge_id },
      passport_signature: sign(null, Buffer.from(lines.join('\n')), passport.privateKey).toString('base64'),
    });
    expect(amended.status, JSON.stringify(amended.body)).toBe(200);
    await desk.page.getByRole('link', { name: 'night-script', exact: true }).click();
    await desk.page
      .getByRole('region', { name: 'Consolidation policy' })
      .getByText(/^version 1, consolidation-v1/)
      .waitFor();
    await desk.show('ledger-agent');
    await desk.button('Close').click();
    await desk.page.getByText(/epoch 1, closed/).waitFor();
  });

  test('a key that the owner made reads and does not write, and ends when it is revoked', async () => {
    await desk.button('Make a key').click();
    await desk.page.getByRole('combobox', { name: 'What it may do' }).click();
    await desk.page.getByRole('option', { name: /^read:/ }).click();
    await desk.button('Make the key').click();
    const shown = desk.page.getByRole('figure', { name: 'Ledger key' }).locator('pre');
    const token = (await shown.textContent())?.trim() ?? '';
    await desk.button('Done').click();
    expect((await script.send('GET', '/v1/memory/session-state', undefined, token)).status).toBe(200);
    const refused = await script.send('PUT', '/v1/memory/x', { value: 1 }, token);
    expect([refused.status, answerSchema.parse(refused.body).error_code]).toEqual([403, 'INSUFFICIENT_KEY_SCOPE']);
    const keys = desk.page.getByRole('region', { name: 'Ledger keys' });
    await keys.getByRole('listitem').filter({ hasText: 'read' }).getByRole('button', { name: 'Revoke…' }).click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await keys.getByText('revoked').waitFor();
    expect((await script.send('GET', '/v1/memory/session-state', undefined, token)).status).toBe(401);
  });

  test('what was acknowledged is there after a kill, and verifies', async () => {
    await serving.end('SIGKILL');
    serving = await household.serve({ ownerPage: true });
    const again = new Script(serving.mcp);
    again.key = script.key;
    const read = await again.send('GET', '/v1/memory/session-state');
    expect(answerSchema.parse(read.body)).toMatchObject({ version: 3, value: { summary: hostile } });
    expect((await household.command('charon', 'ledger', 'verify')).code).toBe(0);
  });

  test('the page never complained, and axe finds nothing serious', () => {
    expect(desk.complaints).toEqual([]);
    expect(desk.barriers).toEqual([]);
  });
});
