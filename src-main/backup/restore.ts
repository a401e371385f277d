import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { readRevocations } from '../charon/tables/revocations.ts';
import type { HomePaths } from '../home/home.ts';
import { formatRestoredMark, type RestoredMark } from '../home/restored-mark.ts';
import {
  isSwapping,
  listSlot,
  removeUnfinished,
  restoreFolder,
  type SwapHook,
  slotPath,
  swapFiles,
} from '../home/swap.ts';
import { hasSignedMerges } from '../lethe/restored.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { openHeld } from '../sqlite/held.ts';
import { type StateNow, withStateNow } from './compare.ts';
import { createBackup } from './create.ts';
import { readWhole, refused, removeFolder, sealFile, syncFolder, writeNewFile } from './folder.ts';
import { type Looked, lookAt } from './inspect.ts';
import { newBackupName } from './places.ts';
import { makeReady } from './ready.ts';
import { type BackupManifest, manifestDigest } from './rules/manifest.ts';
import { verifyStores } from './stores.ts';
import { tick } from './ticks.ts';
import type { BackupTools } from './tools.ts';

/** The files of a backup that become files of the home; keys come by their own way. */
const broughtIn = ['lethe.db', 'charon.db', 'ledger.anchor', 'settings.json'] as const;

/**
 * Restores a backup into a home that this process holds and whose databases are closed (`charon.md` §7, R30–R37): the backup is
 * copied and verified, the present state backed up, the copy made ready and verified again; only then the files are swapped,
 * under a journal. Until that moment a crash or a refusal changes nothing but the merge key, which is replaced. The home must be opened anew, and
 * comes up read only. Throws BACKUP_REFUSED for a backup that does not verify or is of another home, KEYS_INVALID for a merge key
 * of the environment that was not changed, DISK_FULL.
 */
export async function restoreBackup(
  tools: BackupTools,
  options: { readonly directory: string; readonly hook?: SwapHook | undefined },
): Promise<RestoredMark> {
  const { paths, ids } = tools;
  const { hook = () => {} } = options;
  removeUnfinished(paths);
  const id = ids.randomBytes(4).toString('hex');
  const folder = restoreFolder(paths, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const mark = await withStateNow(tools, (now) => prepare(tools, { id, now, directory: options.directory, hook }));
    swapFiles(paths, { id, from: 'incoming', to: 'replaced', put: listSlot(paths, id, 'incoming') }, hook);
    // What is left of it is the envelope of the keys, which is in the backup.
    removeFolder(join(folder, 'incoming'));
    return mark;
  } catch (thrown) {
    // What was swapped in part is finished at the next opening, from this folder.
    if (!isSwapping(paths)) removeFolder(folder);
    throw thrown;
  }
}

interface Preparation {
  readonly id: string;
  readonly now: StateNow | undefined;
  readonly directory: string;
  readonly hook: SwapHook;
}

async function prepare(tools: BackupTools, { id, now, directory, hook }: Preparation): Promise<RestoredMark> {
  const { paths, clock } = tools;
  const incoming = join(restoreFolder(paths, id), 'incoming');
  hook('copy');
  const looked = await lookAt(directory, incoming, tools, now?.headKeys);
  const manifest = requireClean(looked, now);
  requireFreshMergeKey(tools, now?.lethe, join(incoming, 'lethe.db'));
  hook('safety');
  const { safety, notes } = await backUpPresent(tools, now);
  hook('ready');
  const digest = digestSchema.parse(manifestDigest(manifest));
  const carried = await makeReady(incoming, tools, {
    replaced: now && { revocations: readRevocations(now.charon), lethe: now.lethe },
    objects: [digest, ...(now === undefined ? [] : [`${now.auditSeq} ${now.auditHash}`])],
  });
  hook('verify');
  const report = await verifyStores(incoming, tools);
  const [finding] = report.findings.list;
  if (finding !== undefined)
    throw refused(`it does not verify once it is made ready: ${finding.where}: ${finding.problem}`);
  hook('key');
  if (!isMergeKeyElsewhere(tools)) await tools.keyRing.rotate('merge', false);
  const mark: RestoredMark = {
    version: 1,
    id,
    restored_at: toTimestamp(clock.nowMs()),
    manifest_digest: digest,
    created_at: manifest.created_at,
    safety,
    notes: [
      ...notes,
      ...report.notes,
      ...(carried === 0 ? [] : [`${carried} spent merge authorizations were carried over`]),
    ],
  };
  await seal(paths, id, mark);
  return mark;
}

