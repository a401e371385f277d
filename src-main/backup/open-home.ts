import type { Log } from '../base/log.ts';
import { type OpenHome, openHome } from '../home/open.ts';
import { carryOutNext } from './next.ts';
import type { BackupTools } from './tools.ts';

/**
 * Opens a home after doing what its owner had wait for this start: a restore, or putting back what one replaced (`charon.md` §7).
 * Throws as `openHome`.
 */
export async function openHomeAsAsked(
  options: Parameters<typeof openHome>[0] & { readonly log: Log; readonly version: string },
): Promise<OpenHome> {
  const home = await openHome(options);
  try {
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
