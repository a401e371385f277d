import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { openTempLethe, projectId, refName, type TempLethe } from '../support/history-builder.ts';
import { onDisk } from '../support/on-disk.ts';

onDisk();

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const script = fileURLToPath(new URL('../support/commit-until-killed.ts', import.meta.url));
const saidSchema = z.object({ ref: z.string(), changeset: changesetIdSchema, nonce: z.string().optional() });
type Said = z.infer<typeof saidSchema>;

/** Lets a process write until it has said so much, kills it at some moment after, and answers what it said. */
async function writeAndKill(run: number): Promise<readonly Said[]> {
  const child = spawn(process.execPath, [script, temp.path, String(run)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  while (output.split('\n').length < 12 && child.exitCode === null) await setTimeout(5);
  await setTimeout((run * 7) % 23);
  child.kill('SIGKILL');
  await once(child, 'close');
  const whole = output.slice(0, output.lastIndexOf('\n')).split('\n');
  return whole.map((line) => saidSchema.parse(JSON.parse(line)));
}

test('L22 a killed process loses nothing that it said was done, and leaves nothing half', async () => {
  temp.lethe.close();
  let merged = 0;
  for (let run = 1; run <= 5; run += 1) {
    const said = await writeAndKill(run);
    expect(said.length).toBeGreaterThan(10);
    temp = temp.reopen();
    const { lethe } = temp;
    const demo = projectId('demo');
    for (const { ref, changeset } of said) {
      expect(lethe.findChangeset(changeset)?.ops).toHaveLength(2);
      const head = lethe.findRef(demo, refName(ref))?.head_changeset_id;
      expect(head !== undefined && lethe.isAncestor(changeset, head)).toBe(true);
    }
    const nonces = said.flatMap((line) => line.nonce ?? []);
    merged += nonces.length;
    const used = lethe.listAdvances(demo, { limit: 500 }).map((advance) => advance.authorization_nonce);
    expect(nonces.filter((nonce) => !used.includes(nonce))).toEqual([]);
    expect(await lethe.verifyChain(demo)).toMatchObject({ ok: true, findings: [] });
    expect(temp.db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(temp.db.query('PRAGMA foreign_key_check').all()).toEqual([]);
    lethe.close();
  }
  expect(merged).toBeGreaterThan(0);
}, 120_000);
