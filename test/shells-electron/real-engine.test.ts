import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EngineHost, hostEngine } from '../../src-main/shells/electron/engine-host.ts';
import { systemKeychain } from '../../src-main/shells/electron/system-keychain.ts';
import type { EngineOptions } from '../../src-main/shells/engine-protocol.ts';
import type { EngineState } from '../../src-preload/contract/bridge.ts';
import { StandInKeychain } from '../support/keychain-stand-in.ts';

let home = '';
const open: EngineHost[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'memory-git-engine-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()));
  rmSync(home, { recursive: true, force: true });
});

/** Hosts the engine itself, in a thread, as the window's shell does. */
function start(storage = new StandInKeychain()) {
  const states: EngineState[] = [];
  const events: unknown[] = [];
  const options: EngineOptions = { home, port: 0, ownerPage: false, rendererDir: null, version: '0.1.0' };
  const host = hostEngine({
    start: () =>
      new Worker(resolve(import.meta.dirname, '../../src-main/shells/engine.ts'), {
        workerData: options,
        stderr: true,
      }),
    keychain: systemKeychain(storage, 'linux'),
    onState: (state) => states.push(state),
    onEvent: (event) => events.push(event),
    restartsMax: 0,
    closeLimitMs: 10_000,
  });
  open.push(host);
  return { host, states, events };
}

test('E13 the engine runs in its thread and answers the window as the owner', async () => {
  const { host, states, events } = start();
  expect(await host.request('project.list', {})).toEqual({ ok: true, output: { projects: [] } });
  expect(states).toMatchObject([
    { kind: 'running', mcpUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) },
  ]);
  const reconciled = await host.request('principal.reconcile', {
    name: 'Scribe',
    profile: 'propose',
    project: 'notes',
  });
  expect(reconciled).toMatchObject({ ok: true, output: { created: true, principal: { name: 'Scribe' } } });
  expect(events).toMatchObject([{ kind: 'principal_changed' }]);
});

test('E13 a refusal of a command comes back as its fault', async () => {
  const { host } = start();
  expect(await host.request('project.list', { surplus: 1 })).toMatchObject({
    ok: false,
    fault: { code: 'INPUT_INVALID', kind: 'invalid' },
  });
  expect(await host.request('no.such', {})).toMatchObject({ ok: false, fault: { code: 'COMMAND_UNKNOWN' } });
});

test('E15 E16 a second engine on the home refuses to start; after the first has closed, one can', async () => {
  const first = start();
  await first.host.request('project.list', {});
  const second = start();
  expect(await second.host.request('project.list', {})).toMatchObject({ ok: false, fault: { code: 'HOME_LOCKED' } });
  expect(second.states).toMatchObject([{ kind: 'stopped', fault: { code: 'HOME_LOCKED' } }]);
  await first.host.close();
  expect(existsSync(join(home, 'charon.db-wal'))).toBe(false);
  expect(await start().host.request('project.list', {})).toMatchObject({ ok: true });
});
