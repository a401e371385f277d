import { onTestFinished } from 'vitest';
import { type App, openApp } from '../../src-main/app.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { LtxKeyKind } from '../../src-preload/contract/ltx.ts';
import { type FakeClock, fakeClock } from '../support/history-builder.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type RawAnswer, send } from '../transports/raw-http.ts';

/** What a client of `/v1` sees of an answer. */
export interface Seen extends RawAnswer {
  /** The body as JSON. */
  readonly value: Json;
}

/** A reply before a test has looked at its shape. */
export type Json = ReturnType<typeof JSON.parse>;

/** The memory ledger of a whole engine, over real HTTP. */
export interface LedgerDoor {
  readonly app: App;
  readonly clock: FakeClock;
  readonly port: number;
  /** What the owner does at the desk. */
  owner<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>;
  /** A principal with a key of that kind. */
  agent(name: string, kind?: LtxKeyKind): Promise<Agent>;
  /** Asks with a token, or with none when that is ''; a body that is text or bytes is sent as it is. */
  ask(token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Seen>;
  /** Closes the engine and opens the same home again. */
  reopen(env?: Readonly<Record<string, string>>): Promise<LedgerDoor>;
}

/** An agent as a test holds it. */
export interface Agent {
  readonly principalId: string;
  readonly token: string;
  get(path: string, headers?: Record<string, string>): Promise<Seen>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Seen>;
  post(path: string, body?: unknown): Promise<Seen>;
  del(path: string, headers?: Record<string, string>): Promise<Seen>;
}

/** Opens an engine on a new home with its agent door on a free port; closed when the test is over. */
export function openLedgerDoor(): Promise<LedgerDoor> {
  return openAt(`${tempFolder()}/home`, fakeClock(), {});
}

async function openAt(home: string, clock: FakeClock, env: Readonly<Record<string, string>>): Promise<LedgerDoor> {
  const app = await openApp({
    home,
    env,
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const port = Number(new URL(app.doors.ledger ?? '').port);
  const owner: LedgerDoor['owner'] = (name, input) => app.commands.call(name, input, app.ownerCaller('window'));
  const ask: LedgerDoor['ask'] = async (token, method, path, body, headers = {}) => {
    const sent = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const answer = await send({
      port,
      method,
      path,
      headers: {
        host: `127.0.0.1:${port}`,
        'content-type': 'application/json',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent)) }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    return { ...answer, value: answer.body === '' ? undefined : JSON.parse(answer.body) };
  };
  return {
    app,
    clock,
    port,
    owner,
    ask,
    agent: async (name, kind = 'root') => {
      const { principal } = await owner('principal.reconcile', { name, profile: 'propose', project: 'demo' });
      const { token } = await owner('ltx.mint', { agent: principal.principal_id, kind });
      return { principalId: principal.principal_id, ...agentWith(ask, token) };
    },
    reopen: async (again = {}) => {
      await app.close();
      return openAt(home, clock, again);
    },
  };
}

/** The verbs of an agent that holds a token. */
export function agentWith(ask: LedgerDoor['ask'], token: string): Omit<Agent, 'principalId'> {
  return {
    token,
    get: (path, headers) => ask(token, 'GET', `/v1${path}`, undefined, headers),
    put: (path, body, headers) => ask(token, 'PUT', `/v1${path}`, body, headers),
    post: (path, body) => ask(token, 'POST', `/v1${path}`, body),
    del: (path, headers) => ask(token, 'DELETE', `/v1${path}`, undefined, headers),
  };
}
