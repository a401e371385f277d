import { expect, test } from 'vitest';
import type { BridgeAnswer, BridgeEvents, MemoryGitBridge } from '../../../src-preload/contract/bridge.ts';
import { createClient } from '../../../src-renderer/bridge/client.ts';
import { createWindowTransport } from '../../../src-renderer/bridge/window-transport.ts';

type Listeners = { readonly [Name in keyof BridgeEvents]: Set<(payload: BridgeEvents[Name]) => void> };

/** The window's bridge with one answer for every request, and a way to send events through it. */
function bridgeWith(answer: BridgeAnswer) {
  const listeners: Listeners = { engine: new Set(), state: new Set(), open: new Set() };
  const bridge: MemoryGitBridge = {
    request: async () => answer,
    subscribe(event, listener) {
      listeners[event].add(listener);
      return () => listeners[event].delete(listener);
    },
  };
  const send = <Name extends keyof BridgeEvents>(name: Name, payload: BridgeEvents[Name]): void => {
    for (const listener of listeners[name]) listener(payload);
  };
  return { bridge, send };
}

test('an answer is parsed and a fault becomes a refusal', async () => {
  const good = createClient(createWindowTransport(bridgeWith({ ok: true, output: { projects: [] } }).bridge));
  expect(await good.request('project.list', {})).toEqual({ projects: [] });
  const fault = { code: 'READ_ONLY', kind: 'read_only', message: 'recovery', data: {} } as const;
  const refused = createClient(createWindowTransport(bridgeWith({ ok: false, fault }).bridge));
  await expect(refused.request('project.list', {})).rejects.toMatchObject({ code: 'READ_ONLY', message: 'recovery' });
});

test('the connection is what the shell says of its engine', () => {
  const { bridge, send } = bridgeWith({ ok: true, output: null });
  const { connection } = createWindowTransport(bridge);
  expect(connection.get()).toBe('connecting');
  send('state', { kind: 'running', mcpUrl: null });
  expect(connection.get()).toBe('live');
  send('state', { kind: 'restarting', attempt: 1 });
  expect(connection.get()).toBe('reconnecting');
  send('state', { kind: 'stopped', fault: { code: 'CLOSED', kind: 'unavailable', message: 'm', data: {} } });
  expect(connection.get()).toBe('stopped');
});

test('a place that the shell asks for reaches the desk until it stops listening', () => {
  const { bridge, send } = bridgeWith({ ok: true, output: null });
  const heard: string[] = [];
  const stop = createClient(createWindowTransport(bridge)).subscribePlaces((place) => heard.push(place));
  send('open', '/inbox/p1');
  stop();
  send('open', '/inbox/p2');
  expect(heard).toEqual(['/inbox/p1']);
});
