import { createInterface } from 'node:readline/promises';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { systemIds } from '../base/ids.ts';
import { openLog } from '../base/log.ts';
import { type HomePaths, homeExists, homePaths } from '../home/home.ts';
import type { RestoredMark } from '../home/restored-mark.ts';
import { inspectionText, placeOf } from './cli-backup.ts';
import { type AskPassphrase, askOnTerminal } from './cli-confirm.ts';
import { type ExitCode, exitCodes } from './cli-exit.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';
import { reconcileText } from './cli-reconcile.ts';
import { productVersion } from './version.ts';

interface RestoreOptions {
  readonly yes?: boolean;
  readonly keysFromBackup?: boolean;
  readonly lift?: boolean;
  readonly putBack?: boolean;
}

type Alone = Omit<Session, 'call'>;

/** `charon restore`: a backup in the place of a home, and the way out of the recovery that follows (`charon.md` §7). */
export function addRestore(program: Program, ask: AskPassphrase = askOnTerminal): void {
  program.root
    .command('restore')
    .description(
      'put a backup in the place of this home, after verifying it and backing up what is there; it comes up read only until --lift',
    )
    .argument('[folder]', 'the folder of the backup, or its name as backup ls shows it')
    .option('--yes', 'do not ask for the first characters of the home id')
    .option('--keys-from-backup', 'into an empty home: take the keys too, with the recovery passphrase')
    .option('--lift', 'reconcile a restored home and, when everything agrees, let it be written to again')
    .option('--put-back', 'put back what was there before the restore')
    .action(async (folder: string | undefined, options: RestoreOptions) => {
      if (options.lift === true) return program.act((session) => lift(session));
      if (options.putBack === true) return putBack(program, options);
      if (folder === undefined) throw usageFault('folder', 'name the backup, or give --lift or --put-back.');
      return restore(program, placeOf(folder), options, ask);
    });
}

async function restore(
  program: Program,
  directory: string,
  options: RestoreOptions,
  ask: AskPassphrase,
): Promise<void> {
  let isAlone = false;
  let isStaged = false;
  await program.actAlone(async ({ home }) => {
    isAlone = options.keysFromBackup === true || !homeExists(homePaths(home, process.env));
    return undefined;
  });
  if (!isAlone) {
    try {
      await program.act(async (session) => {
        isStaged = await stage(session, directory, options);
        return isStaged ? exitCodes.done : exitCodes.refused;
      });
      if (!isStaged) return;
    } catch (thrown) {
      // A home that does not open any more is why one restores: then its files are looked at without it.
      if (!(thrown instanceof Fault) || !damaged.has(thrown.code)) throw thrown;
      isAlone = true;
    }
  }
  await program.actAlone((session) =>
    isAlone ? restoreAlone(session, directory, options, ask) : carryOut(session, `charon restore ${directory}`),
  );
}

const damaged: ReadonlySet<string> = new Set(['INTEGRITY_MISMATCH', 'STORE_UNAVAILABLE', 'HOME_INVALID', 'INTERNAL']);

/** Inspects, asks, and has the next start do it; false when the backup is not clean. */
async function stage(
  { call, json, print, warn }: Session,
  directory: string,
  options: RestoreOptions,
): Promise<boolean> {
  const found = await call('backup.inspect', { directory });
  if (!found.ok) {
    print(found, inspectionText(found));
    return false;
  }
  if (!json) warn(`\n${inspectionText(found)}`);
  const confirm = await confirmation(found.home_id ?? '', options);
  return (await call('restore.stage', { directory, confirm })).ok;
}

/** Does what waits for a start, unless the running host holds the home: then its next start does it. */
async function carryOut(session: Alone, again: string): Promise<ExitCode> {
  const { openHomeAsAsked } = await import('../backup/open-home.ts');
  const { restoreStatus } = await import('../backup/next.ts');
  try {
    const home = await openHomeAsAsked({ root: session.home, ...common() });
    home.release();
    const { problem } = restoreStatus(home.paths, home.restored);
    if (problem !== null) throw new Fault('BACKUP_REFUSED', problem);
    tell(session, home.paths, home.restored);
    return exitCodes.done;
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== 'HOME_LOCKED') throw thrown;
    throw new Fault(
      'HOME_LOCKED',
      `Memory Git is running, so this waits for its next start. Quit it and start it again, or quit it and run: ${again} --home ${session.home}`,
    );
  }
}

