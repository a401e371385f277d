import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { sendBytes } from './raw-http.ts';
import { eventually } from './stage.ts';
import { callStatus, expectRefused, listTools, openStagedDoor } from './staged-door.ts';

/** A raw connection that sends this and reads nothing; `closed` tells when the other side cut it off. */
function hold(port: number, bytes: string): { readonly socket: Socket; readonly closed: Promise<void> } {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(bytes);
  return { socket, closed: new Promise((closed) => socket.once('close', () => closed())) };
}

function head(host: string, token: string, contentLength: number): string {
  return `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${contentLength}\r\n\r\n`;
}

/** A call of a 2026-07-28 client. */
const modernCall = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'memory_status',
    arguments: { project: 'demo' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'modern', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const modernHeaders = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'memory_status',
};

describe('nobody holds a place for ever', () => {
  test('T19 a connection that says nothing is cut off', async () => {
    const { door } = await openStagedDoor({ limits: { headersTimeoutMs: 200 } });
    expect(await sendBytes(door.port, '')).toMatch(/^$|^HTTP\/1\.1 408 /);
  });

  test('T19 a body that trickles is cut off, and its place serves the next', async () => {
    const { ask, door, guard, host, good } = await openStagedDoor({
      limits: { concurrentMax: 1, headersTimeoutMs: 200, requestTimeoutMs: 900 },
    });
    const { socket, closed } = hold(door.port, head(host, good, 100_000));
    const trickle = setInterval(() => socket.write(' '), 50);
    onTestFinished(() => clearInterval(trickle));
    const other = { authorization: `Bearer ${guard.admit(2)}` };
    await eventually(async () => expect((await ask(other)).status).toBe(429));
    await closed;
    await eventually(async () => expect((await ask(other)).status).toBe(200));
  });

  test('T19 an answer that takes too long is refused or cut off, and what comes of it later disturbs nobody', async () => {
    const finish: (() => void)[] = [];
    const { ask, bearer } = await openStagedDoor({
      limits: { concurrentMax: 1, answerTimeoutMs: 200 },
      answer: () => new Promise((resolve) => finish.push(() => resolve({ late: true }))),
    });
    const refused = await ask({ ...bearer, ...modernHeaders }, modernCall);
    expectRefused(refused, 408, 'TIMED_OUT');
    expect(refused.headers.connection).toBe('close');
    await expect(ask(bearer, callStatus)).rejects.toThrow(/hang up|reset/);
    await eventually(async () => expect((await ask(bearer)).status).toBe(200));
    expect(finish).toHaveLength(2);
    for (const late of finish) late();
    expect((await ask(bearer)).status).toBe(200);
  });

  test('T19 who leaves an answer lying is cut off, who takes it has it whole', async () => {
    const { ask, door, guard, host, good } = await openStagedDoor({
      limits: { concurrentMax: 1, stallTimeoutMs: 1_000 },
      answer: () => ({ blob: 'x'.repeat(45_000) }),
    });
    // The largest answer there is: one bounded result beside the other, in a batch.
    const batch = `[${Array.from({ length: 100 }, (_, id) => callStatus.replace('"id":1', `"id":${id}`)).join(',')}]`;
    const request = `${head(host, good, Buffer.byteLength(batch))}${batch}`;
    const stuck = hold(door.port, request);
    stuck.socket.pause();
    const other = { authorization: `Bearer ${guard.admit(2)}` };
    await eventually(async () => expect((await ask(other)).status).toBe(429));
    await eventually(async () => expect((await ask(other)).status).toBe(200));

    const answer = await ask(other, batch);
    expect(answer.body.length).toBeGreaterThan(9_000_000);
  });
});

describe('one crowds out nobody else', () => {
  test('T13 of the places one principal has three quarters at most', async () => {
    const waiting: (() => void)[] = [];
    const { ask, bearer, guard } = await openStagedDoor({
      limits: { concurrentMax: 4 },
      answer: () => new Promise((resolve) => waiting.push(() => resolve({ done: true }))),
    });
    const running = [1, 2, 3].map(() => ask(bearer, callStatus));
    await eventually(() => expect(waiting).toHaveLength(3));
    expectRefused(await ask(bearer, callStatus), 429, 'RATE_LIMITED');
    expect((await ask({ authorization: `Bearer ${guard.admit(2)}` })).status).toBe(200);
    for (const finish of waiting) finish();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await ask(bearer)).status).toBe(200);
  });

  test('T12 in the midst of a flood of one principal every call of another is served', async () => {
    const { ask, bearer, guard } = await openStagedDoor({ limits: { perPrincipal: { perSecond: 10, burst: 10 } } });
    const other = { authorization: `Bearer ${guard.admit(2)}` };
    const flood = Array.from({ length: 100 }, () => ask(bearer, listTools));
    const served = await Promise.all(Array.from({ length: 10 }, () => ask(other, listTools)));
    expect(served.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90);
  });
});

describe('every tool', () => {
  test('T32 has a name that stays under 60 characters behind the name of the server, as clients write it', () => {
    for (const { name, tool } of commandTable) {
      if (tool) expect(`mcp__memory-git__${name.replace('.', '_')}`.length, name).toBeLessThan(60);
    }
  });

  test('T32 is hidden from whoever lacks its scope, shown to whoever has it, and says whether it changes anything', async () => {
    const { ask, guard } = await openStagedDoor();
    let number = 10;
    for (const row of commandTable.filter(({ tool }) => tool)) {
      const { scope } = row;
      if (scope === 'owner') throw new Error(`${row.name} is a tool of the owner`);
      const listed = async (rights: readonly (typeof scope)[]): Promise<string> => {
        number += 1;
        return (await ask({ authorization: `Bearer ${guard.admit(number, rights)}` })).body;
      };
      const name = `"name":"${row.name.replace('.', '_')}"`;
      expect(await listed([scope]), row.name).toContain(name);
      expect(await listed([]), row.name).not.toContain(name);
      expect(row.annotations.readOnlyHint && row.mutates, row.name).toBe(false);
      expect(row.annotations.destructiveHint, row.name).toBe(false);
    }
  });
});
