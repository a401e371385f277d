import { existsSync } from 'node:fs';
import { openApp } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { systemIds } from '../base/ids.ts';
import { type Log, openLog } from '../base/log.ts';
import { readLetheHttp } from '../home/environment.ts';
import { type Environment, homePaths } from '../home/home.ts';
import { openLetheApiKey } from '../home/keys.ts';
import { openHome } from '../home/open.ts';
import { ledgerMigrations } from '../ledger/migrations/migrations.ts';
import { openLethe } from '../lethe/lethe.ts';
import type { Bind } from '../transports/lethe-http/access.ts';
import { openLetheHttp } from '../transports/lethe-http/server.ts';
import { type ExitCode, exitCodes } from './cli-exit.ts';
import { nextSignal } from './headless.ts';
import { keepIndexed } from './keep-indexed.ts';
import { productVersion } from './version.ts';

export interface ServeStoreOptions {
  readonly home: string;
  readonly env: Environment;
  readonly json: boolean;
  readonly print: (value: unknown, text: string) => void;
  readonly bind: Bind;
}

/** A store that is open behind its door. */
interface OpenStore {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the store of a home to gateways: prints the ready line and goes on until SIGINT, SIGTERM or SIGHUP; a later one
 * does not wait for the closing (`nextSignal`). Throws HOME_LOCKED with the remedy, and what opening a home, a store and a door throw.
 */
export async function serveStore(options: ServeStoreOptions): Promise<ExitCode> {
  const { home, json, print, env } = options;
  const stopped = nextSignal();
  const log = openLog(json ? 'warn' : 'info');
  const besidePolicy = existsSync(homePaths(home, env).charonDb);
  const store = await opened(() => (besidePolicy ? openBeside(options, log) : openAlone(options, log)));
  const key = keySource(env, besidePolicy);
  print({ ready: true, lethe: store.url, key, home, pid: process.pid }, readyText(store.url, key, home));
  await stopped;
  await store.close();
  return exitCodes.done;
}

/** One process owns a home: who finds it held is told how the holder can open this door itself. */
async function opened(open: () => Promise<OpenStore>): Promise<OpenStore> {
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== 'HOME_LOCKED') throw thrown;
    const remedy =
      'If that is Memory Git, it can open this door itself: write {"lethe_http": {"enabled": true}} in settings.json of the home, and start it again.';
    throw new Fault('HOME_LOCKED', `${thrown.message} ${remedy}`, thrown.data);
  }
}

/** A home with a policy engine: both stores, and the door with its key. */
async function openBeside({ home, env, bind }: ServeStoreOptions, log: Log): Promise<OpenStore> {
  const app = await openApp({
    ...{ home, env, log, doors: null, letheHttp: bind },
    ...{ version: productVersion, clock: systemClock, ids: systemIds() },
  });
  return { url: app.doors.letheHttp ?? '', close: () => app.close() };
}

/** A home of the store alone: no policy engine is made, and no key is needed on this machine. */
async function openAlone({ home: root, env, bind }: ServeStoreOptions, log: Log): Promise<OpenStore> {
  const ids = systemIds();
  const access = readLetheHttp(env);
  const home = await openHome({ root, env, clock: systemClock, ids });
  const undo: (() => void | Promise<void>)[] = [() => home.release()];
  const close = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    for (const warning of home.keys.warnings) log.warn(warning);
    const index = keepIndexed(log);
    const lethe = openLethe({
      ...{ path: home.paths.letheDb, readOnly: home.recovery, clock: systemClock, ids, log, tuning: home.tuning },
      headSigner: home.keys.head,
      mergeKeys: home.keys.merges.verifying,
      earlierMergeKeys: home.keys.merges.earlier,
      ownerPrincipal: env.LETHE_OWNER_PRINCIPAL?.trim() || undefined,
      furtherMigrations: ledgerMigrations,
      onEvents: index.onEvents,
    });
    undo.push(() => lethe.close());
    if (!home.recovery) index.start(lethe);
    undo.push(() => index.stop());
    const key = (await openLetheApiKey(home, env, ids))?.key;
    const door = await openLetheHttp({
      ...{ lethe, bind, key, ...access, recovery: home.recovery, log },
      mergeKeys: home.keys.merges.verifying,
    });
    undo.push(() => door.close());
    return { url: door.url, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

type KeySource = 'environment' | 'keys.json' | null;

function keySource(env: Environment, besidePolicy: boolean): KeySource {
  if ((env.LETHE_API_KEY ?? '').trim() !== '') return 'environment';
  return besidePolicy ? 'keys.json' : null;
}

function readyText(url: string, key: KeySource, home: string): string {
  const said = {
    environment: 'LETHE_API_KEY of the environment',
    'keys.json': 'lethe_api in keys.json of the home',
  };
  const lines = [`Store:  ${url}`, `Home:   ${home}`];
  if (key !== null) lines.push(`Key:    ${said[key]}`);
  return [...lines, 'Ctrl-C ends it.'].join('\n');
}
