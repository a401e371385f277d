import { onTestFinished } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { bindDefault } from '../../src-main/transports/lethe-http/access.ts';
import { type LetheHttp, type LetheHttpOptions, openLetheHttp } from '../../src-main/transports/lethe-http/server.ts';
import { openTempLethe, type TempLethe, type TempLetheOptions } from '../support/history-builder.ts';
import { type RawAnswer, send } from '../transports/raw-http.ts';

/** What a client of the protocol sees of an answer. */
export interface Seen extends RawAnswer {
  /** The body as JSON. */
  readonly value: Json;
  /** The keys of the body in the order in which they came. */
  readonly keys: readonly string[];
}

/** A reply before a test has looked at its shape. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Door {
  readonly temp: TempLethe;
  readonly http: LetheHttp;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string | string[]>): Promise<Seen>;
  get(path: string, headers?: Record<string, string | string[]>): Promise<Seen>;
  post(path: string, body: unknown, headers?: Record<string, string | string[]>): Promise<Seen>;
}

/** The protocol over a store of the test's own, on a port of its own; both are gone when the test is over. */
export async function openDoor(options: Partial<LetheHttpOptions> = {}, store: TempLetheOptions = {}): Promise<Door> {
  const temp = openTempLethe(store);
  const http = await openLetheHttp({
    lethe: temp.lethe,
    bind: { ...bindDefault, port: 0 },
    key: undefined,
    trust: 'loopback',
    hostNames: [],
    insecureBind: false,
    recovery: false,
    log: silentLog,
    ...options,
  });
  onTestFinished(async () => {
    await http.close();
    temp.remove();
  });
  return { temp, http, ...client(http.port) };
}

/** Asks a door as a well-behaved client does; a body that is text or bytes is sent as it is. */
export function client(port: number): Pick<Door, 'ask' | 'get' | 'post'> {
  const ask: Door['ask'] = async (method, path, body, headers = {}) => {
    const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await send({
      port,
      method,
      path: `/api${path}`,
      headers: { host: `127.0.0.1:${port}`, ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const value: Json = /^application\/json/.test(String(answer.headers['content-type']))
      ? JSON.parse(answer.body)
      : undefined;
    return { ...answer, value, keys: typeof value === 'object' && value !== null ? Object.keys(value) : [] };
  };
  return {
    ask,
    get: (path, headers) => ask('GET', path, undefined, headers),
    post: (path, body, headers) => ask('POST', path, body, headers),
  };
}

let keys = 0;

/** A commit's body with one new memory, moving its ref; changed where a test says so. */
export function commitBody(ref: string, head: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  keys += 1;
  return {
    project_id: 'demo',
    ref_name: ref,
    parent_ids: [head],
    author_principal: 'alice',
    message: `commit ${keys}`,
    idempotency_key: `key-${keys}`,
    ops: [{ op_type: 'add_memory', payload: { content: `memory ${keys}` } }],
    expected_head: head,
    advance_ref: true,
    ...more,
  };
}

export const branch = 'refs/agents/alice/main';
export const unknownId = '00000000-0000-7000-8000-000000000000';

/** A project `demo` with a branch; answers both heads, which are the root. */
export async function startDemo(door: Pick<Door, 'post'>): Promise<string> {
  const root = (await door.post('/memory/demo/legacy-root', undefined)).value.changeset.changeset_id;
  await door.post('/memory/demo/branches', { ref_name: branch, head_changeset_id: root, principal: 'alice' });
  return root;
}
