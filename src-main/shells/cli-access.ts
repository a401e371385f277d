import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { systemIds } from '../base/ids.ts';
import { openLog } from '../base/log.ts';
import { parseOutput, rowOf } from '../commands/bind.ts';
import { commandLineOf } from '../commands/command-line.ts';
import { type Environment, type HomePaths, homeExists, homePaths } from '../home/home.ts';
import { readHost } from '../home/host-file.ts';
import { findOwnerKey } from '../home/keys.ts';
import type { Ledger } from '../ledger/api.ts';
import type { Lethe } from '../lethe/api.ts';
import type { OwnerSocketClient } from '../transports/owner-socket-client.ts';
import { type AskPassphrase, confirmed, confirmInProcess } from './cli-confirm.ts';
import { productVersion } from './version.ts';

/** The owner's commands, wherever they run: in the process that holds the home, or in this one over the files. */
export interface OwnerAccess {
  call<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>;
  close(): Promise<void>;
}

export interface AccessOptions {
  readonly home: string;
  readonly env: Environment;
  /** Whether a home that does not exist yet may be made. */
  readonly create: boolean;
  /** Only the store is looked at: a home that holds no policy engine is left without one. */
  readonly storeOnly: boolean;
  /** Hears how far a long command has come, where it runs in this process. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Told when a command waits for the owner's word at the desk, as the command line that it equals. */
  readonly onWaiting?: ((commandLine: string) => void) | undefined;
  /** Asks for the owner's passphrase; left out, on the terminal. */
  readonly ask?: AskPassphrase | undefined;
}

/**
 * Reaches the running host through its owner socket, else opens the files (`charon.md` §8). Throws HOME_INVALID when
 * there is no home, HOME_LOCKED when a process holds it whose socket does not answer.
 */
export async function openAccess(options: AccessOptions): Promise<OwnerAccess> {
  const paths = homePaths(options.home, options.env);
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    const host = await reachHost(paths, options);
    if (host !== undefined) return host;
    if (!options.create && !homeExists(paths)) {
      throw new Fault(
        'HOME_INVALID',
        'There is no Memory Git home at that place. Name it with --home, or make one: charon serve.',
      );
    }
    try {
      const alone = options.storeOnly && existsSync(paths.letheDb) && !existsSync(paths.charonDb);
      return await (alone ? openStoreAlone(options) : openFiles(options));
    } catch (thrown) {
      if (!isLocked(thrown) || Date.now() > giveUpAt) throw thrown;
    }
    await sleep(100);
  }
}

/** How long another command line, or a host that is just opening its doors, is waited for. */
const patienceMs = 5_000;

function isLocked(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.code === 'HOME_LOCKED';
}

async function reachHost(paths: HomePaths, options: AccessOptions): Promise<OwnerAccess | undefined> {
  const socket = readHost(paths.host)?.socket;
  const ownerKey = findOwnerKey(paths);
  if (socket === undefined || socket === null || ownerKey === undefined) return undefined;
  try {
    const { connectOwnerSocket } = await import('../transports/owner-socket-client.ts');
    const client = await connectOwnerSocket({ path: socket, ownerKey });
    return {
      call: async (name, input) => {
        const act = (confirmation: string | undefined) => callHost(client, { name, input, confirmation }, options);
        return parseOutput(name, await confirmed(act, client.confirm, options.ask));
      },
      close: async () => client.close(),
    };
  } catch {
    // A host that died leaves its note behind: the lock says who really holds the home.
    return undefined;
  }
}

/** Runs a command at the host. While it waits for the owner's word, Ctrl-C takes it back; afterwards it ends the program as ever. */
async function callHost(
  client: OwnerSocketClient,
  call: { readonly name: CommandName; readonly input: unknown; readonly confirmation: string | undefined },
  { onWaiting }: AccessOptions,
): Promise<unknown> {
  const { name, input, confirmation } = call;
  const ended = new AbortController();
  const takeBack = (): void => ended.abort();
  try {
    return await client.call(name, input, {
      signal: ended.signal,
      confirmation,
      onWaiting: () => {
        process.once('SIGINT', takeBack);
        onWaiting?.(commandLineOf(rowOf(name), input));
      },
    });
  } finally {
    process.off('SIGINT', takeBack);
  }
}

async function openFiles({ home, env, onProgress, ask }: AccessOptions): Promise<OwnerAccess> {
  const { openApp } = await import('../app.ts');
  const app = await openApp({
    home,
    env,
    doors: null,
    version: productVersion,
    clock: systemClock,
    ids: systemIds(),
    log: openLog('warn'),
    onProgress,
  });
  const caller = app.ownerCaller('files');
  const confirm = confirmInProcess(app.commands, caller);
  return {
    call: (name, input) =>
      confirmed((confirmation) => app.commands.call(name, input, caller, confirmation), confirm, ask),
    close: () => app.close(),
  };
}

/** A home of the store alone, as `lethe serve` makes it for gateways: verified as it is, and nothing else. */
async function openStoreAlone({ home: root, env, onProgress }: AccessOptions): Promise<OwnerAccess> {
  const { openHome } = await import('../home/open.ts');
  const { openLetheFile } = await import('../lethe/lethe.ts');
  const { openLedger } = await import('../ledger/ledger.ts');
  const { ledgerMigrations } = await import('../ledger/migrations/migrations.ts');
  const common = { clock: systemClock, ids: systemIds() };
  const home = await openHome({ root, env, ...common });
  try {
    const log = openLog('warn');
    const { lethe, file } = openLetheFile({
      ...common,
      ...{ path: home.paths.letheDb, readOnly: home.recovery, tuning: home.tuning, log },
      headSigner: home.keys.head,
      mergeKeys: home.keys.merges.verifying,
      earlierMergeKeys: home.keys.merges.earlier,
      furtherMigrations: ledgerMigrations,
      onEvents: () => {},
    });
    const ledger = openLedger({ file, ...common, log });
    return {
      call: async (name, input) => parseOutput(name, await callStore({ lethe, ledger }, name, input, onProgress)),
      close: async () => {
        lethe.close();
        home.release();
      },
    };
  } catch (thrown) {
    home.release();
    throw thrown;
  }
}

/** What the store can do without a policy engine: be verified, and take in what is imported, which nobody reviews here. */
async function callStore(
  { lethe, ledger }: { readonly lethe: Lethe; readonly ledger: Ledger },
  name: CommandName,
  input: unknown,
  onProgress: AccessOptions['onProgress'],
): Promise<unknown> {
  if (name === 'store.verify_chain') {
    const { project, full } = rowOf(name).input.parse(input);
    return lethe.verifyChain(project, undefined, { isFull: full });
  }
  if (name === 'ledger.verify') return ledger.verify(onProgress);
  const { toPlanOutput } = await import('../commands/import.ts');
  if (name === 'store.inspect_import')
    return toPlanOutput(await lethe.inspectImport({ path: rowOf(name).input.parse(input).file, onProgress }));
  if (name !== 'store.import') throw policyEngineMissing();
  const { file, content_digest: contentDigest } = rowOf(name).input.parse(input);
  const plan = await lethe.importFile({ path: file, contentDigest, principal: 'import', onProgress });
  while (await lethe.maintain());
  return { ...toPlanOutput(plan), proposals: [], notes: [] };
}

function policyEngineMissing(): Fault {
  return new Fault(
    'HOME_INVALID',
    'This home holds a store alone, for gateways. Ask its door (lethe serve), or bring the policy engine in: charon principal list.',
  );
}
