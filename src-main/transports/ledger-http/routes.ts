import type { CommandName } from '../../../src-preload/contract/commands/table.ts';
import { Fault, toFault } from '../../base/fault.ts';
import type { Caller } from '../../charon/api.ts';
import type { Polled, Registered } from '../../charon/ltx-api.ts';
import { agentIdOf } from '../../charon/rules/agent-id.ts';
import type { Commands } from '../../commands/api.ts';
import { rowOf } from '../../commands/bind.ts';
import { sentenceOf, wrongFields } from '../../commands/ledger-fields.ts';
import type { LedgerGate } from '../../commands/ledger-gate.ts';
import { bodyFields, readIfMatch } from './body.ts';
import { queryFields } from './path.ts';

/** One request as a route sees it. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly ifMatch: string | undefined;
  /** The bearer as it came, for what is no credential of an agent. */
  readonly token: string;
  /** Runs a command as whoever asks, and lists everything that is wrong with an input. */
  readonly run: (name: CommandName, input: unknown) => Promise<unknown>;
}

export interface LedgerAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A route of `/v1`: who may ask, and what it answers. */
export interface LedgerRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly pattern: string;
  /** `key`: a credential with rights in the ledger. `root`: the root key, before anything else is looked at. `open`: anyone. */
  readonly admits: 'key' | 'root' | 'open';
  readonly answer: (asked: Asked) => Promise<LedgerAnswer>;
}

const numbers: readonly string[] = ['limit', 'threshold', 'page', 'per_page'];
/** A registration that waits is asked after again in so many seconds. */
const retryAfterSeconds = 5;

/** Every route of this door (`ledger.md` §1, §2, §5, §6). */
export function ledgerRoutes(gate: LedgerGate, capabilities: unknown): readonly LedgerRoute[] {
  return [...memoryRoutes(), ...accountRoutes(), ...openRoutes(gate, capabilities)];
}

function memoryRoutes(): readonly LedgerRoute[] {
  const ofQuery =
    (name: CommandName) =>
    ({ query, run }: Asked): Promise<LedgerAnswer> =>
      ok(run(name, queryFields(query, numbers)));
  return [
    {
      method: 'PUT',
      pattern: 'memory/{key}',
      admits: 'key',
      answer: ({ params, body, ifMatch, run }) =>
        ok(run('ledger.put', { ...withoutReserved(bodyFields(body)), key: params.key, ...readIfMatch(ifMatch) })),
    },
    {
      method: 'GET',
      pattern: 'memory/{key}',
      admits: 'key',
      answer: ({ params, run }) => ok(run('lithtrix.memory_get', { key: params.key })),
    },
    {
      method: 'DELETE',
      pattern: 'memory/{key}',
      admits: 'key',
      answer: ({ params, ifMatch, run }) => ok(run('ledger.delete', { key: params.key, ...readIfMatch(ifMatch) })),
    },
    { method: 'GET', pattern: 'memory', admits: 'key', answer: ofQuery('ledger.list') },
    { method: 'GET', pattern: 'memory/stats', admits: 'key', answer: ofQuery('ledger.stats') },
    { method: 'GET', pattern: 'memory/context', admits: 'key', answer: ofQuery('lithtrix.memory_context') },
    {
      method: 'GET',
      pattern: 'memory/search',
      admits: 'key',
      // A query without q is asked as an empty one, which has a refusal of its own.
      answer: ({ query, run }) => ok(run('lithtrix.memory_search', { q: '', ...queryFields(query, numbers) })),
    },
  ];
}

function accountRoutes(): readonly LedgerRoute[] {
  return [
    { method: 'GET', pattern: 'me', admits: 'key', answer: ({ run }) => ok(run('ledger.me', {})) },
    {
      method: 'POST',
      pattern: 'keys/rotate',
      admits: 'root',
      answer: ({ body, run }) => ok(run('ledger.rotate_key', body === undefined ? {} : bodyFields(body))),
    },
    {
      method: 'GET',
      pattern: 'me/consolidation-policy',
      admits: 'root',
      answer: ({ run }) => ok(run('ledger.policy', {})),
    },
    {
      method: 'POST',
      pattern: 'me/consolidation-policy/amend',
      admits: 'root',
      answer: ({ body, run }) => ok(run('ledger.amend_policy', bodyFields(body))),
    },
  ];
}

