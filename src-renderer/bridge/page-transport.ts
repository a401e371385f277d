import { type ConnectionState, createConnectionWatch, retryDelayMs, stateAfterFailures } from './connection.ts';
import { createLineReader } from './ndjson.ts';
import type { PageSession } from './page-session.ts';
import { Refusal, readRefusal } from './refusal.ts';
import type { Transport } from './transport.ts';

/** The server sends a heartbeat every 15 s: silence for longer than this means a dead connection. */
const silenceMaxMs = 40_000;

interface PageDoor {
  readonly session: PageSession;
  readonly fetchFn: typeof fetch;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * Talks to the engine from the owner page in a browser: commands by POST, events by a fetch-stream of JSON lines that
 * reconnects by itself. `code` is the one-time code of the address, when there is one.
 */
export function createPageTransport(door: PageDoor, code: string | undefined): Transport {
  const connection = createConnectionWatch('connecting');
  const listeners = new Set<(event: unknown) => void>();
  const publish = (event: unknown): void => {
    for (const listener of listeners) listener(event);
  };
  void follow(door, code, connection.set, publish);

  return {
    connection,
    async call(name, input) {
      const token = door.session.token();
      if (token === undefined) throw signedOut();
      const response = await send(door, name, input, token);
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) return body;
      if (response.status === 401) {
        door.session.forget();
        connection.set('signed_out');
      }
      throw readRefusal(body);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listenPlaces: () => () => undefined,
  };
}

function signedOut(): Refusal {
  return new Refusal('UNAUTHENTICATED', 'This page is signed out. Open a new owner page.');
}

async function send(door: PageDoor, name: string, input: unknown, token: string): Promise<Response> {
  try {
    return await door.fetchFn(`/owner/commands/${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    });
  } catch {
    throw new Refusal('CLOSED', 'The engine does not answer.');
  }
}

type SetState = (state: ConnectionState) => void;

/** Signs in once, then keeps one event stream open until the session ends. */
async function follow(door: PageDoor, code: string | undefined, setState: SetState, publish: (event: unknown) => void) {
  let failures = 0;
  let pendingCode = code;
  for (;;) {
    try {
      if (pendingCode !== undefined) {
        await door.session.signIn(pendingCode);
        pendingCode = undefined;
      }
      const token = door.session.token();
      if (token === undefined) return setState('signed_out');
      const ended = await readEvents(
        door,
        token,
        () => {
          failures = 0;
          setState('live');
        },
        publish,
      );
      if (ended === 'signed_out') {
        door.session.forget();
        return setState('signed_out');
      }
    } catch {
      // Nobody answered, or the stream broke: both are tried again below.
    }
    failures += 1;
    setState(stateAfterFailures(failures));
    await door.wait(retryDelayMs(failures));
  }
}

async function readEvents(
  door: PageDoor,
  token: string,
  onOpen: () => void,
  publish: (event: unknown) => void,
): Promise<'ended' | 'signed_out'> {
  const abort = new AbortController();
  const response = await door.fetchFn('/owner/events', {
    headers: { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  if (response.status === 401) return 'signed_out';
  if (!response.ok || response.body === null) return 'ended';
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const lines = createLineReader();
  for (;;) {
    const silence = setTimeout(() => abort.abort(), silenceMaxMs);
    const piece = await reader.read().finally(() => clearTimeout(silence));
    if (piece.done) return 'ended';
    for (const value of lines.push(piece.value)) publish(value);
  }
}
