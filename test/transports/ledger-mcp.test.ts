import { expect, onTestFinished, test } from 'vitest';
import { openLedgerDoor } from '../conformance/ledger-door.ts';
import { type AgentClient, type ClientKind, clientKinds, connectClient } from '../support/mcp-clients.ts';

const tools = ['lithtrix_memory_set', 'lithtrix_memory_get', 'lithtrix_memory_search', 'lithtrix_memory_context'];

/** An engine with an agent that holds a ledger key, connected as that kind of client. */
async function connected(kind: ClientKind, keyKind: 'root' | 'read' = 'root') {
  const door = await openLedgerDoor();
  const agent = await door.agent('one', keyKind);
  const client: AgentClient = await connectClient(kind, { url: door.app.doors.mcp ?? '', token: agent.token });
  onTestFinished(() => client.close());
  return { door, agent, client };
}

test.each(clientKinds)('T138 %s sees the four tools and calls them; answers are the bodies of /v1', async (kind) => {
  const { agent, client } = await connected(kind);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(tools);
  const value = { text: 'espresso in the morning', list: [1, null, 'é😀'] };
  const set = await client.call('lithtrix_memory_set', { key: 'coffee', value, importance: 'high', ttl: 60 });
  expect(set).toMatchObject({ isError: false, structured: { status: 'success', key: 'coffee', version: 1, ttl: 60 } });
  const get = await client.call('lithtrix_memory_get', { key: 'coffee' });
  expect(get.structured).toEqual((await agent.get('/memory/coffee')).value);
  expect(JSON.parse(get.text)).toEqual(get.structured);
  const search = await client.call('lithtrix_memory_search', { q: 'espresso', threshold: 0.1 });
  expect(search.structured).toEqual((await agent.get('/memory/search?q=espresso&threshold=0.1')).value);
  const context = await client.call('lithtrix_memory_context', {});
  expect(context.structured).toEqual((await agent.get('/memory/context')).value);
});

test('T138 refusals of the tools carry the code, and a key sees and calls nothing else', async () => {
  const { door, client } = await connected('sdk1', 'read');
  expect((await client.listTools()).map(({ name }) => name)).toEqual(tools.slice(1));
  const refusal = async (name: string, input: Record<string, unknown>): Promise<unknown> => {
    const answer = await client.call(name, input);
    return [answer.isError, answer.structured.code];
  };
  expect(await refusal('lithtrix_memory_get', { key: 'never' })).toEqual([true, 'MEMORY_KEY_NOT_FOUND']);
  expect(await refusal('lithtrix_memory_get', { key: 'a b' })).toEqual([true, 'MEMORY_KEY_INVALID']);
  expect(await refusal('lithtrix_memory_search', { q: ' ' })).toEqual([true, 'MEMORY_QUERY_REQUIRED']);
  expect(await refusal('lithtrix_memory_set', { key: 'k', value: 1 })).toEqual([true, 'INSUFFICIENT_KEY_SCOPE']);
  expect(await refusal('memory_status', { project: 'demo' })).toEqual([true, 'INSUFFICIENT_KEY_SCOPE']);
  for (const name of ['ledger_put', 'ledger.put', 'ledger_rotate_key', 'ltx_mint', 'ledger_history'])
    expect(await refusal(name, {})).toEqual([true, 'COMMAND_UNKNOWN']);
  await door.owner('ltx.revoke', { key_id: (await door.owner('ltx.list', {})).keys[0]?.key_id ?? '' });
  await expect(client.call('lithtrix_memory_context', {})).rejects.toThrow();
});

test('T138 an obol sees the tools of the ledger beside those of memory', async () => {
  const door = await openLedgerDoor();
  const agent = await door.agent('one');
  const { token } = await door.owner('obol.mint', { principal_id: agent.principalId });
  const client = await connectClient('sdk2-auto', { url: door.app.doors.mcp ?? '', token });
  onTestFinished(() => client.close());
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...tools, 'memory_status']));
  expect((await client.call('lithtrix_memory_set', { key: 'k', value: null })).isError).toBe(false);
  expect((await agent.get('/memory/k')).value.value).toBeNull();
});
