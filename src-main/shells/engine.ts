import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type App, openApp } from '../app.ts';
import { assert, assertNever } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { toFault } from '../base/fault.ts';
import { type Ids, systemIds } from '../base/ids.ts';
import { openLog } from '../base/log.ts';
import { hostKeychain } from './engine-keychain.ts';
import type { EngineInbound, EngineOptions, EngineOutbound } from './engine-protocol.ts';

/** The engine in a thread of its own: the window's shell starts it and speaks `engine-protocol.ts` with it. */
export async function runEngine(port: MessagePort, options: EngineOptions): Promise<void> {
  const say = (message: EngineOutbound): void => port.postMessage(message);
  const log = openLog('info');
  const ids = systemIds();
  const keychain = hostKeychain((id, ask) => say({ kind: 'keychain', id, ask }));
  // The keychain answers while the home opens; whatever else comes that early waits.
  const early: ToEngine[] = [];
  let receive = (message: ToEngine): void => void early.push(message);
  port.on('message', (message: EngineInbound) => {
    if (message.kind === 'keychain') keychain.receive(message.id, message.answer);
    else receive(message);
  });
  let app: App;
  try {
    app = await openApp({
      home: options.home,
      env: process.env,
      doors: { agentPort: options.port, ownerPageDir: options.ownerPage ? options.rendererDir : null },
      version: options.version,
      clock: systemClock,
      ids,
      log,
      keychain,
    });
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code === 'INTERNAL') log.fatal({ err: thrown }, 'the engine could not start');
    say({ kind: 'failed', fault: fault.toWire() });
    port.close();
    return;
  }
  app.commands.subscribe((event) => say({ kind: 'event', event }));
  const setDesk = deskOf(app);
  receive = (message) => {
    if (message.kind === 'desk') setDesk(message.open);
    else void answer(app, ids, port, message);
  };
  const { mcp, ownerPage: owner, socket } = app.doors;
  say({ kind: 'ready', doors: { mcp, ledger: null, owner, socket, home: app.home } });
  for (const message of early.splice(0)) receive(message);
}

/** Attaches a desk to the engine while its window is open. */
function deskOf(app: App): (isOpen: boolean) => void {
  let detach: (() => void) | undefined;
  return (isOpen) => {
    detach?.();
    detach = isOpen ? app.commands.attachDesk() : undefined;
  };
}

type ToEngine = Exclude<EngineInbound, { readonly kind: 'keychain' }>;

/** Answers one message. Never rejects: what goes wrong is a fault on its way back. */
async function answer(
  app: App,
  ids: Ids,
  port: MessagePort,
  message: Exclude<ToEngine, { readonly kind: 'desk' }>,
): Promise<void> {
  const say = (reply: EngineOutbound): void => port.postMessage(reply);
  if (message.kind === 'close') {
    await app.close();
    say({ kind: 'closed' });
    port.close();
    return;
  }
  if (message.kind !== 'request') return assertNever(message, 'the shell asks or closes');
  const { id, name, input } = message;
  try {
    const output = await app.commands.run({
      name,
      input,
      caller: app.ownerCaller('window'),
      client: 'desk',
      correlationId: ids.uuidv7(),
    });
    say({ kind: 'result', id, output });
  } catch (thrown) {
    say({ kind: 'fault', id, fault: toFault(thrown).toWire() });
  }
}

if (parentPort !== null) {
  assert(typeof workerData === 'object' && workerData !== null, 'the engine is started with its options');
  await runEngine(parentPort, workerData);
}
