import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { type EngineHost, hostEngine } from '../../src-main/shells/electron/engine-host.ts';
import { systemKeychain } from '../../src-main/shells/electron/system-keychain.ts';
import type { EngineState } from '../../src-preload/contract/bridge.ts';
import { StandInKeychain } from '../support/keychain-stand-in.ts';

const open: EngineHost[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()));
});

/** Hosts the small engine of the fixtures in a real thread. */
function start(mode = 'plain') {
  const states: EngineState[] = [];
  const events: unknown[] = [];
  let starts = 0;
  const host = hostEngine({
    start: () => {
      starts += 1;
      return new Worker(join(import.meta.dirname, 'fixtures/small-engine.ts'), { argv: [mode], stderr: true });
    },
    keychain: systemKeychain(new StandInKeychain(), 'linux'),
    onState: (state) => states.push(state),
    onEvent: (event) => events.push(event),
    restartsMax: 3,
    closeLimitMs: 300,
  });
  open.push(host);
  return { host, states, events, starts: () => starts };
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; waited < 10_000 && !condition(); waited += 10)
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}

describe('requests', () => {
  test('E13 a request made while the engine starts waits for it', async () => {
    const { host, states } = start();
    expect(host.state()).toEqual({ kind: 'starting' });
    expect(await host.request('a.b', { x: 1 })).toEqual({ ok: true, output: { name: 'a.b', input: { x: 1 } } });
    expect(states).toEqual([{ kind: 'running', mcpUrl: 'http://127.0.0.1:1/mcp' }]);
  });

  test('E13 answers find their requests, whatever their order', async () => {
    const { host } = start();
    const answers = await Promise.all([
      host.request('test.slow', 1),
      host.request('a.b', 2),
      host.request('test.refuse', 3),
      host.request('test.slow', 4),
    ]);
    expect(answers).toMatchObject([
      { output: 1 },
      { output: { input: 2 } },
      { ok: false, fault: { code: 'HOME_LOCKED' } },
      { output: 4 },
    ]);
  });

  test('E13 events are passed on', async () => {
    const { host, events } = start();
    void host.request('test.event', 'principal_0123456789abcdef');
    await until(() => events.length === 1);
    expect(events[0]).toMatchObject({ kind: 'principal_changed' });
  });

  test('E13 the number of waiting requests is bounded', async () => {
    const { host } = start();
    for (let i = 0; i < 1_000; i += 1) void host.request('test.never', i);
    expect(await host.request('a.b', 1)).toMatchObject({
      ok: false,
      fault: { code: 'STORE_BUSY', kind: 'unavailable' },
    });
  });
});

describe('an engine that dies', () => {
  test('E14 is started again; what was under way is answered, what comes after is done', async () => {
    const { host, states, starts } = start();
    const lost = host.request('test.never', 1);
    await host.request('a.b', 1);
    const fatal = host.request('test.die', 1);
    expect(await fatal).toMatchObject({ ok: false, fault: { code: 'CLOSED', kind: 'unavailable' } });
    expect(await lost).toMatchObject({ ok: false, fault: { code: 'CLOSED' } });
    expect(await host.request('a.b', 2)).toMatchObject({ ok: true });
    expect(starts()).toBe(2);
    expect(states.map((state) => state.kind)).toEqual(['running', 'restarting', 'running']);
  });

  test('E14 again and again is stopped in the end, and then says so at once', async () => {
    const { host, states, starts } = start();
    for (let death = 0; death < 4; death += 1) await host.request('test.die', death);
    expect(starts()).toBe(4);
    expect(states.at(-1)).toMatchObject({ kind: 'stopped', fault: { code: 'CLOSED' } });
    expect(await host.request('a.b', 1)).toMatchObject({ ok: false, fault: { code: 'CLOSED' } });
  });
});

test('E15 an engine that refuses to start is not started again, and its reason is kept', async () => {
  const { host, states, starts } = start('refuses');
  expect(await host.request('a.b', 1)).toMatchObject({ ok: false, fault: { code: 'HOME_LOCKED' } });
  expect(states).toMatchObject([{ kind: 'stopped', fault: { message: 'Another process has this home.' } }]);
  expect(starts()).toBe(1);
});

describe('closing', () => {
  test('E16 lets the engine close, and is no crash', async () => {
    const { host, states, starts } = start();
    await host.request('a.b', 1);
    await Promise.all([host.close(), host.close()]);
    expect(starts()).toBe(1);
    expect(states.map((state) => state.kind)).toEqual(['running', 'stopped']);
    expect(await host.request('a.b', 1)).toMatchObject({ ok: false, fault: { code: 'CLOSED' } });
  });

  test('E16 an engine that does not close is ended when the time is over', async () => {
    const { host } = start('hangs');
    await host.request('a.b', 1);
    const startedAt = Date.now();
    await host.close();
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(250);
    expect(host.state().kind).toBe('stopped');
  });

  test('E16 closing an engine that has stopped is done at once', async () => {
    const { host } = start('refuses');
    await host.request('a.b', 1);
    await expect(host.close()).resolves.toBeUndefined();
  });
});