function openRoutes(gate: LedgerGate, capabilities: unknown): readonly LedgerRoute[] {
  return [
    {
      method: 'GET',
      pattern: 'capabilities',
      admits: 'open',
      answer: async () => ({ status: 200, body: capabilities }),
    },
    {
      method: 'POST',
      pattern: 'register',
      admits: 'open',
      answer: async ({ body }) => registeredAnswer(gate, await gate.register(bodyFields(body))),
    },
    {
      method: 'GET',
      pattern: 'register/{id}',
      admits: 'open',
      answer: async ({ params, token }) => {
        const id = params.id ?? '';
        return polledAnswer(gate, id, await gate.poll(id, token));
      },
    },
    {
      method: 'POST',
      pattern: 'auth/passport/challenge',
      admits: 'open',
      answer: async ({ body }) => {
        const { challenge, signPayload } = await gate.challenge(bodyFields(body));
        const { challenge_id, agent_id, nonce, issued_at, expires_at } = challenge;
        const asked = { challenge_id, agent_id, nonce, challenge_nonce: nonce, issued_at, expires_at };
        const how = { expires_in: 60, algorithm: 'ed25519', sign_payload: signPayload };
        return { status: 200, body: { status: 'success', ...asked, ...how } };
      },
    },
    {
      method: 'POST',
      pattern: 'auth/passport/verify',
      admits: 'open',
      answer: async ({ body }) => {
        const { agentId, token, expiresInSeconds } = await gate.signIn(bodyFields(body));
        const session = { session_token: token, token_type: 'Bearer', expires_in: expiresInSeconds };
        return { status: 200, body: { status: 'success', agent_id: agentId, ...session } };
      },
    },
    {
      method: 'GET',
      pattern: 'agents/{id}/passport',
      admits: 'open',
      answer: async ({ params }) => ({ status: 200, body: passportBody(gate, params.id ?? '') }),
    },
    {
      method: 'GET',
      pattern: 'agents/{id}/consolidation-policy',
      admits: 'open',
      answer: async ({ params }) => ({
        status: 200,
        body: { status: 'success', template_id: gate.policyTemplate(params.id ?? '') },
      }),
    },
  ];
}

async function ok(answer: Promise<unknown>): Promise<LedgerAnswer> {
  return { status: 200, body: await answer };
}

/** The key is in the path and the expected version in a header: a body that names them too is refused. */
function withoutReserved(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const reserved = ['key', 'if_version'].find((name) => Object.hasOwn(fields, name));
  if (reserved === undefined) return fields;
  throw new Fault(
    'INPUT_INVALID',
    `${reserved}: there is no such field in the body. The key is in the path, the version in If-Match.`,
    {
      field: reserved,
    },
  );
}

/** The runner of one request's commands: what is wrong with an input is listed whole. */
export function commandRunner(
  commands: Pick<Commands, 'run'>,
  call: { readonly caller: Caller; readonly client: string; readonly correlationId: string },
): Asked['run'] {
  return async (name, input) => {
    try {
      return await commands.run({ name, input, ...call });
    } catch (thrown) {
      const fault = toFault(thrown);
      if (fault.code !== 'INPUT_INVALID') throw fault;
      const fields = wrongFields(rowOf(name).input, input);
      const message = fields.length > 0 && fault.data.keys === undefined ? sentenceOf(fields) : fault.message;
      throw new Fault('INPUT_INVALID', message, { ...fault.data, fields });
    }
  };
}

function registeredAnswer(gate: LedgerGate, done: Registered): LedgerAnswer {
  if (done.kind === 'registered') return letInAnswer(gate, done.agent, done.token);
  const { registration_id, expires_at } = done.registration;
  const wait = { retry_after: retryAfterSeconds, expires_at };
  return { status: 202, body: { status: 'pending', registration_id, poll_token: done.pollToken, ...wait } };
}

function polledAnswer(gate: LedgerGate, registrationId: string, polled: Polled): LedgerAnswer {
  if (polled.kind === 'registered') return letInAnswer(gate, polled.agent, polled.token);
  if (polled.kind === 'pending') {
    const body = { status: 'pending', registration_id: registrationId, retry_after: retryAfterSeconds };
    return { status: 202, body };
  }
  if (polled.kind === 'refused')
    throw new Fault('REGISTRATION_REFUSED', 'The owner refused this registration. Ask the owner before you try again.');
  throw new Fault(
    'REGISTRATION_EXPIRED',
    'This registration was not decided or fetched within 24 hours. Register again.',
  );
}

/** `api_key` is there once; null for whoever asks again. */
function letInAnswer(gate: LedgerGate, agent: Parameters<typeof agentIdOf>[0], token: string | null): LedgerAnswer {
  const agentId = agentIdOf(agent);
  const once =
    token === null
      ? { message: 'The key was handed out already. Use that one, or ask the owner for another: charon ltx mint.' }
      : {};
  const body = {
    status: 'success',
    api_key: token,
    agent_id: agentId,
    passport: findPassportBody(gate, agentId),
    ...once,
  };
  return { status: 201, body };
}

function findPassportBody(gate: LedgerGate, agentId: string): unknown {
  try {
    return passportBody(gate, agentId);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'PASSPORT_NOT_FOUND') return null;
    throw thrown;
  }
}

function passportBody(gate: LedgerGate, agent: string): unknown {
  const { passport, custody } = gate.passport(agent);
  return {
    status: 'success',
    agent_id: passport.agent_id,
    did: passport.did,
    public_key: passport.public_key,
    algorithm: 'ed25519',
    revoked: passport.revoked_at !== null,
    custody: custody ?? null,
  };
}
