import { join } from 'node:path';
import type { BackupInspection } from '../../src-preload/contract/commands/backup.ts';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import { type Findings, findingsMax, openFindings } from '../base/findings.ts';

import { closeStore, openStore } from '../sqlite/open.ts';
import { compareWithNow, findHeadKeys, type StateNow, withStateNow } from './compare.ts';
import { bytesOf } from './create.ts';
import { findStrangers, makeFolder, readManifestText, readWhole, removeFolder } from './folder.ts';
import { type BackupManifest, manifestDigest, parseManifest } from './rules/manifest.ts';
import { migrationsOf, type StoresFacts, verifyStores } from './stores.ts';
import type { BackupTools } from './tools.ts';

/** A backup that was copied into a folder of ours and verified there. */
export interface Looked {
  readonly manifest: BackupManifest | undefined;
  readonly facts: StoresFacts | undefined;
  readonly findings: Findings;
  readonly notes: readonly string[];
}

/**
 * Copies a backup into a new folder (0700) and verifies the copy: names, sizes, digests, signature, then the databases, brought to
 * this version first (`charon.md` §7, R10–R14). The backup itself is only read, and hostile until shown otherwise: no link is
 * followed and no file of it is opened as a database before it is known by its digest. What is found is told. Throws
 * BACKUP_REFUSED for what is no backup at all. `headKeys` are the keys that may have signed it; undefined where there is no home to know any. The folder is left to the caller, who removes it.
 */
export async function lookAt(
  directory: string,
  scratch: string,
  tools: BackupTools,
  headKeys: ReadonlySet<string> | undefined,
): Promise<Looked> {
  makeFolder(scratch);
  const findings = openFindings();
  const notes: string[] = [];
  const parsed = parseManifest(readManifestText(directory));
  if (parsed.kind === 'bad') {
    findings.add('manifest.json', parsed.problem);
    return { manifest: undefined, facts: undefined, findings, notes };
  }
  const { manifest } = parsed;
  if (headKeys?.has(manifest.head_key.public_key) === false)
    findings.add('manifest.json', 'it is signed by a key that this home never had');
  for (const stranger of findStrangers(directory)) findings.add('the folder', stranger);
  await copyFiles(directory, scratch, manifest, findings);
  if (findings.list.length > 0) return { manifest, facts: undefined, findings, notes };
  try {
    for (const name of ['lethe.db', 'charon.db'] as const)
      closeStore(openStore(join(scratch, name), migrationsOf[name], tools.clock));
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    findings.add('the databases', thrown.message);
    return { manifest, facts: undefined, findings, notes };
  }
  const report = await verifyStores(scratch, tools);
  findings.absorb(report.findings);
  if (report.facts !== undefined) {
    compareWithManifest(manifest, report.facts, findings);
    if (headKeys === undefined)
      notes.push('nothing here can say whose it is: its signature is by the key that it names itself');
  }
  return { manifest, facts: report.facts, findings, notes: [...notes, ...report.notes] };
}

async function copyFiles(
  directory: string,
  scratch: string,
  { files }: BackupManifest,
  findings: Findings,
): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    try {
      // One byte more than it may have shows that it is longer.
      const read = await readWhole(join(directory, name), { to: join(scratch, name), upTo: bytes + 1 });
      if (read.bytes !== bytes) findings.add(name, 'it is not as long as the manifest says');
      else if (read.sha256 !== sha256) findings.add(name, 'it was changed: its digest is not that of the manifest');
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      findings.add(name, 'it is missing, a link, or cannot be read');
    }
  }
}

/** What the manifest names is what is there. */
function compareWithManifest(manifest: BackupManifest, facts: StoresFacts, findings: Findings): void {
  if (facts.homeId !== manifest.home_id) findings.add('charon.db', 'it is of another home than the manifest says');
  if (facts.audit.seq !== manifest.audit.seq || facts.audit.hash !== manifest.audit.hash)
    findings.add('audit ledger', 'it does not end where the manifest says');
  for (const [name, count] of Object.entries(manifest.counts))
    if (facts.counts[name] !== undefined && facts.counts[name] !== count)
      findings.add('counts', `there are ${facts.counts[name]} ${name}, and the manifest says ${count}`);
  const there = new Map(facts.projects.map((project) => [project.project_id, project]));
  if (there.size !== manifest.projects.length) findings.add('projects', 'they are not those that the manifest names');
  for (const { project_id: id, refs } of manifest.projects) {
    const heads = new Map(there.get(id)?.refs.map((ref) => [ref.ref_name, ref]));
    const isSame = refs.every(({ ref_name: name, head_changeset_id: head, chain_digest: chain }) => {
      const ref = heads.get(name);
      return ref?.head_changeset_id === head && ref.chain_digest === chain;
    });
    if (!isSame || heads.size !== refs.length)
      findings.add(`project ${id}`, 'its refs do not stand where the manifest says');
  }
}

/**
 * Inspects a backup for the owner: everything that `lookAt` finds, and what would go back against the home as it is then. No state
 * of the home is held while the backup is verified. Leaves nothing behind. Throws BACKUP_REFUSED.
 */
export async function inspectBackup(directory: string, scratch: string, tools: BackupTools): Promise<BackupInspection> {
  try {
    const looked = await lookAt(directory, scratch, tools, findHeadKeys(tools));
    return await withStateNow(tools, async (now) => toInspection(directory, looked, scratch, now));
  } finally {
    removeFolder(scratch);
  }
}

/** What was looked at, in the form in which it crosses a door. */
function toInspection(
  directory: string,
  { manifest, facts, findings, notes }: Looked,
  scratch: string,
  now: StateNow | undefined,
): BackupInspection {
  const isOfHere = now !== undefined && facts?.homeId === now.homeId;
  const more: string[] = [];
  if (manifest !== undefined && now !== undefined && !isOfHere) more.push('it is a backup of another home');
  if (findings.omitted > 0) more.push(`${findings.omitted} more findings are not listed`);
  return {
    ok: findings.list.length === 0,
    findings: findings.list.slice(0, findingsMax),
    notes: [...notes, ...more],
    directory,
    kind: manifest?.kind ?? null,
    created_at: manifest?.created_at ?? null,
    product_version: manifest?.product_version ?? null,
    manifest_digest: manifest === undefined ? null : digestSchema.parse(manifestDigest(manifest)),
    home_id: manifest?.home_id ?? null,
    bytes: manifest === undefined ? 0 : bytesOf(manifest),
    has_keys: manifest?.files.some(({ name }) => name === 'keys.recovery.json') ?? false,
    counts: manifest?.counts ?? {},
    goes_back: isOfHere && facts !== undefined ? compareWithNow(facts, scratch, now) : null,
  };
}
