import type { ConnectionWatch } from './connection.ts';

/** The way to the engine: raw values in and out, before any of them is believed. */
export interface Transport {
  readonly connection: ConnectionWatch;
  /** Resolves with the raw output; rejects with a Refusal. */
  call(name: string, input: unknown): Promise<unknown>;
  /** Raw events from now on; returns the way to stop. */
  listen(listener: (event: unknown) => void): () => void;
  /** Places of the desk that the shell asks to be shown (`/inbox/<id>`); never on the owner page. */
  listenPlaces(listener: (place: string) => void): () => void;
}
