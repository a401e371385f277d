import {
  type FetchLike,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { requestBytesMax } from '../../src-preload/contract/limits.ts';
import { Fault } from '../base/fault.ts';
import { findFault } from './fault-status.ts';

/** Where one message goes, and in whose name. */
export interface DoorAddress {
  readonly url: URL;
  readonly token: string;
  /** What a 2025 client agreed on in `initialize`; a client of 2026-07-28 says it in every message. */
  readonly protocolVersion: string | undefined;
}

/** What became of one message. */
export type Outcome =
  /** Everything that came back was passed on, the answer last. */
  | { readonly kind: 'answered' }
  /** Nobody took it: nothing was carried out, and it may be sent again. */
  | { readonly kind: 'absent' }
  /** It was sent, and its answer did not come. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'refused'; readonly fault: Fault }
  | { readonly kind: 'cancelled' };

/**
 * Carries one message of a client to the agent door over streamable HTTP and passes on whatever comes back for it, in
 * order (B1, B2). Never rejects. `signal` takes the request back: its connection is cut, as HTTP clients do (B9).
 */
export async function exchange(
  message: JSONRPCMessage,
  address: DoorAddress,
  options: { readonly signal: AbortSignal; readonly deliver: (message: JSONRPCMessage) => void },
): Promise<Outcome> {
  const { signal, deliver } = options;
  if (isTooLarge(message)) return { kind: 'refused', fault: tooLarge() };
  const fetched = watchedFetch();
  const transport = openTransport(address, fetched.fetch);
  const isRequest = isJSONRPCRequest(message);
  // One exchange carries one message, so that every response in it is the answer, under whatever id it came.
  const answer = (received: JSONRPCMessage): boolean => {
    if (!isRequest || !isJSONRPCResponse(received)) return false;
    deliver({ ...received, id: message.id });
    return true;
  };
  try {
    await transport.start();
    return await new Promise<Outcome>((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'cancelled' }), { once: true });
      transport.onmessage = (received) => {
        if (answer(received)) resolve({ kind: 'answered' });
        else deliver(received);
      };
      const sent = transport.send(message, { onRequestStreamEnd: () => resolve({ kind: 'broken' }) });
      sent.then(
        () => {
          if (!isRequest) resolve({ kind: 'answered' });
          else if (!fetched.isStream()) resolve({ kind: 'broken' });
        },
        (error: unknown) => resolve(outcomeOf(error, answer)),
      );
    });
  } finally {
    await transport.close();
  }
}

/** The door's own limit, looked at before sending: a door that cuts off an upload is not always heard saying why. */
function isTooLarge(message: JSONRPCMessage): boolean {
  return Buffer.byteLength(JSON.stringify(message)) > requestBytesMax;
}

function tooLarge(): Fault {
  return new Fault('BODY_TOO_LARGE', 'The message is over the limit of 1 MiB. Send less at once.');
}

function openTransport(address: DoorAddress, fetch: FetchLike): StreamableHTTPClientTransport {
  const { url, token, protocolVersion } = address;
  return new StreamableHTTPClientTransport(url, {
    fetch,
    // Redirects stay within this address: the SDK follows no other.
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 0,
    },
    ...(protocolVersion === undefined ? {} : { protocolVersion }),
  });
}

/** The system's fetch, and whether its answer was a stream, which goes on after it was sent. */
function watchedFetch(): { readonly fetch: FetchLike; isStream(): boolean } {
  let stream = false;
  return {
    isStream: () => stream,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      stream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      return response;
    },
  };
}

function outcomeOf(error: unknown, answer: (received: JSONRPCMessage) => boolean): Outcome {
  if (error instanceof SdkHttpError) return outcomeOfStatus(error, answer);
  return isConnectFailure(error) ? { kind: 'absent' } : { kind: 'broken' };
}

/** An answer with an HTTP error: MCP's own, passed on; a fault of the door; or one of a server that is just closing. */
function outcomeOfStatus(error: SdkHttpError, answer: (received: JSONRPCMessage) => boolean): Outcome {
  const body = parseJson(error.data.text);
  if (isJSONRPCErrorResponse(body) && answer(body)) return { kind: 'answered' };
  if (error.status === 401) return { kind: 'refused', fault: tokenRefused() };
  const fault = findFault(body);
  if (fault !== undefined) return { kind: 'refused', fault };
  return error.status === 503 ? { kind: 'absent' } : { kind: 'broken' };
}

function tokenRefused(): Fault {
  return new Fault(
    'UNAUTHENTICATED',
    'Memory Git refuses this token: it is mistyped, expired, revoked or of another home. Ask the owner for a new one (at the desk: Agents; or: charon obol mint) and put it where this one was.',
  );
}

function parseJson(text: unknown): unknown {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return value;
  } catch {
    return undefined;
  }
}

/** Failures before a connection was there: of a request that failed so, not a byte was read by anybody. */
const connectFailures = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function isConnectFailure(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && connectFailures.has(cause.code);
}
