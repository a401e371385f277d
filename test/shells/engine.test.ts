import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { openAccess } from '../../src-main/shells/cli-access.ts';
import type { EngineInbound, EngineOptions, EngineOutbound } from '../../src-main/shells/engine-protocol.ts';
import { serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

/** The engine in a thread, as the window's shell starts it, with what it has said. */
function startEngine(home: string) {
  const options: EngineOptions = { home, port: 0, ownerPage: false, rendererDir: null, version: '1.2.3' };
  const thread = new Worker(new URL('../../src-main/shells/engine.ts', import.meta.url), { workerData: options });
  onTestFinished(async () => void (await thread.terminate()));
  const said: EngineOutbound[] = [];
  const waiting: {
    readonly wanted: (message: EngineOutbound) => boolean;
    readonly resolve: (message: EngineOutbound) => void;
  }[] = [];
  thread.on('message', (message: EngineOutbound) => {
    said.push(message);
    for (const each of waiting) if (each.wanted(message)) each.resolve(message);
  });
  return {
    thread,
    said,
    send: (message: EngineInbound) => thread.postMessage(message),
    hear: (wanted: (message: EngineOutbound) => boolean): Promise<EngineOutbound> =>
      new Promise((resolve) => {
        const already = said.find(wanted);
        if (already === undefined) waiting.push({ wanted, resolve });
        else resolve(already);
      }),
  };
}

const answers = (id: number) => (message: EngineOutbound) => 'id' in message && message.id === id;

test('X14 the engine opens its doors, answers, refuses, reports events and closes', async () => {
  const home = join(tempFolder(), 'home');
  const engine = startEngine(home);
  expect(await engine.hear(({ kind }) => kind === 'ready' || kind === 'failed')).toEqual({
    kind: 'ready',
    doors: {
      mcp: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
      ledger: null,
      owner: null,
      socket: expect.any(String),
      home,
    },
  });
  engine.send({ kind: 'request', id: 1, name: 'engine.status', input: {} });
  expect(await engine.hear(answers(1))).toMatchObject({
    kind: 'result',
    output: { version: '1.2.3', home, owner: { profile: 'owner' } },
  });
  engine.send({ kind: 'request', id: 2, name: 'engine.status', input: { extra: 1 } });
  expect(await engine.hear(answers(2))).toMatchObject({
    kind: 'fault',
    fault: { code: 'INPUT_INVALID', kind: 'invalid' },
  });
  engine.send({ kind: 'request', id: 3, name: 'memory.repo_init', input: { project: 'demo' } });
  expect(await engine.hear(answers(3))).toMatchObject({
    kind: 'result',
    output: { ref: { ref_name: 'refs/shared/main' } },
  });
  expect(engine.said).toContainEqual({ kind: 'event', event: { kind: 'project_created', project_id: 'demo' } });

  // While a window is open, who comes through the socket waits for a click in it.
  engine.send({ kind: 'desk', open: true });
  const waits: string[] = [];
  const onWaiting = (line: string): void => void waits.push(line);
  const shell = await openAccess({ home, env: {}, create: false, storeOnly: false, onWaiting });
  const set = shell.call('registration.set_open', { open: true });
  set.catch(() => undefined);
  await vi.waitFor(() => expect(waits).toEqual(['charon registration open']), { timeout: 10_000 });
  engine.send({ kind: 'request', id: 4, name: 'owner_request.list', input: {} });
  const listed = z
    .object({ output: z.object({ requests: z.tuple([z.object({ request_id: z.string() })]) }) })
    .parse(await engine.hear(answers(4)));
  const [{ request_id: id }] = listed.output.requests;
  engine.send({ kind: 'request', id: 5, name: 'owner_request.decide', input: { request_id: id, decision: 'allow' } });
  expect(await set).toEqual({ open: true });
  await shell.close();

  const gone = once(engine.thread, 'exit');
  engine.send({ kind: 'close' });
  await engine.hear(({ kind }) => kind === 'closed');
  expect(engine.said.at(-1)).toEqual({ kind: 'closed' });
  expect(await gone).toEqual([0]);
  expect(existsSync(join(home, 'lethe.db-wal'))).toBe(false);
}, 60_000);

test('X14 an engine that cannot start says why and ends', async () => {
  const home = join(tempFolder(), 'home');
  const served = await serveCharon(home);
  const engine = startEngine(home);
  const gone = once(engine.thread, 'exit');
  expect(await engine.hear(({ kind }) => kind === 'ready' || kind === 'failed')).toMatchObject({
    kind: 'failed',
    fault: { code: 'HOME_LOCKED', data: { pid: served.pid } },
  });
  expect(await gone).toEqual([0]);
}, 60_000);
