import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { Fault } from '../../base/fault.ts';
import { type NamedSecret, restoreProof } from '../../canonical/restore-proof.ts';
import type { Upstream } from '../../home/upstream.ts';
import { bindDefault } from '../lethe-http/access.ts';
import { faultsHeader, restoreProofHeader } from '../lethe-http/route.ts';
import { faultOfAnswer } from './refusals.ts';

/** How long the client waits, in milliseconds. */
export interface WireTimes {
  /** For an answer, from the moment of asking. */
  readonly answerMs: number;
  /** Before a read is asked again that no answer came to; as many times as there are entries. */
  readonly againMs: readonly number[];
}

export const wireTimes: WireTimes = { answerMs: 35_000, againMs: [50, 250] };

/** A question to the store in the other process, below `/api`. */
export interface Question<Schema extends z.ZodType> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** It changes nothing, or nothing more when it is asked twice. */
  readonly isRead: boolean;
  /** Shows that the policy engine itself asks (`restoreProof`). */
  readonly isProved?: boolean;
  /** Waits as long as it takes. */
  readonly isUnhurried?: boolean;
  readonly answer: Schema;
}

/** HTTP to one store. */
export interface Wire {
  /**
   * The answer, parsed. Rejects with the Fault that the store refused with, or STORE_UNAVAILABLE when none came: then a write
   * may have been carried out or not.
   */
  ask<Schema extends z.ZodType>(question: Question<Schema>): Promise<z.output<Schema>>;
  close(): void;
}

/** The name under which a store is asked for over a socket, which has none: the one that it has where it listens by default. */
const socketHost = `localhost:${bindDefault.port}`;
/** Bytes of one answer that are taken. */
const answerBytesMax = 64 * 1_048_576;

/** Opens the way to a store; nothing is sent yet. `mergeKey` signs what only the policy engine may ask. */
export function openWire(upstream: Upstream, mergeKey: NamedSecret, times: WireTimes = wireTimes): Wire {
  const isTls = upstream.address.kind === 'url' && upstream.address.origin.startsWith('https:');
  const agent = isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  const send = (path: string, options: RequestOptions): ClientRequest => {
    const { address } = upstream;
    if (address.kind === 'socket') return request({ ...options, agent, socketPath: address.path, path });
    return (isTls ? tlsRequest : request)(`${address.origin}${address.basePath}${path}`, { ...options, agent });
  };

  const askOnce = <Schema extends z.ZodType>(question: Question<Schema>): Promise<Answered> => {
    const body = question.body === undefined ? undefined : Buffer.from(JSON.stringify(question.body), 'utf8');
    const headers = {
      [faultsHeader]: '1',
      ...(upstream.address.kind === 'socket' ? { host: socketHost } : {}),
      ...(upstream.key === undefined ? {} : { authorization: `Bearer ${upstream.key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...(body === undefined || question.isProved !== true
        ? {}
        : { [restoreProofHeader]: restoreProof(mergeKey, body) }),
    };
    const timeoutMs = question.isUnhurried === true ? undefined : times.answerMs;
    return exchange(
      send(`/api${question.path}${queryOf(question)}`, { method: question.method, headers }),
      body,
      timeoutMs,
    );
  };

  return {
    ask: async (question) => {
      const answered = await askAgain(() => askOnce(question), question.isRead ? times.againMs : []);
      if (answered.status >= 300) throw faultOfAnswer(answered);
      const parsed = question.answer.safeParse(answered.value);
      if (parsed.success) return parsed.data;
      const cause = new Error(
        `${question.path} was answered with something else at ${parsed.error.issues[0]?.path.join('.')}`,
      );
      throw unavailable(
        'The store of CHARON_UPSTREAM gave an answer that cannot be read. Is it Memory Git of this version?',
        cause,
      );
    },
    close: () => agent.destroy(),
  };
}

/** One answer as it came. */
export interface Answered {
  readonly status: number;
  readonly value: unknown;
}

async function askAgain(ask: () => Promise<Answered>, againMs: readonly number[]): Promise<Answered> {
  for (const pauseMs of againMs) {
    try {
      return await ask();
    } catch (thrown) {
      if (!(thrown instanceof Fault) || thrown.data.timed_out === true) throw thrown;
    }
    await sleep(pauseMs);
  }
  return ask();
}

function queryOf({ query = {} }: Pick<Question<z.ZodType>, 'query'>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(name, String(one));
  }
  return params.size === 0 ? '' : `?${params}`;
}

/** Sends and reads the whole answer in time. Rejects with STORE_UNAVAILABLE. */
function exchange(asked: ClientRequest, body: Buffer | undefined, timeoutMs: number | undefined): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => asked.destroy(unavailable(silentText, undefined, { timed_out: true })), timeoutMs);
    const fail = (cause: Error): void => {
      clearTimeout(timer);
      reject(cause instanceof Fault ? cause : unavailable(awayText, cause));
    };
    asked.once('error', fail);
    asked.once('response', (answer) => {
      readAnswer(answer).then((read) => {
        clearTimeout(timer);
        resolve(read);
      }, fail);
    });
    asked.end(body);
  });
}

async function readAnswer(answer: IncomingMessage): Promise<Answered> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    const part: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > answerBytesMax) throw unavailable('The store of CHARON_UPSTREAM gave an answer that is too large.');
    chunks.push(part);
  }
  return { status: answer.statusCode ?? 0, value: parseJson(Buffer.concat(chunks).toString('utf8')) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const awayText =
  'The store of CHARON_UPSTREAM cannot be reached, or went away before it answered. Start it, or look whether its address is right. A write may have been carried out: look before you repeat it.';
const silentText =
  'The store of CHARON_UPSTREAM did not answer in time. A write may have been carried out: look before you repeat it.';

function unavailable(message: string, cause?: Error, data: Readonly<Record<string, unknown>> = {}): Fault {
  return new Fault('STORE_UNAVAILABLE', message, data, cause === undefined ? undefined : { cause });
}
