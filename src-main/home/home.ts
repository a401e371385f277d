import { chmodSync, existsSync, mkdirSync, readdirSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { Fault } from '../base/fault.ts';

/** Everything that a home holds (`design.md` §3 Home). All paths are absolute. */
export interface HomePaths {
  readonly root: string;
  readonly letheDb: string;
  readonly charonDb: string;
  readonly keys: string;
  readonly ownerKey: string;
  readonly anchor: string;
  readonly settings: string;
  readonly backups: string;
  readonly logs: string;
  /** Work of a restore: what comes in, and what it replaced. */
  readonly restore: string;
  /** Says that this home was restored and waits for its owner's check. */
  readonly restored: string;
  readonly lock: string;
  readonly host: string;
  readonly socket: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the home is: `--home`, else `MEMORY_GIT_HOME`, else the data folder of this system's user (H1). */
export function findHome(given: string | undefined, env: Environment): string {
  const named = [given, env.MEMORY_GIT_HOME].find((place) => place !== undefined && place.trim() !== '');
  if (named !== undefined) return resolve(named);
  return envPaths('memory-git', { suffix: '' }).data;
}

/** The places inside a home; touches nothing. Throws HOME_INVALID for an anchor that is named by no absolute path. */
export function homePaths(root: string, env: Environment): HomePaths {
  return {
    root,
    letheDb: join(root, 'lethe.db'),
    charonDb: join(root, 'charon.db'),
    keys: join(root, 'keys.json'),
    ownerKey: join(root, 'owner.key'),
    anchor: readAnchorPath(env) ?? join(root, 'ledger.anchor'),
    settings: join(root, 'settings.json'),
    backups: join(root, 'backups'),
    logs: join(root, 'logs'),
    restore: join(root, 'restore'),
    restored: join(root, 'restored.json'),
    lock: join(root, 'lock'),
    host: join(root, 'host.json'),
    socket: join(root, 'owner.sock'),
  };
}

/** `CHARON_LEDGER_ANCHOR_PATH` keeps the anchor of the audit ledger elsewhere, such as on another disk (H17). */
function readAnchorPath(env: Environment): string | undefined {
  const variable = 'CHARON_LEDGER_ANCHOR_PATH';
  const named = env[variable] ?? '';
  if (named === '') return undefined;
  // From another folder a relative path would be another file, and the anchor would seem to be gone.
  if (isAbsolute(named) && !named.includes('\0')) return resolve(named);
  throw new Fault(
    'HOME_INVALID',
    `${variable} must be an absolute path to a file. Leave it unset to keep the anchor in the home.`,
    {
      variable,
    },
  );
}

/** True when a home was started there before. */
export function homeExists(paths: HomePaths): boolean {
  return existsSync(paths.keys) || existsSync(paths.letheDb) || existsSync(paths.charonDb);
}

/**
 * Makes the folders of a home, 0700, or takes over those that are there (H2, H3). Throws HOME_INVALID when the place is a
 * file, is another user's and not closed, or is a folder with things in it that are not ours: those are never touched.
 */
export function prepareHome(paths: HomePaths): void {
  const found = statOf(paths.root);
  if (found === undefined) makeFolder(paths.root);
  else takeOver(paths, found);
  for (const folder of [paths.backups, paths.logs]) {
    if (!existsSync(folder)) makeFolder(folder);
    chmodSync(folder, 0o700);
  }
}

function takeOver(paths: HomePaths, found: Stats): void {
  if (!found.isDirectory()) {
    throw new Fault('HOME_INVALID', 'The home names a file, and a home is a folder. Choose another place with --home.');
  }
  const user = process.getuid?.();
  const isOwn = user === undefined || found.uid === user;
  // A folder of another user that is closed to everybody else is what a mounted volume looks like.
  if (!isOwn && (found.mode & 0o077) !== 0) {
    throw new Fault(
      'HOME_INVALID',
      'The home belongs to another user and is open to others. Choose one of your own with --home, or close it (mode 0700).',
    );
  }
  const entries = readdirSync(paths.root);
  const foreign = entries.filter((entry) => !isOurs(entry)).length;
  if (foreign > 0 && !homeExists(paths)) {
    throw new Fault(
      'HOME_INVALID',
      `The home is a folder that already holds ${foreign} other ${foreign === 1 ? 'file' : 'files'}. Choose an empty or a new folder with --home.`,
      { foreign },
    );
  }
  if (isOwn) chmodSync(paths.root, 0o700);
}

const ownNames = new Set([
  'keys.json',
  'owner.key',
  'ledger.anchor',
  'settings.json',
  'backups',
  'logs',
  'restore',
  'restored.json',
  'restore.journal',
  'lock',
  'host.json',
  'owner.sock',
]);

const databaseFile = /^(?:lethe\.db|charon\.db|lock)(?:-wal|-shm|-journal)?$/;
/** What an atomic write leaves behind when the process dies inside it. */
const halfWritten = /^(?:keys\.json|settings\.json|host\.json|owner\.key|restored\.json|restore\.journal)\.\d+$/;

/** How keys in whose place others were put are named: the moment follows. */
export const keptAsidePrefix = 'keys.json.replaced-';

function isOurs(entry: string): boolean {
  const isPart = databaseFile.test(entry) || halfWritten.test(entry) || entry.startsWith(keptAsidePrefix);
  return isPart || ownNames.has(entry);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw new Fault(
      'HOME_INVALID',
      'The home cannot be made there. Check the place and its permissions, or choose another with --home.',
      {},
      { cause: thrown },
    );
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'))
      return undefined;
    throw new Fault(
      'HOME_INVALID',
      'The home cannot be looked at. Check its permissions, or choose another with --home.',
      {},
      { cause: thrown },
    );
  }
}