function requireClean({ manifest, findings }: Looked, now: StateNow | undefined): BackupManifest {
  const [first] = findings.list;
  if (first !== undefined || manifest === undefined)
    throw refused(`it does not verify: ${first?.where}: ${first?.problem}. Inspect it to see all that is wrong`);
  if (now === undefined || now.homeId === manifest.home_id) return manifest;
  throw refused('it is of another home. Restore it into an empty folder: name one with --home');
}

/** Whether the merge key comes from the environment, where nothing here can replace it. */
function isMergeKeyElsewhere({ env }: Pick<BackupTools, 'env'>): boolean {
  const variables = ['CHARON_MERGE_HMAC_KEYS', 'CHARON_MERGE_HMAC_KEY', 'CHARON_HMAC_KEY'];
  return variables.some((variable) => (env[variable] ?? '').trim() !== '');
}

/** What a merge key of the environment signed before the restore must not be good after it. */
function requireFreshMergeKey(tools: BackupTools, now: ReadableDb | undefined, then: string): void {
  if (!isMergeKeyElsewhere(tools)) return;
  const { verifying } = tools.keys.merges;
  const restored = openHeld(then);
  try {
    restored.hold();
    const isUsed = [now, restored.db].some((db) => db !== undefined && hasSignedMerges(db, verifying));
    if (!isUsed) return;
  } finally {
    restored.close();
  }
  throw new Fault(
    'KEYS_INVALID',
    'The merge key comes from the environment and signed merges before: a restore cannot replace it. Set another one (CHARON_MERGE_HMAC_KEYS), then restore again.',
    { variable: 'CHARON_MERGE_HMAC_KEYS' },
  );
}

/** A backup of its own kind of what is here now; what does not verify is kept as it is, file by file, and said. */
async function backUpPresent(
  tools: BackupTools,
  now: StateNow | undefined,
): Promise<{ readonly safety: string | null; readonly notes: readonly string[] }> {
  const { paths, clock, ids } = tools;
  if (!existsSync(paths.letheDb) && !existsSync(paths.charonDb)) return { safety: null, notes: [] };
  const name = newBackupName(clock.nowMs(), ids);
  const kept =
    'what was there before does not verify, so that no backup was made of it: its files are kept as they were';
  if (now === undefined) return { safety: null, notes: [kept] };
  try {
    const made = await createBackup(tools, {
      directory: join(paths.backups, name),
      kind: 'safety',
      still: async (moment) => moment(),
    });
    tick(paths, made.digest, made.manifest.created_at, 'verified');
    return { safety: name, notes: [] };
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code !== 'INTEGRITY_MISMATCH') throw thrown;
    return { safety: null, notes: [kept] };
  }
}

/** Makes what comes in last: every file flushed, the mark beside them, the anchor where its own disk is. */
async function seal(paths: HomePaths, id: string, mark: RestoredMark): Promise<void> {
  const incoming = join(restoreFolder(paths, id), 'incoming');
  writeNewFile(join(incoming, 'restored.json'), formatRestoredMark(mark));
  // Both databases were closed whole: what lies beside them holds nothing.
  for (const name of ['lethe.db', 'charon.db'])
    for (const side of ['-wal', '-shm']) rmSync(join(incoming, `${name}${side}`), { force: true });
  for (const name of broughtIn) if (existsSync(join(incoming, name))) sealFile(join(incoming, name));
  const anchor = slotPath(paths, id, 'incoming', 'ledger.anchor');
  if (anchor !== join(incoming, 'ledger.anchor')) await readWhole(join(incoming, 'ledger.anchor'), { to: anchor });
  syncFolder(incoming);
}

/**
 * Puts back what a restore replaced, file by file as it was (R36); what came after it is kept aside. The home is as before the
 * restore, and no longer read only for it. Throws STATE_NOT_FOUND where nothing waits for its check.
 */
export function putBack(paths: HomePaths, mark: RestoredMark | undefined, hook?: SwapHook): void {
  if (mark === undefined)
    throw new Fault(
      'STATE_NOT_FOUND',
      'This home is not restored, or its recovery was lifted: there is nothing to put back.',
    );
  const { id } = mark;
  swapFiles(paths, { id, from: 'replaced', to: 'withdrawn', put: listSlot(paths, id, 'replaced') }, hook);
}
