import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { type EngineEvent, engineEventSchema } from '../../src-preload/contract/events.ts';
import { Fault } from '../base/fault.ts';
import { type Ids, systemIds } from '../base/ids.ts';
import { findFault } from './fault-status.ts';
import { confirmationHeader, isOwnerProof, ownerProof } from './owner-proof.ts';
import { type SocketPlace, socketAddress, socketPlace } from './socket-address.ts';

/** The owner's socket as a command line uses it. */
export interface OwnerSocketClient {
  /** Runs a command; resolves with its output, rejects with the Fault it was refused with, or CLOSED. */
  call(name: string, input: unknown, options?: OwnerCallOptions): Promise<unknown>;
  /** A confirmation of what a CONFIRMATION_REQUIRED named, by the owner's passphrase. Rejects with CONFIRMATION_REFUSED, RATE_LIMITED. */
  confirm(what: { readonly command: string; readonly inputDigest: string }, passphrase: string): Promise<string>;
  /** Events after they became durable, in order; returns the way to stop. `onEnd` is told once when the host goes away. */
  events(onEvent: (event: EngineEvent) => void, onEnd?: () => void): () => void;
  close(): Promise<void>;
}

/** What a call that may have to wait for the owner's word takes. */
export interface OwnerCallOptions {
  /** Takes the call back while it waits: it rejects with OWNER_REQUEST_CANCELED. */
  readonly signal?: AbortSignal | undefined;
  /** Told once, when the host says that the call waits for the owner's word at the desk. */
  readonly onWaiting?: (() => void) | undefined;
  /** What `confirm` gave for exactly this call. */
  readonly confirmation?: string | undefined;
}

const helloAnswerSchema = z.object({ server_nonce: z.string().regex(/^[0-9a-f]{32}$/), proof: z.string() });
const confirmedSchema = z.object({ confirmation: z.string() });
const answerBytesMax = 64 * 1_048_576;

/**
 * Connects to the host that owns a home. The host proves first that it knows `owner.key`; only then do we (T53).
 * Throws CLOSED when nobody listens (T59), UNAUTHENTICATED when either side does not know the key.
 */
export async function connectOwnerSocket(options: {
  readonly path: string;
  readonly ownerKey: Buffer;
  readonly ids?: Ids | undefined;
  readonly place?: SocketPlace | undefined;
}): Promise<OwnerSocketClient> {
  const { ownerKey } = options;
  const ids = options.ids ?? systemIds();
  const wire = openWire(socketAddress(options.path, options.place ?? socketPlace(process.env, tmpdir())));
  try {
    const client = ids.randomBytes(16).toString('hex');
    const hello = helloAnswerSchema.safeParse(await wire.ask('POST', '/owner/hello', '', { client_nonce: client }));
    const nonces = { client, server: hello.data?.server_nonce ?? '' };
    if (!hello.success || !isOwnerProof(ownerKey, 'server', nonces, hello.data.proof)) {
      throw new Fault(
        'UNAUTHENTICATED',
        'The host at this socket does not know the key of this home. Nothing was sent to it.',
      );
    }
    const proof = ownerProof(ownerKey, 'client', nonces);
    await wire.ask('POST', '/owner/session', '', { client_nonce: client, server_nonce: nonces.server, proof });
    return sessionOver(wire, ownerProof(ownerKey, 'session', nonces));
  } catch (error) {
    wire.close();
    throw error;
  }
}

function sessionOver(wire: Wire, token: string): OwnerSocketClient {
  return {
    call: (name, input, options) =>
      wire.ask('POST', `/owner/commands/${encodeURIComponent(name)}`, token, input, options),
    async confirm({ command, inputDigest }, passphrase) {
      const body = { command, input_digest: inputDigest, passphrase };
      return confirmedSchema.parse(await wire.ask('POST', '/owner/confirmations', token, body)).confirmation;
    },
    events: (onEvent, onEnd) => wire.follow('/owner/events', token, onEvent, onEnd ?? (() => undefined)),
    async close() {
      await wire.ask('DELETE', '/owner/session', token).catch(() => undefined);
      wire.close();
    },
  };
}

interface Wire {
  ask(
    method: 'POST' | 'DELETE',
    path: string,
    token: string,
    body?: unknown,
    options?: OwnerCallOptions,
  ): Promise<unknown>;
  follow(path: string, token: string, onEvent: (event: EngineEvent) => void, onEnd: () => void): () => void;
  close(): void;
}

/** HTTP over the socket: one connection that is kept, and one for each stream. */
function openWire(socketPath: string): Wire {
  const agent = new Agent({ keepAlive: true });
  const headersFor = (token: string): Record<string, string> => ({
    host: 'localhost',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  });
  return {
    ask: (method, path, token, body, { signal, onWaiting, confirmation } = {}) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const typed =
          text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
        const confirmed = confirmation === undefined ? {} : { [confirmationHeader]: confirmation };
        const asked = request(
          { socketPath, agent, method, path, headers: { ...headersFor(token), ...typed, ...confirmed } },
          (answer) => {
            readAnswer(answer).then(resolve, reject);
          },
        );
        const takeBack = (): void => void asked.destroy();
        signal?.addEventListener('abort', takeBack, { once: true });
        asked.once('information', () => onWaiting?.());
        asked.once('error', () => reject(signal?.aborted === true ? takenBack() : closed()));
        asked.once('close', () => signal?.removeEventListener('abort', takeBack));
        asked.end(text);
      }),
    follow(path, token, onEvent, onEnd) {
      const asked = request({ socketPath, agent: false, method: 'GET', path, headers: headersFor(token) }, (answer) => {
        answer.setEncoding('utf8');
        readLines(answer, onEvent);
      });
      asked.once('error', () => undefined);
      asked.once('close', onEnd);
      asked.end();
      return () => {
        asked.off('close', onEnd);
        asked.destroy();
      };
    },
    close: () => agent.destroy(),
  };
}

async function readAnswer(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > answerBytesMax) throw closed();
    }
  } catch {
    throw closed();
  }
  const body = parseAnswer(Buffer.concat(chunks).toString('utf8'));
  if (answer.statusCode === 200) return body;
  throw findFault(body) ?? closed();
}

function parseAnswer(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return body;
  } catch {
    return undefined;
  }
}

function readLines(answer: IncomingMessage, onEvent: (event: EngineEvent) => void): void {
  let rest = '';
  answer.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = engineEventSchema.safeParse(parseAnswer(line));
      if (event.success) onEvent(event.data);
    }
  });
  answer.once('error', () => undefined);
}

function takenBack(): Fault {
  return new Fault(
    'OWNER_REQUEST_CANCELED',
    'It was taken back. If the owner had not allowed it yet, nothing was done.',
  );
}

function closed(): Fault {
  return new Fault('CLOSED', 'No Memory Git answers for this home. Start it with `npm start`, or `charon serve`.');
}
