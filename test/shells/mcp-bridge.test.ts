import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { doorAt, doorOfHome } from '../../src-main/shells/mcp-door.ts';
import { connectClient } from '../support/mcp-clients.ts';
import { runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';
import { connectThroughBridge, homeWithAgent, startRawBridge } from './mcp-bridge-clients.ts';

// Every program is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const status = { method: 'tools/call', params: { name: 'memory_status', arguments: { project: 'demo' } } };

test.each([
  ['sdk1', undefined],
  ['sdk2-auto', '2026-07-28'],
  ['sdk2-legacy', '2025-11-25'],
] as const)(
  'B1 B2 B5 a client of kind %s lists and calls through the bridge, and goes on after the app was killed and restarted',
  async (kind, version) => {
    const { home, token } = await homeWithAgent();
    const first = await serveCharon(home);
    const client = await connectThroughBridge(kind, ['--home', home], { MEMORY_GIT_TOKEN: token });
    expect(client.protocolVersion).toBe(version);

    const direct = await connectClient(kind, { url: first.ready.mcp ?? '', token });
    const tools = await client.listTools();
    expect(tools).toEqual(await direct.listTools());
    expect(tools.map(({ name }) => name)).toContain('memory_changeset_create');
    await direct.close();

    const made = await client.call('memory_repo_init', { project: 'demo' });
    expect(made.structured).toMatchObject({ ref: { ref_name: 'refs/shared/main' } });
    const refused = await client.call('memory_merge', {
      proposal_id: '0190b5a0-0000-7000-8000-000000000000',
      idempotency_key: 'k',
    });
    expect([refused.isError, refused.text.split('\n')[0]]).toEqual([true, 'denied: scope missing']);

    await first.stop('SIGKILL');
    const second = await serveCharon(home);
    expect(second.ready.mcp).not.toBe(first.ready.mcp);
    const after = await client.call('memory_status', { project: 'demo' });
    expect(after.structured).toMatchObject({ project: 'demo', profile: 'propose' });
    expect(await client.listTools()).toEqual(tools);
    expect(client.stderr()).toBe(`charon: connected to ${first.ready.mcp}\ncharon: connected to ${second.ready.mcp}\n`);
    await client.close();
    await second.stop('SIGTERM');
    const tokens = await runProgram('charon', ['obol', 'ls', '--home', home, '--json']);
    expect(tokens.stdout).toContain(`stdio-${kind} 1.2.3`);
  },
);

test('B3 B4 B5 B10 before the app runs everything is refused in one sentence; once it runs the same process serves', async () => {
  const { home, token } = await homeWithAgent();
  const bridge = startRawBridge(['--home', home], { MEMORY_GIT_TOKEN: token });
  const [opened, called] = await Promise.all([bridge.ask({ id: 1, ...initialize }), bridge.ask({ id: 2, ...status })]);
  const sentence = 'Memory Git is not running. Start it (open the app, or run `charon serve`), then try again.';
  expect(opened).toMatchObject({ error: { message: sentence, data: { code: 'CLOSED', kind: 'unavailable' } } });
  expect(called).toMatchObject({ result: { isError: true, structuredContent: { code: 'CLOSED', message: sentence } } });

  const served = await serveCharon(home);
  expect(await bridge.ask({ id: 3, ...initialize })).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  expect(await bridge.ask({ id: 4, ...status })).toMatchObject({ result: { structuredContent: { project: 'demo' } } });
  await served.stop('SIGTERM');
  expect(await bridge.ask({ id: 5, ...status })).toMatchObject({
    result: { structuredContent: { message: sentence } },
  });

  expect(await bridge.end()).toBe(0);
  expect(bridge.lines().map((line) => JSON.parse(line).jsonrpc)).toEqual(Array(5).fill('2.0'));
  expect(bridge.stderr().trim().split('\n')).toEqual([
    `charon: ${sentence}`,
    `charon: connected to ${served.ready.mcp}`,
    `charon: ${sentence}`,
  ]);
  expect(bridge.stderr() + bridge.lines().join()).not.toContain(token);
});

test.each(['sdk1', 'sdk2-auto'] as const)(
  'B4 a client of kind %s that starts before the app is told that it does not run',
  async (kind) => {
    const { home, token } = await homeWithAgent();
    await expect(connectThroughBridge(kind, ['--home', home], { MEMORY_GIT_TOKEN: token })).rejects.toThrow(
      'Memory Git is not running',
    );
  },
);

test('B4 B5 the door is where the home says at that moment; a home that does not exist is said, and not made', async () => {
  const home = join(tempFolder(), 'home');
  const find = doorOfHome(home, {});
  expect(find()).toMatchObject({ port: undefined, absent: { code: 'HOME_INVALID' } });
  expect(find().absent.message).toMatch(/no Memory Git home.*--home/);
  expect(existsSync(home)).toBe(false);

  mkdirSync(home);
  const host = { pid: 1, nonce: 'n1', socket: null, owner_page: null, started_at: '2026-11-30T10:00:00Z' };
  for (const [text, port, instance] of [
    [JSON.stringify({ ...host, mcp: 'http://127.0.0.1:4711/mcp' }), 4711, 'n1'],
    [JSON.stringify({ ...host, nonce: 'n2', mcp: 'http://127.0.0.1:4712/mcp' }), 4712, 'n2'],
    [JSON.stringify({ ...host, mcp: null }), undefined, 'n1'],
    [JSON.stringify({ ...host, mcp: 'http://example.org:4711/mcp' }), undefined, 'n1'],
    ['{"half', undefined, ''],
  ] as const) {
    writeFileSync(join(home, 'host.json'), text);
    expect(find()).toMatchObject({ port, instance });
  }
  writeFileSync(join(home, 'keys.json'), '{}');
  expect(find().absent).toMatchObject({ code: 'CLOSED', message: expect.stringContaining('not running') });
});

test('B7 B12 B11 a wrong token is said plainly; the right one in the same file is used from the next request on', async () => {
  const { home, token, spareToken } = await homeWithAgent();
  const served = await serveCharon(home);
  const file = join(tempFolder(), 'token');
  writeFileSync(file, `${token.slice(0, -4)}AAAA\n`, { mode: 0o600 });
  const bridge = startRawBridge(['--url', served.ready.mcp ?? '', '--token-file', file], {});
  const sentence = expect.stringMatching(/^Memory Git refuses this token/);
  expect(await bridge.ask({ id: 1, ...initialize })).toMatchObject({ error: { message: sentence } });
  expect(await bridge.ask({ id: 2, ...status })).toMatchObject({
    result: { structuredContent: { code: 'UNAUTHENTICATED', message: sentence } },
  });
  writeFileSync(file, `${token}\n`);
  expect(await bridge.ask({ id: 3, ...status })).toMatchObject({ result: { structuredContent: { project: 'demo' } } });
  writeFileSync(file, `${spareToken}\n`);
  expect(await bridge.ask({ id: 4, ...status })).toMatchObject({ result: { structuredContent: { project: 'demo' } } });
  chmodSync(file, 0o640);
  expect(await bridge.ask({ id: 5, ...status })).toMatchObject({
    result: { structuredContent: { code: 'INPUT_INVALID', message: expect.stringContaining('chmod 600') } },
  });
  expect(await bridge.end()).toBe(0);
});

test('B11 a token comes from the environment or a closed file, and what is wrong with it is said before anything else', async () => {
  const folder = tempFolder();
  const home = join(folder, 'home');
  const fileOf = (name: string, text: string, mode: number): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };
  const mcp = (args: readonly string[], env = {}) => runProgram('charon', ['mcp', '--home', home, ...args], { env });
  const refusals: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [['--token-file', fileOf('open', 'obol_secret', 0o644)], {}, /--token-file: others can read this file.*chmod 600/],
    [['--token-file', fileOf('group', 'obol_secret', 0o620)], {}, /chmod 600/],
    [['--token-file', join(folder, 'missing')], {}, /--token-file: the file cannot be read.*0600/],
    [['--token-file', folder], {}, /--token-file: this is no file/],
    [['--token-file', fileOf('two', 'obol_secret and more', 0o600)], {}, /--token-file: this is not one token/],
    [[], {}, /MEMORY_GIT_TOKEN: there is no token.*--token-file/],
    [[], { MEMORY_GIT_TOKEN: 'obol_secret obol_secret' }, /MEMORY_GIT_TOKEN: this is not one token/],
    [['--token', 'obol_secret'], {}, /unknown option '--token'/],
    [
      ['--url', 'https://example.org/mcp'],
      { MEMORY_GIT_TOKEN: 'obol_secret' },
      /--url: the agent door is on this machine/,
    ],
  ];
  for (const [args, env, message] of refusals) {
    const ran = await mcp(args, env);
    expect([args, ran.code, ran.stdout]).toEqual([args, 2, '']);
    expect(ran.stderr).toMatch(message);
    expect(ran.stderr).not.toContain(folder);
    expect(ran.stderr).not.toContain('secret');
  }
  // Standard input is closed from the start here: with a token that can be used it ends at once, and well.
  for (const mode of [0o600, 0o400])
    expect(await mcp(['--token-file', fileOf(`closed-${mode}`, 'obol_secret\n', mode)])).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  expect((await mcp([], { MEMORY_GIT_TOKEN: 'obol_secret' })).code).toBe(0);
});

test('B8 an address is this machine’s, and the agent door’s', () => {
  for (const [url, port] of [
    ['http://127.0.0.1:18484/mcp', 18_484],
    ['http://localhost:1/mcp', 1],
    ['http://127.0.0.1:18484', 18_484],
    ['http://127.0.0.1', 80],
  ] as const)
    expect(doorAt(url)().port).toBe(port);
  for (const url of [
    'http://example.org/mcp',
    'http://127.0.0.1.example.org:18484/mcp',
    'http://10.0.0.1:18484/mcp',
    'https://127.0.0.1:18484/mcp',
    'http://user:secret@127.0.0.1:18484/mcp',
    'http://127.0.0.1:18484/mcp?token=x',
    'http://127.0.0.1:18484/other',
    'http://[::1]:18484/mcp',
    '127.0.0.1:18484',
    '',
  ])
    expect(() => doorAt(url), url).toThrow('--url');
});
