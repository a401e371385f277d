import { existsSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { HomePaths } from '../home/home.ts';

/** The name of a new backup: the moment in UTC, and four characters that tell two of one moment apart. */
export function newBackupName(nowMs: number, ids: Ids): string {
  const moment = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${moment}-${ids.randomBytes(2).toString('hex')}`;
}

/** The folder of a backup: an absolute path as it is, else the one of that name in the home. Throws INPUT_INVALID. */
export function findDirectory(paths: HomePaths, named: string): string {
  if (isAbsolute(named)) return named;
  if (/^(?!\.)[A-Za-z0-9._-]{1,128}$/.test(named)) return join(paths.backups, named);
  throw new Fault(
    'INPUT_INVALID',
    'directory: it must be an absolute path, or the name of a backup in the backups of this home.',
    { field: 'directory' },
  );
}

/** A new folder's path for work that is over soon, inside the home, where the disk is the home's. The folder is not made. */
export function newScratch(paths: HomePaths, ids: Ids, purpose: 'inspect' | 'rehearse' | 'incoming'): string {
  if (!existsSync(paths.restore)) mkdirSync(paths.restore, { mode: 0o700 });
  return join(paths.restore, `${purpose}-${ids.randomBytes(4).toString('hex')}`);
}
