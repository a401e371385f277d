import { afterEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandCall } from '../../src-main/commands/api.ts';
import { openAgentDoor } from '../../src-main/transports/agent-door.ts';
import { httpStatusByFault, reasonOf } from '../../src-main/transports/fault-status.ts';
import { commandNameOf, toolsOf } from '../../src-main/transports/mcp-tools.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { type FaultCode, faultKindByCode } from '../../src-preload/contract/faults.ts';
import { type AgentClient, clientKinds, connectClient } from '../support/mcp-clients.ts';
import { fakeClock, gate, stage } from './stage.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(answer?: (call: CommandCall) => unknown) {
  const commands = stage(answer);
  const guard = gate();
  const door = await openAgentDoor({
    port: 0,
    commands,
    charon: guard,
    clock: fakeClock(),
    log: silentLog,
    version: '0.1.0',
    ready: async () => ({ ok: true, problems: [] }),
  });
  closers.push(() => door.close());
  const client = async (kind: (typeof clientKinds)[number], token = guard.admit(1)): Promise<AgentClient> => {
    const connected = await connectClient(kind, { url: door.mcpUrl, token });
    closers.push(() => connected.close());
    return connected;
  };
  return { door, commands, guard, client };
}

const toolRows = commandTable.filter((row) => row.tool);
const toolName = (name: string): string => name.replace('.', '_');

describe('clients of both eras', () => {
  test.each([
    ['sdk1', '2025-11-25'],
    ['sdk2-auto', '2026-07-28'],
    ['sdk2-legacy', '2025-11-25'],
  ] as const)('T20 T21 T22 a client of kind %s speaks %s, lists the tools and calls one', async (kind, version) => {
    const { commands, client } = await open();
    const connected = await client(kind);
    expect(connected.protocolVersion).toBe(version);
    const tools = await connected.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(toolRows.map((row) => toolName(row.name)));
    const answer = await connected.call('memory_status', { project: 'demo' });
    expect(answer.structured).toEqual({ called: 'memory.status' });
    expect(commands.calls).toHaveLength(1);
    expect(commands.calls[0]?.input).toEqual({ project: 'demo' });
    expect(commands.calls[0]?.caller.door).toBe('agent');
  });

  test.each(clientKinds)('T29 the name and version of a client of kind %s reach the command', async (kind) => {
    const { commands, client } = await open();
    const connected = await client(kind);
    await connected.call('memory_status', { project: 'demo' });
    expect(commands.calls[0]?.client).toBe(`test-${kind} 1.2.3`);
  });

  test.each(clientKinds)(
    'T26 a result for a client of kind %s is structured, and the same whole as text',
    async (kind) => {
      const output = { memories: [{ content: 'naïve “quotes” \u202e <img onerror=1>\n日本' }], n: 1.5, none: null };
      const { client } = await open(() => output);
      const connected = await client(kind);
      await connected.listTools();
      const answer = await connected.call('memory_status', { project: 'demo' });
      expect(answer.isError).toBe(false);
      expect(answer.structured).toEqual(output);
      expect(JSON.parse(answer.text)).toEqual(output);
    },
  );

  test.each(clientKinds)(
    'T27 T28 what a client of kind %s gets wrong goes through the pipeline and comes back as isError',
    async (kind) => {
      const { commands, client, guard } = await open();
      const connected = await client(kind, guard.admit(2, ['memory.read']));
      await connected.listTools();

      const unknownKey = await connected.call('memory_status', { project: 'demo', tenant: 'x' });
      expect(unknownKey.isError).toBe(true);
      expect(unknownKey.text.split('\n')[0]).toBe('invalid: input invalid');
      expect(unknownKey.structured).toMatchObject({
        code: 'INPUT_INVALID',
        message: expect.stringContaining('tenant'),
        data: { issues: 1 },
      });
      expect(JSON.parse(unknownKey.text.split('\n')[1] ?? '')).toEqual(unknownKey.structured);

      const unlisted = await connected.call('memory_merge', { proposal_id: 'x', idempotency_key: 'k' });
      expect(unlisted.text.split('\n')[0]).toBe('denied: scope missing');
      const unknown = await connected.call('memory_forget_everything');
      expect(unknown.text.split('\n')[0]).toBe('invalid: command unknown');
      const owners = await connected.call('obol_mint', { principal_id: 'x' });
      expect(owners.structured.code).toBe('COMMAND_UNKNOWN');
      const dotted = await connected.call('memory.status', { project: 'demo' });
      expect(dotted.structured.code).toBe('COMMAND_UNKNOWN');

      expect(commands.calls.map((call) => call.name)).toEqual([
        'memory.status',
        'memory.merge',
        'memory_forget_everything',
        'obol_mint',
        'tool:memory.status',
      ]);
    },
  );

  test('T28 an error of our own says nothing of its cause', async () => {
    const { client } = await open(() => {
      throw new Error('the secret memory text at /home/someone');
    });
    const answer = await (await client('sdk1')).call('memory_status', { project: 'demo' });
    expect(answer.text.split('\n')[0]).toBe('unavailable: internal');
    expect(answer.structured.code).toBe('INTERNAL');
    expect(answer.text).not.toContain('secret');
  });

  test('T28 a stale proposal and a self review carry the words of the protocol', async () => {
    const faults: FaultCode[] = ['PROPOSAL_STALE', 'SELF_REVIEW', 'SELF_APPROVAL'];
    const { client } = await open(() => {
      throw new Fault(faults.shift() ?? 'INTERNAL', 'said for people');
    });
    const connected = await client('sdk2-auto');
    const lines: string[] = [];
    for (let n = 0; n < 3; n += 1)
      lines.push((await connected.call('memory_status', { project: 'demo' })).text.split('\n')[0] ?? '');
    expect(lines).toEqual(['conflict: stale', 'denied: self review', 'denied: self approval']);
  });
});

