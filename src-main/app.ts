import { performance } from 'node:perf_hooks';
import type { EngineEvent } from '../src-preload/contract/events.ts';
import { openHomeAsAsked } from './backup/open-home.ts';
import { type Clock, toTimestamp } from './base/clock.ts';
import { Fault } from './base/fault.ts';
import type { Ids } from './base/ids.ts';
import type { Log } from './base/log.ts';
import type { Caller, Charon } from './charon/api.ts';
import { readHomeId } from './charon/home-id.ts';
import type { Commands } from './commands/api.ts';
import type { CommandDeps } from './commands/deps.ts';
import { openEngineBackups } from './commands/engine-backups.ts';
import { createEventHub } from './commands/events.ts';
import { createLedgerGate, type LedgerGate } from './commands/ledger-gate.ts';
import type { MemoryStore } from './commands/memory-store.ts';
import { createMetrics, type Metrics } from './commands/metrics.ts';
import { openStores } from './commands/open-stores.ts';
import { type CommandPipeline, createCommands } from './commands/run.ts';
import { startUpkeep } from './commands/upkeep.ts';
import { readLetheHttp } from './home/environment.ts';
import { freeDisk } from './home/free-disk.ts';
import type { Environment } from './home/home.ts';
import type { Keychain } from './home/keychain.ts';
import { openLetheApiKey } from './home/keys.ts';
import type { OpenHome } from './home/open.ts';
import { readUpstream } from './home/upstream.ts';
import type { Lethe } from './lethe/api.ts';
import type { LetheClient } from './transports/lethe-client/store.ts';
import type { Bind } from './transports/lethe-http/access.ts';
import type { OwnerPage } from './transports/owner-page.ts';

/** Which doors to open. `agentPort` null takes the port of the settings, 0 any free one. */
export interface DoorOptions {
  readonly agentPort: number | null;
  /** The folder of the built desk, to serve it as the owner page; null leaves that door shut. */
  readonly ownerPageDir: string | null;
}

export interface AppOptions {
  /** The folder of the home, absolute. */
  readonly home: string;
  readonly env: Environment;
  /** Null: no door at all, for a command line that opens the files itself. */
  readonly doors: DoorOptions | null;
  /** Where the store's own HTTP protocol listens (`lethe serve`). Left out: where the settings say, if they do and doors are opened. */
  readonly letheHttp?: Bind | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The keychain of this system, where there is a window. */
  readonly keychain?: Keychain | undefined;
  /** Hears how far a long command has come. */
  readonly onProgress?: CommandDeps['onProgress'];
}

/** The addresses of what is open. */
export interface AppDoors {
  readonly mcp: string | null;
  /** Where the memory ledger's `/v1` is: the agent door's origin. */
  readonly ledger: string | null;
  readonly ownerPage: string | null;
  readonly socket: string | null;
  /** The store's own HTTP protocol, with `/api`. */
  readonly letheHttp: string | null;
}

/** The whole engine of one home. */
export interface App {
  readonly home: string;
  readonly commands: Commands;
  readonly doors: AppDoors;
  /** The owner through one of the owner's doors. Throws CLOSED once the engine is closing. */
  ownerCaller(door: Caller['door']): Caller;
  /** Shuts the doors, waits for what runs, flushes the ledger, checkpoints, lets go of the home. Once is enough. */
  close(): Promise<void>;
}

type Undo = () => void | Promise<void>;

interface Opened {
  readonly home: OpenHome;
  readonly charon: Charon;
  readonly store: MemoryStore;
  readonly lethe: Lethe;
  readonly commands: CommandPipeline;
  readonly gate: LedgerGate;
  readonly metrics: Metrics;
}

/**
 * Opens a home whole: folders, lock, keys, both stores, the command pipeline, the doors (`design.md` §2). What was opened
 * is closed again when a later part refuses. Throws HOME_LOCKED, HOME_INVALID, KEYS_INVALID, PORT_TAKEN and the stores' own.
 */
export async function openApp(options: AppOptions): Promise<App> {
  const undo: Undo[] = [];
  try {
    return await open(options, undo);
  } catch (thrown) {
    await unwind(undo, options.log);
    throw thrown;
  }
}

