import type { EngineEvent } from './events.ts';
import type { FaultWire } from './faults.ts';

/** Channels between the window and the main process. */
export const requestChannel = 'memory-git:request';
/** Main sends on `memory-git:<event>`; only these events exist. */
export const bridgeEvents = ['engine', 'state', 'open'] as const;
export type BridgeEventName = (typeof bridgeEvents)[number];

/** The channel that carries an event of the bridge. */
export function eventChannel(event: BridgeEventName): string {
  return `memory-git:${event}`;
}

/** How the engine behind the window is doing. */
export type EngineState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly mcpUrl: string | null }
  | { readonly kind: 'restarting'; readonly attempt: number }
  | { readonly kind: 'stopped'; readonly fault: FaultWire };

/** What each event carries: a durable change, the state of the engine, a place of the desk to go to (`/inbox/<id>`). */
export interface BridgeEvents {
  readonly engine: EngineEvent;
  readonly state: EngineState;
  readonly open: string;
}

/** The answer to a request: a refusal is an answer too, so that nothing has to be read out of an Error. */
export type BridgeAnswer =
  | { readonly ok: true; readonly output: unknown }
  | { readonly ok: false; readonly fault: FaultWire };

/** All that the window's page gets from outside: `window.memoryGit`. */
export interface MemoryGitBridge {
  /** Runs one command of the table as the owner. Never rejects. */
  request(name: string, input: unknown): Promise<BridgeAnswer>;
  /** Calls `listener` for each event of that name until the returned function is called. `state` and a waiting `open` are sent at once too. */
  subscribe<Name extends BridgeEventName>(event: Name, listener: (payload: BridgeEvents[Name]) => void): () => void;
}
