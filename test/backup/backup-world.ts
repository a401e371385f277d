import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupJob } from '../../src-preload/contract/commands/backup.ts';
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
