import { performance } from 'node:perf_hooks';
import { type Clock, toTimestamp } from './base/clock.ts';
import { Fault } from './base/fault.ts';
import type { Ids } from './base/ids.ts';
import type { Log } from './base/log.ts';
import type { Caller, Charon } from './charon/api.ts';
import { openCharon } from './charon/charon.ts';
import type { Commands } from './commands/api.ts';
import { createEventHub, type EventHub } from './commands/events.ts';
import { letheAdapter } from './commands/lethe-adapter.ts';
import { createMetrics } from './commands/metrics.ts';
import { type CommandPipeline, createCommands } from './commands/run.ts';
import { startUpkeep } from './commands/upkeep.ts';
import { readRecovery, readTuning } from './home/environment.ts';
import { type Environment, type HomePaths, homeExists, homePaths, prepareHome } from './home/home.ts';
import { type Host, removeHost, writeHost } from './home/host-file.ts';
import { type HomeKeys, openKeys } from './home/keys.ts';
import { lockHome } from './home/lock.ts';
import { readSettings, type Settings } from './home/settings.ts';
import type { Lethe } from './lethe/api.ts';
import { openLethe } from './lethe/lethe.ts';
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
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** The addresses of what is open. */
export interface AppDoors {
  readonly mcp: string | null;
  readonly ownerPage: string | null;
  readonly socket: string | null;
}

/** The whole engine of one home. */
export interface App {
  readonly home: string;
  readonly commands: Commands;
  readonly doors: AppDoors;
  /** The owner through one of the owner's doors. Throws CLOSED once the engine is closing. */
  ownerCaller(door: Caller['door']): Caller;
  /** The owner page's address with a fresh one-time code; undefined while that door is shut. */
  newLoginUrl(): string | undefined;
  /** Shuts the doors, waits for what runs, flushes the ledger, checkpoints, lets go of the home. Once is enough. */
  close(): Promise<void>;
}

type Undo = () => void | Promise<void>;

