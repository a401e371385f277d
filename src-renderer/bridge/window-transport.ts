import type { EngineState, MemoryGitBridge } from '../../src-preload/contract/bridge.ts';
import { type ConnectionState, createConnectionWatch } from './connection.ts';
import { readRefusal } from './refusal.ts';
import type { Transport } from './transport.ts';

declare global {
  interface Window {
    /** Put there by the preload script, in the Electron window only. */
    readonly memoryGit?: MemoryGitBridge;
  }
}

const connectionByEngine: Readonly<Record<EngineState['kind'], ConnectionState>> = {
  starting: 'connecting',
  running: 'live',
  restarting: 'reconnecting',
  stopped: 'stopped',
};

/** Talks to the engine through the Electron window's bridge; the shell says how the engine is doing. */
export function createWindowTransport(bridge: MemoryGitBridge): Transport {
  const connection = createConnectionWatch('connecting');
  bridge.subscribe('state', (state) => connection.set(connectionByEngine[state.kind]));
  return {
    connection,
    async call(name, input) {
      const answer = await bridge.request(name, input);
      if (answer.ok) return answer.output;
      throw readRefusal(answer.fault);
    },
    listen: (listener) => bridge.subscribe('engine', listener),
    listenPlaces: (listener) => bridge.subscribe('open', listener),
  };
}
