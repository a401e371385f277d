import { describe, expect, test } from 'vitest';
import type { Readiness } from '../../src-main/transports/agent-door.ts';
import { eventually, principal } from './stage.ts';
import { callStatus, expectRefused, jsonHeaders, listTools, openStagedDoor, subscription } from './staged-door.ts';

describe('places', () => {
  test('T13 beyond the places the next request is refused; finished and abandoned ones give theirs back', async () => {
    const waiting: (() => void)[] = [];
    const { ask, bearer, door, host, good } = await openStagedDoor({
      limits: { concurrentMax: 2 },
      answer: () => new Promise((resolve) => waiting.push(() => resolve({ done: true }))),
    });
    const first = ask(bearer, callStatus);
    await eventually(() => expect(waiting).toHaveLength(1));
    const gone = new AbortController();
    const abandoned = fetch(door.mcpUrl, {
      method: 'POST',
      headers: {
        host,
        authorization: `Bearer ${good}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: callStatus,
      signal: gone.signal,
    });
    await eventually(() => expect(waiting).toHaveLength(2));
    expectRefused(await ask(bearer, callStatus), 429, 'RATE_LIMITED');
    gone.abort();
    await abandoned.then((answer) => answer.text()).catch(() => undefined);
    await eventually(async () => expect((await ask(bearer)).status).toBe(200));
    for (const finish of waiting) finish();
    expect((await first).status).toBe(200);
    expect((await ask(bearer)).status).toBe(200);
  });

  test('T13 T31 subscription streams have places of their own, and hear of changed rights', async () => {
    const { bearer, door, commands } = await openStagedDoor({ limits: { concurrentMax: 1, streamsMax: 1 } });
    const headers = { ...bearer, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const listen = (signal: AbortSignal | null = null): Promise<Response> =>
      fetch(door.mcpUrl, {
        method: 'POST',
        headers: { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
        body: subscription,
        signal,
      });
    const gone = new AbortController();
    const stream = await listen(gone.signal);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('notifications/subscriptions/acknowledged');
    commands.publish({ kind: 'principal_changed', principal_id: principal(1).principal_id });
    expect((await reader?.read())?.value).toContain('notifications/tools/list_changed');

    expect((await listen()).status).toBe(429);
    const list = await fetch(door.mcpUrl, { method: 'POST', headers, body: listTools });
    expect(list.status).toBe(200);
    await list.text();
    gone.abort();
    await reader?.cancel().catch(() => undefined);
    await eventually(async () => {
      const next = await listen();
      await next.body?.cancel();
      expect(next.status).toBe(200);
    });
  });
});

describe('closing', () => {
  test('T18 a call on its way gets its answer, a subscriber is cut off, a new call is not served', async () => {
    let finish = (): void => undefined;
    const { ask, bearer, door, commands } = await openStagedDoor({
      answer: () => new Promise((resolve) => (finish = () => resolve({ done: true }))),
    });
    const running = ask(bearer, callStatus);
    await eventually(() => expect(commands.calls).toHaveLength(1));
    const stream = await fetch(door.mcpUrl, {
      method: 'POST',
      headers: {
        ...bearer,
        ...jsonHeaders,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: subscription,
    });
    const closing = door.close();
    await stream.text().catch(() => 'cut');
    await expect(ask(bearer).then((answer) => answer.status)).rejects.toThrow();
    finish();
    const answer = await running;
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('done')]);
    await closing;
    expect(commands.listeners()).toBe(0);
  });

  test('T18 a call that never ends is cut off after the grace', async () => {
    const { ask, bearer, door, commands } = await openStagedDoor({ answer: () => new Promise(() => undefined) });
    const stuck = ask(bearer, callStatus).catch(() => 'cut');
    await eventually(() => expect(commands.calls).toHaveLength(1));
    const startedAt = performance.now();
    await door.close();
    expect(await stuck).toBe('cut');
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});

describe('health', () => {
  test('T14 the door answers with its own nonce, another one with another', async () => {
    const [one, two] = [await openStagedDoor(), await openStagedDoor()];
    const nonceOf = async (port: number): Promise<unknown> =>
      (await (await fetch(`http://127.0.0.1:${port}/livez`)).json()).nonce;
    expect(await nonceOf(one.door.port)).toBe(one.door.nonce);
    expect(await nonceOf(two.door.port)).toBe(two.door.nonce);
    expect(one.door.nonce).not.toBe(two.door.nonce);
  });

  test('T16 readiness is 503 with the problems while the engine cannot work, and when it cannot even be asked', async () => {
    const states: (() => Promise<Readiness>)[] = [
      async () => ({ ok: true, problems: [] }),
      async () => ({ ok: false, problems: ['the audit ledger cannot be written'] }),
      () => Promise.reject(new Error('inside text')),
    ];
    let state = 0;
    const { door } = await openStagedDoor({ ready: () => (states[state] ?? Promise.reject)() });
    const seen: unknown[] = [];
    for (; state < 3; state += 1) {
      const [ready, health] = [await fetch(`${door.url}/readyz`), await fetch(`${door.url}/health`)];
      seen.push([ready.status, await ready.json(), health.status, await health.json()]);
      expect((await fetch(`${door.url}/livez`)).status).toBe(200);
    }
    const health = { product: 'memory-git', version: '0.1.0', live: true };
    const broken = { ready: false, problems: ['the audit ledger cannot be written'] };
    const unasked = { ready: false, problems: ['the engine could not be asked'] };
    expect(seen).toEqual([
      [200, { ready: true, problems: [] }, 200, { ...health, ready: true, problems: [] }],
      [503, broken, 503, { ...health, ...broken }],
      [503, unasked, 503, { ...health, ...unasked }],
    ]);
  });
});
