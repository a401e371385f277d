import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { onTestFinished } from 'vitest';
import type { Backups } from '../../src-main/backup/backups.ts';
import { openHomeAsAsked } from '../../src-main/backup/open-home.ts';
import { toTimestamp } from '../../src-main/base/clock.ts';
import { Fault } from '../../src-main/base/fault.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { Caller, Charon } from '../../src-main/charon/api.ts';
import type { CommandDeps } from '../../src-main/commands/deps.ts';
import { openEngineBackups } from '../../src-main/commands/engine-backups.ts';
import { createEventHub } from '../../src-main/commands/events.ts';
import { createMetrics, type Metrics } from '../../src-main/commands/metrics.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import type { WaitingTimes } from '../../src-main/commands/owner-requests.ts';
import { type CommandPipeline, createCommands } from '../../src-main/commands/run.ts';
import { type Environment, type HomePaths, homePaths, prepareHome } from '../../src-main/home/home.ts';
import type { Limits } from '../../src-main/home/limits.ts';
import type { Ledger } from '../../src-main/ledger/api.ts';
import type { Lethe } from '../../src-main/lethe/api.ts';
import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { type AgentProfile, grantSchema } from '../../src-preload/contract/principal.ts';
import { type FakeClock, fakeClock, seededIds } from './history-builder.ts';
import { tempHome } from './temp-home.ts';

/** Both stores and the pipeline over them, in a home of the test's own, without doors. */
export interface TempEngine {
  readonly commands: CommandPipeline;
  readonly charon: Charon;
  readonly lethe: Lethe;
  readonly metrics: Metrics;
  readonly clock: FakeClock;
  readonly events: EngineEvent[];
  readonly owner: Caller;
  readonly ledger: Ledger;
  readonly backups: Backups;
  /** The files behind it, for breaking things on purpose. */
  readonly paths: HomePaths;
  /** Creates an agent and lets it in by a token of its own. */
  agent(name: string, profile: AgentProfile, ...grants: string[]): Promise<Caller>;
  run<Name extends CommandName>(caller: Caller, name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>;
  /** Whatever input under whatever name, as a door would hand it over. */
  raw(caller: Caller, name: string, input: unknown): Promise<unknown>;
  /** The refusal of a call that must be refused. */
  refusal(caller: Caller, name: string, input: unknown): Promise<Fault>;
  /** The audit entries so far, oldest first. */
  entries(): Promise<readonly AuditEntry[]>;
  /** Closes everything; the home stays where it is. */
  close(): Promise<void>;
  /** Closes everything and opens the same home again, with other options if wanted. */
  reopen(options?: TempEngineOptions): Promise<TempEngine>;
}

export interface TempEngineOptions {
  readonly recovery?: boolean;
  readonly env?: Environment;
  /** What `limits` in settings.json says. */
  readonly limits?: Partial<Limits>;
  readonly disk?: CommandDeps['disk'];
  /** How long an act waits for the owner, and a desk that left counts as open. */
  readonly waiting?: WaitingTimes;
  /** Whether there is an owner page to open. */
  readonly ownerPage?: boolean;
}

/** Opens an engine on a new home; it is closed when the test is over. */
export async function tempEngine(options: TempEngineOptions = {}): Promise<TempEngine> {
  return openEngine(tempHome().root, fakeClock(), options);
}

async function openEngine(root: string, clock: FakeClock, options: TempEngineOptions): Promise<TempEngine> {
  const ids = seededIds(`engine-${clock.nowMs()}`);
  const env = { ...options.env, ...(options.recovery === true ? { CHARON_RECOVERY_READONLY: '1' } : {}) };
  if (options.limits !== undefined) {
    const paths = homePaths(root, env);
    prepareHome(paths);
    writeFileSync(paths.settings, JSON.stringify({ limits: options.limits }));
  }
  const home = await openHomeAsAsked({ root, env, clock, ids, log: silentLog, version: '0.0.0' });
  const { paths } = home;
  const hub = createEventHub(silentLog);
  const events: EngineEvent[] = [];
  hub.subscribe((event) => events.push(event));
  const stores = await openStores({ home, clock, ids, log: silentLog, onEvents: hub.publish });
  const { charon, lethe, ledger } = stores;
  const metrics = createMetrics(charon.audit.backlog, charon.audit.appendFailures);
  const common = { clock, ids, log: silentLog, monotonicMs: () => performance.now() };
  const engine = { ...common, charon, events: hub, isElsewhere: false, version: '0.0.0' };
  const backups = openEngineBackups(home, env, engine);
  const login = options.ownerPage === true ? { newLoginUrl: () => 'http://127.0.0.1:1/#code=x' } : {};
  const deps: CommandDeps = {
    ...common,
    ...{ lethe, files: lethe, charon, ledger, events: hub, metrics, backups },
    keyRing: home.keyRing,
    recoveryReadonly: home.recovery,
    disk: options.disk,
    facts: () => ({
      version: '0.0.0',
      home: paths.root,
      mcpUrl: null,
      startedAt: toTimestamp(clock.nowMs()),
      ...login,
    }),
  };
  const commands = createCommands(deps, options.waiting);
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    await commands.close();
    await backups.close();
    await stores.close();
    home.release();
  };
  onTestFinished(close);
  const owner = charon.ownerCaller('window');
  let calls = 0;
  const raw = (caller: Caller, name: string, input: unknown): Promise<unknown> => {
    calls += 1;
    return commands.run({ name, input, caller, client: 'test 1.0', correlationId: `call-${calls}` });
  };
  return {
    commands,
    charon,
    lethe,
    ledger,
    backups,
    metrics,
    clock,
    events,
    owner,
    paths,
    agent: (name, profile, ...grants) => letIn(charon, name, profile, grants),
    run: (caller, name, input) => commands.call(name, input, caller),
    raw,
    refusal: async (caller, name, input) => {
      try {
        await raw(caller, name, input);
      } catch (thrown) {
        if (thrown instanceof Fault) return thrown;
        throw thrown;
      }
      throw new Error(`${name} was not refused`);
    },
    entries: async () => {
      await charon.audit.flush();
      return charon.audit.tail({ limit: 500 }).toReversed();
    },
    close,
    reopen: async (again = {}) => {
      await close();
      clock.advance(1);
      return openEngine(root, clock, again);
    },
  };
}

async function letIn(charon: Charon, name: string, profile: AgentProfile, grants: readonly string[]): Promise<Caller> {
  let principal = charon.owner();
  for (const grant of grants) {
    const done = await charon.reconcilePrincipal({ name, profile, grant: grantSchema.parse(grant) });
    principal = done.principal;
  }
  const { token } = await charon.mintObol({ principalId: principal.principal_id, expiresMs: null });
  const caller = charon.authenticate(token, 'agent');
  if (caller === undefined) throw new Error('a new token opens the door');
  return caller;
}