/** Into a home that is empty, or does not open any more. */
async function restoreAlone(
  session: Alone,
  directory: string,
  options: RestoreOptions,
  ask: AskPassphrase,
): Promise<ExitCode> {
  const { openHome } = await import('../home/open.ts');
  const { toolsOf } = await import('../backup/open-home.ts');
  const { findDirectory, newScratch } = await import('../backup/places.ts');
  const { inspectBackup } = await import('../backup/inspect.ts');
  const { restoreBackup } = await import('../backup/restore.ts');
  const { withdrawNext } = await import('../backup/next.ts');
  const { takeKeys } = await import('../backup/take-keys.ts');
  const open = () => openHome({ root: session.home, ...common() });
  let home = await open();
  try {
    const place = findDirectory(home.paths, directory);
    if (options.keysFromBackup === true) {
      await takeKeys(home, place, () => ask('Recovery passphrase: '));
      home.release();
      home = await open();
    }
    const tools = toolsOf(home, common());
    const found = await inspectBackup(place, newScratch(home.paths, tools.ids, 'inspect'), tools);
    if (!found.ok) {
      session.print(found, inspectionText(found));
      return exitCodes.refused;
    }
    if (!session.json) session.warn(`\n${inspectionText(found)}`);
    await confirmation(found.home_id ?? '', options);
    const mark = await restoreBackup(tools, { directory: place });
    // What waited was asked of the home that is replaced now.
    withdrawNext(home.paths);
    tell(session, home.paths, mark);
    return exitCodes.done;
  } finally {
    home.release();
  }
}

async function lift({ call, print }: Session): Promise<ExitCode> {
  const { lifted, report } = await call('restore.lift', {});
  const end = lifted
    ? 'Recovery is lifted: the next start of Memory Git is a normal one. Approve tokens again: charon obol ls.'
    : 'Nothing was lifted.';
  print({ lifted, report }, `${reconcileText(report)}\n${end}`);
  return lifted ? exitCodes.done : exitCodes.refused;
}

async function putBack(program: Program, options: RestoreOptions): Promise<void> {
  await program.act(async ({ call }) => {
    const { home_id: homeId } = await call('engine.status', {});
    await call('restore.put_back', { confirm: await confirmation(homeId, options) });
    return undefined;
  });
  await program.actAlone((session) => carryOut(session, 'charon restore --put-back'));
}

/** The first characters of the home's id, typed on the terminal. Throws INPUT_INVALID where there is none, or they are others. */
async function confirmation(homeId: string, { yes }: RestoreOptions): Promise<string> {
  const wanted = homeId.slice(0, 8);
  if (yes === true) return wanted;
  if (!process.stdin.isTTY)
    throw usageFault('confirm', 'there is no terminal to type the confirmation on. Add --yes to do it without.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await terminal.question(`Type the first 8 characters of the home id (${homeId}) to go on: `);
    if (typed.trim() === wanted) return wanted;
    throw usageFault('confirm', 'these are not the first 8 characters of the home id. Nothing was changed.');
  } finally {
    terminal.close();
  }
}

function tell(session: Alone, paths: HomePaths, mark: RestoredMark | undefined): void {
  if (mark === undefined) {
    session.print({ put_back: true }, 'What was there before the restore is back.');
    return;
  }
  const { restored_at, manifest_digest, created_at, safety, notes, id } = mark;
  session.print(
    { restored_at, manifest_digest, created_at, safety, notes, replaced: `${paths.restore}/${id}/replaced` },
    [
      `Restored the backup of ${created_at}. The home is read only until you have checked it.`,
      safety === null
        ? 'What was there before is kept file by file.'
        : `What was there before is backed up as ${safety}.`,
      ...notes.map((note) => `note: ${note}`),
      'Check it, then: charon restore --lift. To undo the restore: charon restore --put-back.',
    ].join('\n'),
  );
}

function common() {
  return {
    env: process.env,
    clock: systemClock,
    ids: systemIds(),
    log: openLog('warn'),
    version: productVersion,
  };
}
