import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolsOf } from '../../src-main/backup/open-home.ts';
import { formatManifest, parseManifest } from '../../src-main/backup/rules/manifest.ts';
import type { BackupTools } from '../../src-main/backup/tools.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { sha256Hex } from '../../src-main/canonical/digest.ts';
import { createSigner } from '../../src-main/canonical/signature.ts';
import type { Environment } from '../../src-main/home/home.ts';
import { openHome } from '../../src-main/home/open.ts';
import type { RestoredMark } from '../../src-main/home/restored-mark.ts';
import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { BackupJob } from '../../src-preload/contract/commands/backup.ts';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { fakeClock } from '../support/history-builder.ts';
import { branch, commit, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, type TempEngineOptions, tempEngine } from '../support/temp-engine.ts';

/** A home with a merge, an open proposal, a token and a value of the memory ledger in it. */
export async function livedInHome(options: TempEngineOptions = {}) {
  const engine = await tempEngine(options);
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const own = await proposal(engine, engine.owner, 'demo', 'own', 'what the owner wrote');
  await engine.run(engine.owner, 'memory.merge', { proposal_id: own.proposal_id, idempotency_key: newKey() });
  await proposal(engine, writer, 'demo', 'pending', 'still waiting');
  return { engine, writer };
}

/** Makes a backup to its end. */
export async function backUp(engine: TempEngine, out?: string): Promise<BackupJob> {
  const { job_id: id } = await engine.run(engine.owner, 'backup.create', out === undefined ? {} : { out });
  await engine.backups.idle();
  const { job } = await engine.run(engine.owner, 'backup.status', {});
  if (job?.job_id !== id) throw new Error('the last job is the one that was begun');
  return job;
}

/** A backup that is done; anything else is told. */
export async function backedUp(engine: TempEngine, out?: string): Promise<BackupJob> {
  const job = await backUp(engine, out);
  if (job.phase !== 'done') throw new Error(`${job.phase}: ${job.problem}`);
  return job;
}

/** A branch of the writer's with so many commits more. */
export async function commitMore(engine: TempEngine, writer: TempEngine['owner'], name: string, count: number) {
  let at = await branch(engine, writer, 'demo', name);
  for (let made = 0; made < count; made += 1)
    at = { ref: at.ref, head: (await commit(engine, writer, 'demo', at, `${name} ${made}`)).changeset_id };
  return at;
}

/** What lies in a folder: each name with its mode and what it holds. */
export function contentsOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const { mode } = statSync(path);
      return `${name} ${(mode & 0o777).toString(8)} ${readFileSync(path).toString('base64')}`;
    });
}

/** Every audit entry of a home, the newest first. */
export function allEntries(engine: TempEngine): readonly AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let page = engine.charon.audit.tail({ limit: 500 }); page.length > 0; ) {
    entries.push(...page);
    page = engine.charon.audit.tail({ limit: 500, beforeSeq: entries.at(-1)?.seq });
  }
  return entries;
}

/** Has the folder of a backup named and signed again, as it is, by a key that no home ever had. */
export function signAnew(folder: string): void {
  const foreign = createSigner(systemIds().randomBytes(32));
  const place = join(folder, 'manifest.json');
  const parsed = parseManifest(readFileSync(place, 'utf8'));
  if (parsed.kind === 'bad') throw new Error(parsed.problem);
  const files = parsed.manifest.files.map((file) => {
    const bytes = readFileSync(join(folder, file.name));
    return { ...file, bytes: bytes.length, sha256: digestSchema.parse(sha256Hex(bytes)) };
  });
  const manifest = { ...parsed.manifest, files, head_key: { id: 'mine', public_key: foreign.publicKey } };
  writeFileSync(place, formatManifest(manifest, foreign));
}

/** Has the next start restore a backup; the word that confirms it. */
export async function stage(engine: TempEngine, directory: string): Promise<string> {
  const confirm = engine.charon.homeId.slice(0, 8);
  const { ok, findings } = await engine.run(engine.owner, 'restore.stage', { directory, confirm });
  if (!ok) throw new Error(JSON.stringify(findings));
  return confirm;
}

/** The same home, opened anew with the backup in its place. */
export async function restored(engine: TempEngine, directory: string): Promise<TempEngine> {
  await stage(engine, directory);
  const next = await engine.reopen();
  const { problem } = await next.run(next.owner, 'restore.status', {});
  if (problem !== null) throw new Error(problem);
  return next;
}

/** Works on a home whose databases are closed, as a command line does. */
export async function withHome<Result>(
  root: string,
  work: (tools: BackupTools, mark: RestoredMark | undefined) => Promise<Result>,
  env: Environment = {},
): Promise<Result> {
  const clock = fakeClock();
  clock.advance(10_000);
  const common = { env, clock, ids: systemIds(), log: silentLog, version: '0.0.0' };
  const home = await openHome({ root, ...common });
  try {
    return await work(toolsOf(home, common), home.restored);
  } finally {
    home.release();
  }
}
