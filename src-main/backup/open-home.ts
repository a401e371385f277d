import type { Log } from '../base/log.ts';
import { readRecovery } from '../home/environment.ts';
import { type OpenHome, openHome } from '../home/open.ts';
import { carryOutNext, findNext } from './next.ts';
import type { BackupTools } from './tools.ts';

/**
 * Opens a home after doing what its owner had wait for this start: a restore, or putting back what one replaced (`charon.md` §7).
 * Where the home is opened for one command alone (`isStart` is false), or by the recovery switch to be read, it goes on waiting,
 * which the log says (R41). Throws as `openHome`.
 */
export async function openHomeAsAsked(
  options: Parameters<typeof openHome>[0] & { readonly log: Log; readonly version: string; readonly isStart?: boolean },
): Promise<OpenHome> {
  const home = await openHome(options);
  try {
    if (options.isStart === false || readRecovery(options.env)) {
      if (findNext(home.paths) !== undefined)
        options.log.warn(
          {},
          'a restore of this home waits, and was not carried out: start Memory Git (charon serve) without the recovery switch, or run charon restore again',
        );
      return home;
    }
    if (!(await carryOutNext(toolsOf(home, options), home.restored))) return home;
  } catch (thrown) {
    home.release();
    throw thrown;
  }
  home.release();
  return openHome(options);
}

/** What backups of an open home work with. */
export function toolsOf(
  { paths, keys, keyRing }: OpenHome,
  { env, clock, ids, log, version }: Pick<BackupTools, 'env' | 'clock' | 'ids' | 'log' | 'version'>,
): BackupTools {
  return { paths, keys, keyRing, env, clock, ids, log, version };
}