interface Opened {
  readonly paths: HomePaths;
  readonly host: Host;
  readonly settings: Settings;
  readonly keys: HomeKeys;
  readonly charon: Charon;
  readonly lethe: Lethe;
  readonly commands: CommandPipeline;
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
  const opened = await openStores(options, undo, () => ({
    version: options.version,
    home: options.home,
    mcpUrl,
    startedAt,
  }));
  const { paths, charon, commands } = opened;
  const doors = options.doors === null ? closedDoors : await openDoors(options, options.doors, opened, undo);
  mcpUrl = doors.mcp;
  writeHost(paths.host, { ...opened.host, socket: doors.socket, mcp: doors.mcp, owner_page: doors.ownerPage });
  let closing: Promise<void> | undefined;
  return {
    home: options.home,
    commands,
    doors,
    ownerCaller: (door) => {
      if (closing === undefined) return charon.ownerCaller(door);
      throw new Fault('CLOSED', 'Memory Git is shutting down. Nothing was done; try again when it is back.');
    },
    newLoginUrl: doors.newLoginUrl,
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

type Facts = Parameters<typeof createCommands>[0]['facts'];

async function openStores(options: AppOptions, undo: Undo[], facts: Facts): Promise<Opened> {
  const { env, clock, ids, log } = options;
  const paths = homePaths(options.home, env);
  const recovery = readRecovery(env);
  const tuning = readTuning(env);
  if (recovery && !homeExists(paths)) {
    throw new Fault(
      'HOME_INVALID',
      'There is no home to recover at that place. Name it with --home, or start without the recovery switch.',
    );
  }
  prepareHome(paths);
  const lock = lockHome(paths);
  undo.push(() => lock.release());
  // At once, without addresses: a home that is opening or used by a command line says who holds it too.
  const host: Host = {
    pid: process.pid,
    nonce: ids.randomBytes(16).toString('hex'),
    socket: null,
    mcp: null,
    owner_page: null,
    started_at: facts().startedAt,
  };
  undo.push(() => removeHost(paths.host));
  writeHost(paths.host, host);
  const settings = readSettings(paths);
  const keys = openKeys(paths, env, ids);
  for (const warning of keys.warnings) log.warn(warning);

  const events = createEventHub(log);
  const store = storeOpenedLater();
  const charon = await openCharon({
    path: paths.charonDb,
    anchorPath: paths.anchor,
    readOnly: recovery,
    clock,
    ids,
    keys: { obol: keys.obol, ledger: keys.ledger, mergeSigning: keys.merges.signing },
    store: letheAdapter(store.get),
    onEvents: events.publish,
    log,
    tuning,
  });
  undo.push(() => charon.close());
  const lethe = openLethe({
    path: paths.letheDb,
    readOnly: recovery,
    clock,
    ids,
    headSigner: keys.head,
    mergeKeys: keys.merges.verifying,
    ownerPrincipal: charon.owner().principal_id,
    onEvents: events.publish,
    log,
    tuning,
  });
  undo.push(() => lethe.close());
  store.set(lethe);
  if (!recovery) await settle(charon, log);

  const commands = openCommands(options, { charon, lethe, events, recovery, facts });
  undo.push(() => commands.close());
  if (!recovery) {
    const upkeep = startUpkeep({ lethe, charon, events, log });
    undo.push(() => upkeep.stop());
  }
  return { paths, host, settings, keys, charon, lethe, commands };
}

function openCommands(
  options: AppOptions,
  parts: {
    readonly charon: Charon;
    readonly lethe: Lethe;
    readonly events: EventHub;
    readonly recovery: boolean;
    readonly facts: Facts;
  },
): CommandPipeline {
  const { charon, lethe, events, recovery, facts } = parts;
  return createCommands({
    lethe,
    charon,
    events,
    facts,
    metrics: createMetrics(() => charon.audit.backlog()),
    clock: options.clock,
    monotonicMs: () => performance.now(),
    ids: options.ids,
    log: options.log,
    recoveryReadonly: recovery,
  });
}

/** Charon opens first and the store second; this is where the one finds the other. */
function storeOpenedLater(): { readonly get: () => Lethe; readonly set: (lethe: Lethe) => void } {
  let opened: Lethe | undefined;
  return {
    get: () => {
      if (opened === undefined) throw new Fault('STORE_UNAVAILABLE', 'The store is not open yet. Try again.');
      return opened;
    },
    set: (lethe) => {
      opened = lethe;
    },
  };
}

/** After a crash, what the records decide is settled before any door opens (`charon.md` §6). */
async function settle(charon: Charon, log: Log): Promise<void> {
  const { settled, ambiguous } = await charon.settle();
  if (settled > 0) log.info({ settled }, 'requests that a crash had interrupted were settled');
  if (ambiguous > 0)
    log.warn({ ambiguous }, 'requests that a crash had interrupted cannot be decided; the ledger lists them');
}

interface OpenDoors extends AppDoors {
  readonly newLoginUrl: () => string | undefined;
}

const closedDoors: OpenDoors = { mcp: null, ownerPage: null, socket: null, newLoginUrl: () => undefined };

async function openDoors(options: AppOptions, wanted: DoorOptions, opened: Opened, undo: Undo[]): Promise<OpenDoors> {
  const { clock, ids, log, version } = options;
  const { paths, settings, keys, charon, lethe, commands } = opened;
  // Loaded only when wanted: a command line on closed files starts without a web server.
  const { openAgentDoor } = await import('./transports/agent-door.ts');
  const { openOwnerSocket } = await import('./transports/owner-socket.ts');
  const agents = await openAgentDoor({
    port: wanted.agentPort ?? settings.ports.agent,
    commands,
    charon,
    clock,
    ids,
    log,
    version,
    ready: async () => readiness(charon, lethe),
  });
  undo.push(() => agents.close());
  const page = wanted.ownerPageDir === null ? undefined : await openPage(options, wanted.ownerPageDir, opened);
  if (page !== undefined) undo.push(() => page.close());
  const newLoginUrl = (): string | undefined => page?.newLoginUrl();
  const socket = await openOwnerSocket({
    path: paths.socket,
    ownerKey: keys.owner,
    commands,
    charon,
    newLoginUrl: page?.newLoginUrl,
    log,
  });
  undo.push(() => socket.close());
  return { mcp: agents.mcpUrl, ownerPage: page?.url ?? null, socket: socket.path, newLoginUrl };
}

async function openPage(
  options: AppOptions,
  rendererDir: string,
  { settings, charon, commands }: Opened,
): Promise<OwnerPage> {
  const { openOwnerPage } = await import('./transports/owner-page.ts');
  const { clock, ids, log } = options;
  return openOwnerPage({ port: settings.ports.owner_page, rendererDir, commands, charon, clock, ids, log });
}

/** Backlog of the ledger at which mutations are refused (`charon.md` §6). */
const auditBacklogMax = 10_000;

function readiness(charon: Charon, lethe: Lethe): { readonly ok: boolean; readonly problems: string[] } {
  const problems: string[] = [];
  try {
    lethe.listProjects();
  } catch {
    problems.push('the store cannot be read');
  }
  try {
    charon.owner();
    if (charon.audit.backlog() >= auditBacklogMax) problems.push('the audit ledger cannot be written');
  } catch {
    problems.push('the policy store cannot be read');
  }
  return { ok: problems.length === 0, problems };
}
