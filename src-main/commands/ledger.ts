import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import {
  type DerivedFrom,
  type Importance,
  type LedgerAgentId,
  type LedgerEntry,
  type LedgerKey,
  ledgerKeySchema,
} from '../../src-preload/contract/ledger.ts';
import { Fault } from '../base/fault.ts';
import { amendmentText } from '../canonical/consolidation.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { isBlank } from '../canonical/text.ts';
import type { Caller } from '../charon/api.ts';
import { agentIdOf } from '../charon/rules/agent-id.ts';
import { inBase64Url } from '../charon/rules/passport-key.ts';
import { requireRootKey, requireWholeKey } from '../charon/rules/rights.ts';
import { readPolicyParams, requireTemplate } from '../ledger/rules/policy-params.ts';
import { type BoundCommand, bind, type Call, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** Last segments of `/v1/memory/…` that are routes: a key of that name cannot be read there by its name. */
const routeNames: ReadonlySet<string> = new Set(['context', 'search', 'stats']);

/** The memory ledger as agents use it: each its own keys. Answers are the bodies of `/v1` (`ledger.md` §2, §7). */
export function ledgerCommands(deps: CommandDeps): readonly BoundCommand[] {
  return [...keyCommands(deps), ...overviewCommands(deps), ...accountCommands(deps)];
}

function keyCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { ledger } = deps;
  const putEffects = (output: CommandOutput<'ledger.put'>): readonly string[] => [`version:${output.version}`];
  return [
    bind(rowOf('lithtrix.memory_set'), {
      check: ({ key }) => void requireKey(key),
      objects: keyObjects,
      run: ({ input, caller }) => putValue(deps, caller, input),
      effects: putEffects,
    }),
    bind(rowOf('ledger.put'), {
      check: ({ key }) => void requireKey(key),
      objects: keyObjects,
      run: ({ input, caller }) => putValue(deps, caller, input),
      effects: putEffects,
    }),
    bind(rowOf('ledger.delete'), {
      check: ({ key }) => void requireKey(key),
      objects: keyObjects,
      run: async ({ input, caller }) => {
        const agentId = agentOf(caller);
        const key = requireKey(input.key);
        const deleted = await ledger.delete({ agentId, key, ifVersion: input.if_version });
        changed(deps, agentId);
        return { status: 'success' as const, key, deleted: true as const, ...deleted };
      },
      effects: ({ version }) => [`version:${version}`],
    }),
    bind(rowOf('lithtrix.memory_get'), {
      check: ({ key }) => void requireKey(key),
      objects: keyObjects,
      run: ({ input, caller }) => {
        const agentId = agentOf(caller);
        return {
          status: 'success' as const,
          ...ledger.get(agentId, requireKey(input.key)),
          usage: ledger.usage(agentId),
        };
      },
    }),
  ];
}

function overviewCommands({ ledger }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('lithtrix.memory_search'), {
      check: ({ q }) => requireQuery(q),
      objects: agentObjects,
      run: ({ input, caller }) => {
        const { q: query, limit, importance, threshold } = input;
        const agentId = agentOf(caller);
        const results = [...ledger.search({ agentId, query, limit, importance, threshold })];
        const found = { query, results, count: results.length, provider_used: 'local' as const };
        return { status: 'success' as const, ...found, usage: ledger.usage(agentId) };
      },
    }),
    bind(rowOf('lithtrix.memory_context'), {
      objects: agentObjects,
      run: ({ input, caller }) => {
        const agentId = agentOf(caller);
        const entries = [...ledger.context({ agentId, limit: input.limit, importance: input.importance })];
        return { status: 'success' as const, entries, usage: ledger.usage(agentId) };
      },
    }),
    bind(rowOf('ledger.list'), {
      objects: agentObjects,
      run: ({ input, caller }) => {
        const agentId = agentOf(caller);
        const { page, per_page: perPage, prefix, importance } = input;
        const { entries, total } = ledger.list({ agentId, page, perPage, prefix, importance });
        const listed = { entries: [...entries], page, per_page: perPage, total };
        return { status: 'success' as const, ...listed, usage: ledger.usage(agentId) };
      },
    }),
    bind(rowOf('ledger.stats'), {
      objects: agentObjects,
      run: ({ caller }) => {
        const usage = ledger.usage(agentOf(caller));
        const local = { limits: null, tier: 'local' as const, over_limit: false as const };
        return { status: 'success' as const, ...usage, ...local, usage };
      },
    }),
  ];
}

function accountCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { charon, ledger } = deps;
  return [
    bind(rowOf('ledger.me'), {
      objects: agentObjects,
      prepare: ({ caller }) => requireWholeKey(caller),
      run: ({ caller }) => describeCaller(deps, caller),
    }),
    bind(rowOf('ledger.rotate_key'), {
      objects: agentObjects,
      prepare: ({ caller }) => void requireRootKey(caller),
      run: async ({ caller }) => {
        const { key, token } = await charon.ltx.rotateKey(caller);
        return { status: 'success' as const, agent_id: key.agent_id, key_id: key.key_id, api_key: token };
      },
      effects: ({ key_id: keyId }) => [`ltx_${keyId}`],
    }),
    bind(rowOf('ledger.policy'), {
      objects: agentObjects,
      prepare: ({ caller }) => void requireRootKey(caller),
      run: ({ caller }) => {
        const { template_id, params } = ledger.getPolicy(agentOf(caller));
        return { status: 'success' as const, template_id, params };
      },
    }),
    bind(rowOf('ledger.amend_policy'), {
      objects: agentObjects,
      prepare: (call) => requireAmendable(deps, call),
      run: (call) => amend(deps, call),
      effects: ({ policy_id: policyId }) => [policyId],
    }),
  ];
}