async function open(options: AppOptions, undo: Undo[]): Promise<App> {
  const startedAt = toTimestamp(options.clock.nowMs());
  let mcpUrl: string | null = null;
  let newLoginUrl: (() => string) | undefined;
  const facts = () => ({ version: options.version, home: options.home, mcpUrl, startedAt, newLoginUrl });
  const opened = await openEngine(options, undo, facts);
  const { home, charon, commands } = opened;
  const doors = options.doors === null ? closedDoors : await openDoors(options, options.doors, opened, undo);
  newLoginUrl = doors.newLoginUrl;
  const letheHttp = await openStoreDoor(options, opened, undo);
  mcpUrl = doors.mcp;
  home.announce({ socket: doors.socket, mcp: doors.mcp, owner_page: doors.ownerPage });
  let closing: Promise<void> | undefined;
  return {
    home: options.home,
    commands,
    doors: { ...doors, letheHttp },
    ownerCaller: (door) => {
      if (closing === undefined) return charon.ownerCaller(door);
      throw new Fault('CLOSED', 'Memory Git is shutting down. Nothing was done; try again when it is back.');
    },
    close: () => (closing ??= unwind(undo, options.log)),
  };
}

/** Closes in the reverse order of opening; one that fails is logged and the rest is closed all the same. */
async function unwind(undo: Undo[], log: Log): Promise<void> {
  for (let close = undo.pop(); close !== undefined; close = undo.pop()) {
    try {
      await close();
    } catch (thrown) {
      log.error({ err: thrown }, 'a part of the engine did not close cleanly');
    }
  }
}

async function openEngine(options: AppOptions, undo: Undo[], facts: CommandDeps['facts']): Promise<Opened> {
  const { clock, ids, log } = options;
  const home = await openHomeAsAsked({
    ...{ root: options.home, env: options.env, keychain: options.keychain, version: options.version },
    ...{ clock, ids, log },
    // Without any door it is opened for one command, which must not replace the home that it is about.
    isStart: options.doors !== null || options.letheHttp !== undefined,
  });
  undo.push(() => home.release());
  requireKeysOf(home);
  for (const warning of home.keys.warnings) log.warn(warning);
  const events = createEventHub(log);
  const client = await openUpstream(options, home, events.publish);
  if (client !== undefined) undo.push(() => client.close());
  const onEvents = events.publish;
  const stores = await openStores({ home, clock, ids, log, onEvents, upstream: client?.store });
  const { charon, store, lethe, ledger } = stores;
  undo.push(() => stores.close());
  if (!home.recovery) await settle(charon, log);

  const metrics = createMetrics(charon.audit.backlog, charon.audit.appendFailures);
  const monotonicMs = (): number => performance.now();
  const common = { charon, clock, ids, log, events, monotonicMs };
  const isElsewhere = client !== undefined;
  const backups = openEngineBackups(home, options.env, { ...common, isElsewhere, version: options.version });
  undo.push(() => backups.close());
  const deps: CommandDeps = {
    ...common,
    ...{ lethe: store, files: lethe, ledger, facts, metrics, backups },
    keyRing: home.keyRing,
    recoveryReadonly: home.recovery,
    isReadingCopy: home.isReadingCopy,
    disk: {
      freeBytes: freeDisk(options.home, monotonicMs),
      freeBytesMin: home.settings.limits.free_disk_bytes,
    },
    onProgress: options.onProgress,
  };
  const commands = createCommands(deps);
  undo.push(() => commands.close());
  if (!home.recovery) {
    const upkeep = startUpkeep({ lethe, ledger, charon, events, log });
    undo.push(() => upkeep.stop());
  }
  return { home, charon, store, lethe, commands, gate: createLedgerGate(deps), metrics };
}

/** Sealed keys say of which home they are: those of another one would begin a new key in its ledger (H43). */
function requireKeysOf({ paths, keyVault }: OpenHome): void {
  const sealedFor = keyVault.sealedFor();
  if (sealedFor === undefined) return;
  const homeId = readHomeId(paths.charonDb);
  if (homeId === undefined || homeId === sealedFor) return;
  throw new Fault('KEYS_INVALID', 'keys.json holds the sealed keys of another home. Put the file of this home back.', {
    field: 'sealed.home_id',
  });
}

/** The way to the store that `CHARON_UPSTREAM` names; undefined where the memory is in this home. */
async function openUpstream(
  { env }: AppOptions,
  home: OpenHome,
  onEvents: (events: readonly EngineEvent[]) => void,
): Promise<LetheClient | undefined> {
  const upstream = readUpstream(env);
  if (upstream === undefined) return undefined;
  const { openLetheClient } = await import('./transports/lethe-client/store.ts');
  return openLetheClient({
    ...{ upstream, mergeKey: home.keys.merges.signing, onEvents },
    monotonicMs: () => performance.now(),
  });
}