describe('the list', () => {
  test('T23 holds what the scopes admit, in table order, twice the same, and no command of the owner', async () => {
    const { client, guard } = await open();
    const connected = await client('sdk2-auto', guard.admit(2, ['memory.read', 'memory.search']));
    const names = (await connected.listTools()).map((tool) => tool.name);
    const expected = toolRows
      .filter((row) => row.scope === 'memory.read' || row.scope === 'memory.search')
      .map((row) => toolName(row.name));
    expect(names).toEqual(expected);
    expect(expected.length).toBeLessThan(toolRows.length);
    const again = await client('sdk1', guard.admit(2, ['memory.read', 'memory.search']));
    const [first, second] = [await again.listTools(), await again.listTools()];
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    expect(first.map((tool) => tool.name)).toEqual(expected);
  });

  test('T24 T25 every schema is closed and portable, the output schema open, the annotations those of the contract', async () => {
    const { client } = await open();
    for (const tool of await (await client('sdk1')).listTools()) {
      const row = toolRows.find(({ name }) => toolName(name) === tool.name);
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      const text = JSON.stringify(tool.inputSchema);
      expect(text).not.toMatch(/\(\?[=!<]|\\\\p|\$ref|\$defs/);
      expect(row?.input.safeParse({}).success).toBe(tool.inputSchema.required === undefined);
      expect(tool.outputSchema).toEqual({ type: 'object' });
      expect(tool.annotations).toEqual({ title: row?.title, ...row?.annotations, openWorldHint: false });
      expect(tool.description).toBe(row?.description);
      expect(tool.name.length).toBeLessThanOrEqual(40);
    }
  });

  test('T23 a command of the owner is no tool, whoever asks', () => {
    expect(toolsOf(commandTable).map((tool) => tool.name)).toEqual(toolRows.map((row) => toolName(row.name)));
  });

  test('T27 no name that a client can spell becomes a command but the tools', () => {
    for (const row of commandTable) {
      expect(commandNameOf(toolName(row.name))).toBe(row.tool ? row.name : toolName(row.name));
      expect(commandNameOf(row.name)).not.toBe(row.name);
    }
  });
});

describe('refusals as tables', () => {
  test('T30 every fault code has a status and a reason of one plain line', () => {
    const codes = Object.keys(faultKindByCode);
    expect(Object.keys(httpStatusByFault).sort()).toEqual(codes.sort());
    for (const [code, status] of Object.entries(httpStatusByFault)) {
      expect(status, code).toBeGreaterThanOrEqual(400);
      expect(status, code).toBeLessThan(600);
    }
    expect(reasonOf('REF_MOVED')).toBe('ref moved');
    expect(reasonOf('PROPOSAL_STALE')).toBe('stale');
  });
});