type PutInput = {
  readonly key: string;
  readonly value: JsonValue;
  readonly ttl?: number | undefined;
  readonly importance: Importance;
  readonly source?: string | undefined;
  readonly confidence: number;
  readonly derived_from?: DerivedFrom | undefined;
  readonly if_version?: number | undefined;
};

async function putValue(deps: CommandDeps, caller: Caller, input: PutInput): Promise<CommandOutput<'ledger.put'>> {
  const agentId = agentOf(caller);
  const key = requireKey(input.key);
  const { value, ttl, importance, source, confidence, derived_from: derivedFrom, if_version: ifVersion } = input;
  const draft = { agentId, key, value, ttl, importance, source, confidence, derivedFrom, ifVersion };
  const { entry, ttl: kept, usage } = await deps.ledger.put(draft);
  changed(deps, agentId);
  return { status: 'success', ...entry, ttl: kept, ...warningOf(entry), usage };
}

function warningOf({ key }: LedgerEntry): { readonly warning?: string } {
  if (!routeNames.has(key)) return {};
  return {
    warning: `A key named ${key} is kept, listed and searched, but GET /v1/memory/${key} is a route and does not read it. Choose another key.`,
  };
}

/** What must hold before an amendment is recorded as begun, in the order of `ledger.md` §5 up to its signature. */
function requireAmendable({ charon, ledger }: CommandDeps, { input, caller }: AmendCall): void {
  requireRootKey(caller);
  requireTemplate(input.template_id);
  readPolicyParams(input.params);
  charon.ltx.requirePassport(caller.principal.principal_id);
  if (ledger.findCustody(agentOf(caller))?.state === 'open') return;
  throw new Fault(
    'CONSOLIDATION_POLICY_AMEND_FORBIDDEN',
    'No custody epoch of this agent is open, so its policy cannot be amended. Ask the owner to open one.',
  );
}

type AmendCall = Call<{
  readonly template_id: string;
  readonly params: CommandOutput<'ledger.policy'>['params'];
  readonly challenge_id?: string | undefined;
  readonly passport_signature?: string | undefined;
}>;

/** Signature, then the append; a challenge whose append fails is burnt all the same, and a new one is asked for. */
async function amend(deps: CommandDeps, { input, caller }: AmendCall): Promise<CommandOutput<'ledger.amend_policy'>> {
  const { template_id: templateId, params, passport_signature: signature } = input;
  const principalId = caller.principal.principal_id;
  const { public_key: publicKey } = deps.charon.ltx.requirePassport(principalId);
  const proof = { challengeId: input.challenge_id, signature };
  const challenge = await deps.charon.ltx.prove(principalId, proof, (asked) =>
    amendmentText({
      challengeId: asked.challenge_id,
      challengeNonce: asked.nonce,
      templateId,
      params,
      issuedAt: asked.issued_at,
      expiresAt: asked.expires_at,
    }),
  );
  const agentId = agentOf(caller);
  const policy = await deps.ledger.appendPolicy({
    agentId,
    templateId,
    params,
    challengeId: challenge.challenge_id,
    challengeNonce: challenge.nonce,
    issuedAt: challenge.issued_at,
    expiresAt: challenge.expires_at,
    signature: signature ?? '',
    publicKey: inBase64Url(publicKey),
  });
  changed(deps, agentId);
  const { digest: _digest, ...said } = policy;
  return { status: 'success', ...said };
}

function describeCaller({ charon, ledger }: CommandDeps, caller: Caller): CommandOutput<'ledger.me'> {
  const { principal, credential } = caller;
  const passport = charon.ltx.findPassport(principal.principal_id);
  const agentId = agentOf(caller);
  return {
    status: 'success',
    agent_id: agentId,
    agent_name: principal.name,
    owner_identifier: charon.ltx.findRegistrationOf(principal.principal_id)?.owner_identifier ?? null,
    created_at: principal.created_at,
    key: { kind: credential.kind === 'ltx' ? credential.key : credential.kind, id: credential.id },
    passport: passport === undefined ? null : { did: passport.did, revoked: passport.revoked_at !== null },
    usage: ledger.usage(agentId),
  };
}

/** The agent whose memory a caller's calls are about. */
function agentOf(caller: Caller): LedgerAgentId {
  return agentIdOf(caller.principal.principal_id);
}

function changed({ events }: CommandDeps, agentId: LedgerAgentId): void {
  events.publish([{ kind: 'ledger_changed', agent_id: agentId }]);
}

function agentObjects(_input: unknown, caller: Caller): readonly string[] {
  return [agentOf(caller)];
}

/**
 * What the audit keeps of a key: the agent and a digest, since keys are chosen by agents and may say as much as a value.
 * Whoever knows the key finds its entries: `key:` and the first 32 hex characters of SHA-256 over agent id, LF, key.
 */
function keyObjects({ key }: { readonly key: string }, caller: Caller): readonly string[] {
  const agentId = agentOf(caller);
  return [agentId, `key:${sha256Hex(`${agentId}\n${key}`).slice(0, 32)}`];
}

function requireKey(text: string): LedgerKey {
  const key = ledgerKeySchema.safeParse(text);
  if (key.success) return key.data;
  throw new Fault(
    'MEMORY_KEY_INVALID',
    'key: 1 to 128 letters, digits, `-`, `_`, `.`, `:`, and neither `.` nor `..`. Send it as one path segment.',
    { field: 'key' },
  );
}

function requireQuery(q: string): void {
  if (!isBlank(q)) return;
  throw new Fault('MEMORY_QUERY_REQUIRED', 'q: there is nothing to look for. Send at least one character.', {
    field: 'q',
  });
}
