import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import {
  type DerivedFrom,
  type Importance,
  type LedgerEntry,
  type LedgerKey,
  ledgerKeySchema,
} from '../../src-preload/contract/ledger.ts';
import { Fault } from '../base/fault.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { isBlank } from '../canonical/text.ts';
import type { Caller } from '../charon/api.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { agentObjects, agentOf, changed } from './ledger-agent.ts';

/** Last segments of `/v1/memory/…` that are routes: a key of that name cannot be read there by its name. */
const routeNames: ReadonlySet<string> = new Set(['context', 'search', 'stats']);

/** The memory ledger as agents use it: each its own keys. Answers are the bodies of `/v1` (`ledger.md` §2, §7). */
export function ledgerCommands(deps: CommandDeps): readonly BoundCommand[] {
  return [...keyCommands(deps), ...overviewCommands(deps)];
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