/** After a crash, what the records decide is settled before any door opens (`charon.md` §6). */
async function settle(charon: Charon, log: Log): Promise<void> {
  const { settled, ambiguous } = await charon.settle();
  if (settled > 0) log.info({ settled }, 'requests that a crash had interrupted were settled');
  if (ambiguous > 0)
    log.warn({ ambiguous }, 'requests that a crash had interrupted cannot be decided; the ledger lists them');
}

interface OpenDoors extends Omit<AppDoors, 'letheHttp'> {
  readonly newLoginUrl: (() => string) | undefined;
}

const closedDoors: OpenDoors = { mcp: null, ledger: null, ownerPage: null, socket: null, newLoginUrl: undefined };

async function openDoors(options: AppOptions, wanted: DoorOptions, opened: Opened, undo: Undo[]): Promise<OpenDoors> {
  const { clock, ids, log, version } = options;
  const { home, charon, store, commands } = opened;
  // Loaded only when wanted: a command line on closed files starts without a web server.
  const { agentLimitsOf, openAgentDoor } = await import('./transports/agent-door.ts');
  const { openOwnerSocket } = await import('./transports/owner-socket.ts');
  const agents = await openAgentDoor({
    port: wanted.agentPort ?? home.settings.ports.agent,
    limits: agentLimitsOf(home.settings.limits),
    commands,
    charon,
    ledger: opened.gate,
    oauth: charon.oauth,
    clock,
    ids,
    log,
    version,
    ready: () => readiness(charon, store),
  });
  undo.push(() => agents.close());
  const page = wanted.ownerPageDir === null ? undefined : await openPage(options, wanted.ownerPageDir, opened);
  if (page !== undefined) undo.push(() => page.close());
  const socket = await openOwnerSocket({
    path: home.paths.socket,
    ownerKey: home.keys.owner,
    commands,
    charon,
    metrics: opened.metrics.text,
    log,
  });
  undo.push(() => socket.close());
  undo.push(() => commands.endWaiting());
  return {
    mcp: agents.mcpUrl,
    ledger: agents.ledgerUrl,
    ownerPage: page?.url ?? null,
    socket: socket.path,
    newLoginUrl: page?.newLoginUrl,
  };
}

/** The one door that lies under Charon, for gateways (`design.md` §3): where it was asked for, else where the settings open it. */
async function openStoreDoor(
  options: AppOptions,
  { home, store, lethe }: Opened,
  undo: Undo[],
): Promise<string | null> {
  const { lethe_http: setting } = home.settings;
  const set = options.doors !== null && setting.enabled ? { host: '127.0.0.1', port: setting.port } : undefined;
  const bind = options.letheHttp ?? set;
  if (bind === undefined) return null;
  if (store !== lethe)
    throw new Fault(
      'HOME_INVALID',
      'The memory is in another process (CHARON_UPSTREAM), so this home has no store to serve. Serve it there, or leave that variable unset.',
      { variable: 'CHARON_UPSTREAM' },
    );
  const { env, ids, log } = options;
  const { openLetheHttp } = await import('./transports/lethe-http/server.ts');
  const key = (await openLetheApiKey(home, env, ids))?.key;
  const door = await openLetheHttp({
    ...{ lethe, bind, key, ...readLetheHttp(env), recovery: home.recovery, log },
    mergeKeys: home.keys.merges.verifying,
  });
  undo.push(() => door.close());
  return door.url;
}

async function openPage(
  options: AppOptions,
  rendererDir: string,
  { home, charon, commands, metrics: { text: metrics } }: Opened,
): Promise<OwnerPage> {
  const { openOwnerPage } = await import('./transports/owner-page.ts');
  const { clock, ids, log } = options;
  return openOwnerPage({
    port: home.settings.ports.owner_page,
    rendererDir,
    commands,
    charon,
    clock,
    ids,
    log,
    metrics,
  });
}

/** Backlog of the ledger at which mutations are refused (`charon.md` §6). */
const auditBacklogMax = 10_000;

async function readiness(
  charon: Charon,
  store: MemoryStore,
): Promise<{ readonly ok: boolean; readonly problems: string[] }> {
  const problems: string[] = [];
  try {
    await store.listProjects();
  } catch {
    problems.push('the store cannot be read');
  }
  try {
    charon.owner();
    if (charon.audit.isFailing() || charon.audit.backlog() >= auditBacklogMax)
      problems.push('the audit ledger cannot be written');
  } catch {
    problems.push('the policy store cannot be read');
  }
  return { ok: problems.length === 0, problems };
}
