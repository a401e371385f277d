import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type App, openApp } from '../app.ts';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { systemIds } from '../base/ids.ts';
import { openLog } from '../base/log.ts';
import type { Environment } from '../home/home.ts';
import { confirmed, confirmInProcess } from './cli-confirm.ts';
import { type ExitCode, exitCodes } from './cli-exit.ts';
import { productVersion } from './version.ts';

export interface ServeOptions {
  readonly home: string;
  readonly env: Environment;
  /** Null: the port of the settings. */
  readonly port: number | null;
  readonly ownerPage: boolean;
  readonly json: boolean;
  readonly print: (value: unknown, text: string) => void;
}

/**
 * The engine in this process, without a window: opens everything, prints the ready line (`charon.md` §8) and serves until
 * SIGINT, SIGTERM or SIGHUP; a later one does not wait for the closing (`nextSignal`).
 */
export async function serve(options: ServeOptions): Promise<ExitCode> {
  const { home, env } = options;
  const stopped = nextSignal();
  const ownerPageDir = options.ownerPage ? requireRenderer() : null;
  const app = await openApp({
    home,
    env,
    doors: { agentPort: options.port, ownerPageDir },
    version: productVersion,
    clock: systemClock,
    ids: systemIds(),
    log: openLog(options.json ? 'warn' : 'info'),
  });
  const owner = options.ownerPage ? await openPage(app) : null;
  options.print(
    { ready: true, mcp: app.doors.mcp, ledger: app.doors.ledger, owner, home, pid: process.pid },
    readyText(app.doors.mcp, owner, home),
  );
  await stopped;
  await app.close();
  return exitCodes.done;
}

/** An act of power, confirmed like every other from outside the desk (`charon.md` §8): refused, nothing is served. */
async function openPage(app: App): Promise<string> {
  const caller = app.ownerCaller('files');
  const act = (confirmation: string | undefined) => app.commands.call('owner_page.open', {}, caller, confirmation);
  try {
    return (await confirmed(act, confirmInProcess(app.commands, caller))).url;
  } catch (thrown) {
    await app.close();
    throw thrown;
  }
}

function readyText(mcp: string | null, owner: string | null, home: string): string {
  const lines = [`Agents:  ${mcp}`, `Home:    ${home}`];
  if (owner !== null) lines.push(`Desk:    ${owner}`, '         (works once, within a minute)');
  return [...lines, 'Ctrl-C ends it.'].join('\n');
}

/** The signals that end a serving command line. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One order to stop arrives twice when a parent in the same group passes on what the whole group was sent. */
const sameOrderMs = 1_000;

/** Resolves with the first of the signals; one that comes a second or more after it ends the process at once. */
export function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const stop = (): void => {
      const nowMs = performance.now();
      firstMs ??= nowMs;
      if (nowMs - firstMs >= sameOrderMs) process.exit(exitCodes.refused);
      resolve();
    };
    for (const signal of stopSignals) process.on(signal, stop);
  });
}

/** The folder of the built desk, beside this program in a package and in `out` of a checkout; undefined when not built. */
export function findRenderer(): string | undefined {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'out', 'renderer');
    if (existsSync(join(candidate, 'index.html'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function requireRenderer(): string {
  const folder = findRenderer();
  if (folder !== undefined) return folder;
  throw new Fault(
    'STORE_UNAVAILABLE',
    'The desk is not built, so there is no owner page to serve. Run npm run build first, or serve without --owner-page.',
  );
}
