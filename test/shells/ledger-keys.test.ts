import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

test('ledger keys, registrations and custody by the command line, of a host that runs', async () => {
  const home = join(tempFolder(), 'home');
  const served = await serveCharon(home);
  const ledger = served.ready.ledger ?? '';
  const charon = async (...args: string[]) => {
    const ran = await runProgram('charon', [...args, '--home', home, '--json']);
    expect([args, ran.code, ran.stderr]).toEqual([args, 0, '']);
    return JSON.parse(ran.stdout);
  };
  const ask = (path: string, token: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(new URL(path, ledger), { ...init, headers });
  };
  const body = JSON.stringify({ agent_name: 'bot', owner_identifier: 'mia', agree_to_terms: true });
  const asked = await (await ask('/v1/register', 'none', { method: 'POST', body })).json();
  const { registrations } = await charon('registration', 'ls', '--waiting');
  expect(registrations).toMatchObject([{ registration_id: asked.registration_id, status: 'pending' }]);
  await charon('registration', 'approve', asked.registration_id);
  const fetched = await (await ask(`/v1/register/${asked.registration_id}`, asked.poll_token)).json();
  const put = { method: 'PUT', body: '{"value":"by the command line"}' };
  expect((await ask('/v1/memory/k', fetched.api_key, put)).status).toBe(200);

  const minted = await charon('ltx', 'mint', fetched.agent_id, '--kind', 'read');
  expect((await ask('/v1/memory/k', minted.token)).status).toBe(200);
  expect((await ask('/v1/memory/k', minted.token, put)).status).toBe(403);
  await charon('ltx', 'revoke', minted.key.key_id);
  expect((await ask('/v1/memory/k', minted.token)).status).toBe(401);
  const { keys } = await charon('ltx', 'ls', fetched.agent_id);
  expect(keys.map((key: { kind: string; revoked_at: string | null }) => [key.kind, key.revoked_at !== null])).toEqual([
    ['read', true],
    ['root', false],
  ]);
  expect(await charon('custody', 'close', fetched.agent_id)).toMatchObject({ state: 'closed', current_epoch: 1 });
  expect(await charon('custody', 'open', fetched.agent_id)).toMatchObject({ state: 'open', current_epoch: 2 });
  const wrong = await runProgram('charon', ['ltx', 'mint', fetched.agent_id, '--kind', 'all', '--home', home]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('root, full, memory, read')]);
  const unknown = await runProgram('charon', ['ltx', 'mint', 'principal_0000000000000000', '--home', home]);
  expect(unknown.code).toBe(1);
  expect(await served.stop('SIGTERM')).toBe(0);
});
