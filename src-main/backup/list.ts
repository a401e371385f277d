import { lstatSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { ListedBackup } from '../../src-preload/contract/commands/backup.ts';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { fromTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { HomePaths } from '../home/home.ts';
import { bytesOf, partialSuffix } from './create.ts';
import { findStrangers, readManifestText, readWhole, removeFolder } from './folder.ts';
import { type BackupManifest, manifestDigest, parseManifest } from './rules/manifest.ts';
import { readTicks } from './ticks.ts';

/** What is in a folder of backups, the newest first. Manifests are read and their signatures verified, other files are only measured (R20). */
export function listBackups(paths: HomePaths, homeId: string, headKeys: ReadonlySet<string>): readonly ListedBackup[] {
  const ticks = readTicks(paths);
  const found = readdirSync(paths.backups, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.endsWith(partialSuffix))
    .map(({ name }) => look(join(paths.backups, name), name, homeId, headKeys));
  return found
    .map(({ listed }) => ({ ...listed, ...ticks.get(listed.manifest_digest ?? '') }))
    .sort((left, right) => timeOf(right) - timeOf(left) || (left.name < right.name ? 1 : -1));
}

function timeOf({ created_at: at }: ListedBackup): number {
  return at === null ? 0 : fromTimestamp(at);
}

function look(
  directory: string,
  name: string,
  homeId: string,
  headKeys: ReadonlySet<string>,
): { readonly listed: ListedBackup } {
  const damaged = (problem: string, manifest?: BackupManifest): { readonly listed: ListedBackup } => ({
    listed: { ...shown(directory, name, manifest), state: 'damaged', problem },
  });
  try {
    const parsed = parseManifest(readManifestText(directory));
    if (parsed.kind === 'bad') return damaged(parsed.problem);
    const { manifest } = parsed;
    const isOurs = manifest.home_id === homeId && headKeys.has(manifest.head_key.public_key);
    const problem = findStrangers(directory)[0] ?? findWrongSize(directory, manifest);
    if (problem !== undefined) return damaged(problem, manifest);
    const state = isOurs ? 'readable' : 'foreign';
    return { listed: { ...shown(directory, name, manifest), state, problem: null } };
  } catch (thrown) {
    if (thrown instanceof Fault) return damaged(String(thrown.data.reason ?? 'it cannot be read'));
    throw thrown;
  }
}

function findWrongSize(directory: string, { files }: BackupManifest): string | undefined {
  const wrong = files.find(
    ({ name, bytes }) => lstatSync(join(directory, name), { throwIfNoEntry: false })?.size !== bytes,
  );
  return wrong && `${wrong.name} is missing or has not the size that the manifest says`;
}

function shown(
  directory: string,
  name: string,
  manifest: BackupManifest | undefined,
): Omit<ListedBackup, 'state' | 'problem'> {
  return {
    name,
    directory,
    kind: manifest?.kind ?? null,
    created_at: manifest?.created_at ?? null,
    product_version: manifest?.product_version ?? null,
    manifest_digest: manifest === undefined ? null : digestSchema.parse(manifestDigest(manifest)),
    bytes: manifest === undefined ? 0 : bytesOf(manifest),
    projects: manifest?.projects.length ?? null,
    changesets: manifest?.projects.reduce((sum, project) => sum + project.changesets, 0) ?? null,
    has_keys: manifest?.files.some((file) => file.name === 'keys.recovery.json') ?? false,
    verified_at: null,
    rehearsed_at: null,
  };
}

/**
 * Removes the oldest backups of this home beyond the newest `keep` (R21). The newest one whose files all have the digests of its
 * manifest stays, however old it is; where none has, nothing is removed. What is no backup of this home is not touched, and
 * neither is what a restore made of the state before it.
 */
export async function pruneBackups(
  paths: HomePaths,
  homeId: string,
  headKeys: ReadonlySet<string>,
  keep: number,
): Promise<{ readonly removed: string[]; readonly kept: string[] }> {
  const own = listBackups(paths, homeId, headKeys).filter(
    ({ state, kind }) => state === 'readable' && kind === 'backup',
  );
  const kept = own.slice(0, keep);
  const removed: string[] = [];
  if (own.length > keep) {
    const safe = await findSafe(own);
    for (const one of own.slice(keep)) {
      if (safe === undefined || one.name === safe) kept.push(one);
      else {
        removeBackup(one.directory);
        removed.push(one.name);
      }
    }
  }
  return { removed, kept: kept.map(({ name }) => name) };
}

async function findSafe(newestFirst: readonly ListedBackup[]): Promise<string | undefined> {
  for (const { name, directory } of newestFirst) if (await isIntact(directory)) return name;
  return undefined;
}

async function isIntact(directory: string): Promise<boolean> {
  try {
    const parsed = parseManifest(readManifestText(directory));
    if (parsed.kind === 'bad') return false;
    for (const { name, sha256 } of parsed.manifest.files)
      if ((await readWhole(join(directory, name))).sha256 !== sha256) return false;
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault) return false;
    throw thrown;
  }
}

/** Removes what backups left behind whose process died: whoever calls holds the home, and makes none at this moment. */
export function removePartial(paths: HomePaths): void {
  for (const entry of readdirSync(paths.backups, { withFileTypes: true }))
    if (entry.isDirectory() && entry.name.endsWith(partialSuffix)) removeFolder(join(paths.backups, entry.name));
}

/** One that is half removed does not look like a backup. */
function removeBackup(directory: string): void {
  renameSync(directory, `${directory}${partialSuffix}`);
  removeFolder(`${directory}${partialSuffix}`);
}
