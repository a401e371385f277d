/**
 * What the engine's worker thread and the shell that hosts it say to each other over one MessagePort.
 * The shell asks and closes; the engine answers, reports events and says when its doors are open.
 * Both ends are our own code in one process, so these are types and not schemas: what comes from
 * a renderer was checked before it became a request, and every command parses its input strictly itself.
 */
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { FaultWire } from '../../src-preload/contract/faults.ts';

/** How the engine is started: passed as `workerData`. Paths are absolute; `port` 0 means any free port, null the one of the settings. */
export interface EngineOptions {
  readonly home: string;
  readonly port: number | null;
  /** Whether the owner page's own loopback door is opened too. */
  readonly ownerPage: boolean;
  /** Folder of the built renderer, which the owner page serves; null when it was not built. */
  readonly rendererDir: string | null;
  readonly version: string;
}

/** The addresses the engine serves on; null where a door is shut. */
export interface EngineDoors {
  readonly mcp: string | null;
  readonly ledger: string | null;
  readonly owner: string | null;
  readonly socket: string | null;
  readonly home: string;
}

/** What the engine asks of the keychain, which the shell alone reaches. The answer holds the text that was made. */
export type KeychainAsk =
  | { readonly kind: 'available' }
  | { readonly kind: 'seal'; readonly text: string }
  | { readonly kind: 'unseal'; readonly text: string };
export type KeychainAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** From the shell to the engine. `id` is the shell's own counter and comes back in the answer. `desk` says whether a window is open. */
export type EngineInbound =
  | { readonly kind: 'request'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly kind: 'desk'; readonly open: boolean }
  | { readonly kind: 'keychain'; readonly id: number; readonly answer: KeychainAnswer }
  | { readonly kind: 'close' };

/** From the engine to the shell. `ready` or `failed` comes once, before all but `keychain`; `closed` comes last. */
export type EngineOutbound =
  | { readonly kind: 'ready'; readonly doors: EngineDoors }
  | { readonly kind: 'failed'; readonly fault: FaultWire }
  | { readonly kind: 'result'; readonly id: number; readonly output: unknown }
  | { readonly kind: 'fault'; readonly id: number; readonly fault: FaultWire }
  | { readonly kind: 'event'; readonly event: EngineEvent }
  | { readonly kind: 'keychain'; readonly id: number; readonly ask: KeychainAsk }
  | { readonly kind: 'closed' };
