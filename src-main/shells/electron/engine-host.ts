import type { BridgeAnswer, EngineState } from '../../../src-preload/contract/bridge.ts';
import type { EngineEvent } from '../../../src-preload/contract/events.ts';
import { type FaultWire, faultKindByCode } from '../../../src-preload/contract/faults.ts';
import { assertNever } from '../../base/assert.ts';
import type { Keychain } from '../../home/keychain.ts';
import type { EngineInbound, EngineOutbound } from '../engine-protocol.ts';
import { answerFrom } from './system-keychain.ts';

/** The thread that the engine runs in; `Worker` of node:worker_threads is one. */
export interface EngineThread {
  postMessage(message: EngineInbound): void;
  on(event: 'message', listener: (message: EngineOutbound) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

export interface EngineHostOptions {
  readonly start: () => EngineThread;
  /** Seals and unseals for the engine, which has no keychain of its own. */
  readonly keychain: Keychain;
  readonly onState: (state: EngineState) => void;
  readonly onEvent: (event: EngineEvent) => void;
  /** How often an engine that died is started again before the desk says that it has stopped. */
  readonly restartsMax: number;
  /** How long closing may take before the thread is ended as it is: its databases survive that. Milliseconds. */
  readonly closeLimitMs: number;
}

export interface EngineHost {
  state(): EngineState;
  /** Runs one command. While the engine is starting it waits; once it has stopped the answer is `CLOSED`. */
  request(name: string, input: unknown): Promise<BridgeAnswer>;
  /** Says whether a window is open, at which the owner can click; an engine that starts anew is told too. */
  setDesk(open: boolean): void;
  /** Lets the engine close its databases, then resolves. A second call waits for the first. */
  close(): Promise<void>;
}

type EngineMessage<Kind extends EngineOutbound['kind']> = Extract<EngineOutbound, { readonly kind: Kind }>;

interface Waiting {
  readonly name: string;
  readonly input: unknown;
  readonly settle: (answer: BridgeAnswer) => void;
}

/** Requests that may wait or run at once: far more than a desk has, few enough to hold. */
const waitingMax = 1_000;

/**
 * Hosts the engine: starts its thread, carries requests to it and events from it, starts it again when it dies.
 * What was under way in an engine that died is answered `CLOSED`: it may or may not have been done, and a write that is
 * sent again under its idempotency key finds out.
 */
export function hostEngine(options: EngineHostOptions): EngineHost {
  const queued: Waiting[] = [];
  const running = new Map<number, Waiting>();
  let state: EngineState = { kind: 'starting' };
  let nextId = 1;
  let restarts = 0;
  let closing: Promise<void> | undefined;
  let deskIsOpen = false;
  let thread = launch();

  function launch(): EngineThread {
    const started = options.start();
    let failed: FaultWire | undefined;
    started.on('message', (message) => {
      if (message.kind === 'failed') failed = message.fault;
      else if (message.kind === 'keychain') void askKeychain(started, message);
      else receive(message);
    });
    // An error is followed by the exit; without a listener it would end the whole app.
    started.on('error', () => undefined);
    started.on('exit', () => ended(failed));
    return started;
  }

  /** The answer goes to the thread that asked: one that died meanwhile hears nothing. */
  async function askKeychain(asking: EngineThread, { id, ask }: EngineMessage<'keychain'>): Promise<void> {
    asking.postMessage({ kind: 'keychain', id, answer: await answerFrom(options.keychain, ask) });
  }

  function enter(next: EngineState): void {
    state = next;
    options.onState(next);
  }

  function receive(message: Exclude<EngineOutbound, EngineMessage<'failed' | 'keychain'>>): void {
    switch (message.kind) {
      case 'ready':
        enter({ kind: 'running', mcpUrl: message.doors.mcp });
        if (deskIsOpen) thread.postMessage({ kind: 'desk', open: true });
        for (const waiting of queued.splice(0)) post(waiting);
        return;
      case 'result':
        settle(message.id, { ok: true, output: message.output });
        return;
      case 'fault':
        settle(message.id, { ok: false, fault: message.fault });
        return;
      case 'event':
        options.onEvent(message.event);
        return;
      case 'closed':
        return;
      default:
        assertNever(message, 'the engine speaks its protocol');
    }
  }

  function settle(id: number, answer: BridgeAnswer): void {
    running.get(id)?.settle(answer);
    running.delete(id);
  }

  function post(waiting: Waiting): void {
    const id = nextId++;
    running.set(id, waiting);
    thread.postMessage({ kind: 'request', id, name: waiting.name, input: waiting.input });
  }

  function ended(failed: FaultWire | undefined): void {
    const fault =
      failed ??
      closedFault('The engine ended unexpectedly. Start Memory Git again; nothing that was acknowledged is lost.');
    const interrupted = [...running.values()];
    running.clear();
    for (const waiting of interrupted) waiting.settle({ ok: false, fault });
    if (failed === undefined && closing === undefined && restarts < options.restartsMax) {
      restarts += 1;
      enter({ kind: 'restarting', attempt: restarts });
      thread = launch();
      return;
    }
    for (const waiting of queued.splice(0)) waiting.settle({ ok: false, fault });
    enter({ kind: 'stopped', fault });
  }

  return {
    state: () => state,
    request: (name, input) =>
      new Promise((settleRequest) => {
        const waiting = { name, input, settle: settleRequest };
        if (state.kind === 'stopped') settleRequest({ ok: false, fault: state.fault });
        else if (queued.length + running.size >= waitingMax) settleRequest({ ok: false, fault: busyFault() });
        else if (state.kind === 'running') post(waiting);
        else queued.push(waiting);
      }),
    setDesk: (open) => {
      deskIsOpen = open;
      if (state.kind === 'running') thread.postMessage({ kind: 'desk', open });
    },
    close: () => {
      closing ??= closeThread(thread, state, options.closeLimitMs);
      return closing;
    },
  };
}

function closeThread(thread: EngineThread, state: EngineState, limitMs: number): Promise<void> {
  if (state.kind === 'stopped') return Promise.resolve();
  return new Promise((resolve) => {
    const limit = setTimeout(() => void thread.terminate(), limitMs);
    thread.on('exit', () => {
      clearTimeout(limit);
      resolve();
    });
    thread.postMessage({ kind: 'close' });
  });
}

function closedFault(message: string): FaultWire {
  return { code: 'CLOSED', kind: faultKindByCode.CLOSED, message, data: {} };
}

function busyFault(): FaultWire {
  return {
    code: 'STORE_BUSY',
    kind: faultKindByCode.STORE_BUSY,
    message: 'Too many requests wait for the engine. Try again in a moment.',
    data: {},
  };
}
