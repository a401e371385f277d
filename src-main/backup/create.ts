import { existsSync, renameSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { anchorBytesUpTo } from '../charon/anchor-copy.ts';
import { auditHead } from '../charon/tables/audit-entries.ts';
import { findHomeId } from '../charon/tables/home.ts';
import { type HeldState, openHeld } from '../sqlite/held.ts';
import { makeFolder, readWhole, refused, removeFolder, sealFile, syncFolder, writeNewFile } from './folder.ts';
import {
  type BackupFile,
  type BackupFileName,
  type BackupManifest,
  backupFileNames,
  formatManifest,
  manifestDigest,
  manifestName,
} from './rules/manifest.ts';
import { migrationsOf, type StoresFacts, verifyStores } from './stores.ts';
import type { BackupTools } from './tools.ts';

/** A backup that was made and verified. */
export interface MadeBackup {
  readonly directory: string;
  readonly manifest: BackupManifest;
  readonly digest: string;
  readonly bytes: number;
}

export interface CreateOptions {
  /** The folder that it becomes, absolute; there must be nothing of that name yet. */
  readonly directory: string;
  readonly kind: BackupManifest['kind'];
  /**
   * Runs `moment` at one instant between two writes of either database, when no intent lacks its outcome. Where nobody writes it
   * simply runs it.
   */
  readonly still: (moment: () => void) => Promise<void>;
  /** Aborted: nothing is left of it, and the reason of the signal is thrown. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?:
    | ((phase: 'copying' | 'verifying' | 'finishing', done: number, total: number) => void)
    | undefined;
}

/** What a folder is called until it is a backup. */
export const partialSuffix = '.partial';

/**
 * Makes a backup (`charon.md` §7, R1–R7): both databases of one instant, copied while others write on, verified on their own,
 * named in a signed manifest. What fails or is stopped leaves nothing. Throws BACKUP_REFUSED for a place that cannot be used,
 * DISK_FULL, STORE_BUSY when no quiet instant came or the log grew too long, INTEGRITY_MISMATCH for a home that does not verify.
 */
export async function createBackup(tools: BackupTools, options: CreateOptions): Promise<MadeBackup> {
  const { directory } = options;
  if (existsSync(directory)) throw refused('the folder exists already. Name one that does not');
  requireRoom(tools, dirname(directory));
  const partial = `${directory}${partialSuffix}`;
  if (existsSync(partial))
    throw refused(`a folder of that name with ${partialSuffix} is there, of a run that was cut short. Remove it`);
  makeFolder(partial);
  try {
    await copyHome(tools, partial, options);
    const onDone = (done: number, total: number): void => {
      options.signal?.throwIfAborted();
      options.onProgress?.('verifying', done, total);
    };
    const report = await verifyStores(partial, tools, { isFull: false, onDone });
    const [first] = report.findings.list;
    if (first !== undefined || report.facts === undefined) throw unsound(first, report.findings.omitted);
    options.signal?.throwIfAborted();
    options.onProgress?.('finishing', 0, 0);
    const manifest = await describeCopy(tools, partial, options, report.facts);
    writeNewFile(join(partial, manifestName), formatManifest(manifest, tools.keys.head));
    syncFolder(partial);
    options.signal?.throwIfAborted();
    if (existsSync(directory)) throw refused('the folder exists already. Name one that does not');
    renameSync(partial, directory);
    syncFolder(dirname(directory));
    return { directory, manifest, digest: manifestDigest(manifest), bytes: bytesOf(manifest) };
  } catch (thrown) {
    removeFolder(partial);
    throw thrown;
  }
}

/** All bytes of a backup's files, but for its manifest. */
export function bytesOf({ files }: Pick<BackupManifest, 'files'>): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function copyHome({ paths, keyRing }: BackupTools, to: string, options: CreateOptions): Promise<void> {
  const held: HeldState[] = [];
  let homeId = '';
  try {
    const [lethe, charon] = [openHeld(paths.letheDb), openHeld(paths.charonDb)];
    held.push(lethe, charon);
    await options.still(() => {
      lethe.hold();
      charon.hold();
    });
    const total = sizeOf(paths.letheDb) + sizeOf(paths.charonDb);
    let before = 0;
    for (const [state, name] of [
      [lethe, 'lethe.db'],
      [charon, 'charon.db'],
    ] as const) {
      let last = 0;
      await state.copyInto(join(to, name), (done, own) => {
        options.signal?.throwIfAborted();
        last = own;
        options.onProgress?.('copying', before + done, Math.max(total, before + own));
      });
      before += last;
    }
    homeId = findHomeId(charon.db) ?? '';
    const bytes = await anchorBytesUpTo(paths.anchor, auditHead(charon.db).seq);
    await readWhole(paths.anchor, { to: join(to, 'ledger.anchor'), upTo: bytes, signal: options.signal });
  } finally {
    for (const state of held) state.close();
  }
  if (existsSync(paths.settings)) await readWhole(paths.settings, { to: join(to, 'settings.json') });
  const envelope = keyRing.recoveryEnvelope(homeId);
  if (envelope !== undefined) writeNewFile(join(to, 'keys.recovery.json'), `${JSON.stringify(envelope)}\n`);
}

async function describeCopy(
  { keys, clock, version }: BackupTools,
  folder: string,
  { kind, signal }: CreateOptions,
  facts: StoresFacts,
): Promise<BackupManifest> {
  const files: BackupFile[] = [];
  for (const name of backupFileNames) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    sealFile(path);
    const { bytes, sha256 } = await readWhole(path, { signal });
    files.push({ name, bytes, sha256: digestSchema.parse(sha256), schema: schemaOf(name) });
  }
  return {
    format: 1,
    kind,
    created_at: toTimestamp(clock.nowMs()),
    product_version: version,
    home_id: facts.homeId,
    files,
    projects: facts.projects.map((project) => ({ ...project, refs: [...project.refs] })),
    counts: facts.counts,
    audit: { seq: facts.audit.seq, hash: digestSchema.parse(facts.audit.hash) },
    head_key: { id: keys.head.keyId, public_key: keys.head.publicKey },
  };
}

function schemaOf(name: BackupFileName): string | null {
  if (name !== 'lethe.db' && name !== 'charon.db') return null;
  return migrationsOf[name].at(-1)?.name ?? null;
}

/** A copy takes what both files have now, and something more while it is made. */
function requireRoom({ paths }: Pick<BackupTools, 'paths'>, parent: string): void {
  if (!existsSync(parent)) throw refused('the folder that it lies in does not exist. Make it, then try again');
  const needed = 1.1 * (sizeOf(paths.letheDb) + sizeOf(paths.charonDb) + sizeOf(paths.anchor));
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize >= needed) return;
  throw new Fault(
    'DISK_FULL',
    'The disk has no room for a backup of this home. Free some space, or choose another place for it with --out.',
    { bytes_needed: Math.ceil(needed) },
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function unsound(first: { readonly where: string; readonly problem: string } | undefined, omitted: number): Fault {
  const what = first === undefined ? 'it cannot be read' : `${first.where}: ${first.problem}`;
  return new Fault(
    'INTEGRITY_MISMATCH',
    `This home does not verify, so it was not backed up: ${what}. Run charon reconcile, and restore a verified backup.`,
    { ...first, omitted },
  );
}
