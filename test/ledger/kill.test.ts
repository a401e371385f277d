import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { onDisk } from '../support/on-disk.ts';
import { agent, key, openTempLedger, type TempLedger } from './temp-ledger.ts';

onDisk();

let temp: TempLedger;
beforeEach(() => {
  temp = openTempLedger();
});
afterEach(() => temp.discard());

const script = fileURLToPath(new URL('./ledger-until-killed.ts', import.meta.url));
const saidSchema = z.object({ key: z.string(), version: z.number(), value: z.string().nullable() });

/** Lets a process write until it has said so much, kills it at some moment after, and answers what it said. */
async function writeAndKill(run: number): Promise<readonly z.infer<typeof saidSchema>[]> {
  const child = spawn(process.execPath, [script, temp.path, agent], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  while (output.split('\n').length < 40 && child.exitCode === null) await setTimeout(5);
  await setTimeout((run * 7) % 23);
  child.kill('SIGKILL');
  await closed;
  const whole = output.slice(0, output.lastIndexOf('\n')).split('\n');
  return whole.map((line) => saidSchema.parse(JSON.parse(line)));
}

test('G13 a killed process loses nothing that it said was done, and leaves nothing half', async () => {
  for (let run = 1; run <= 3; run += 1) {
    temp = temp.reopen();
    temp.close();
    const said = await writeAndKill(run);
    expect(said.length).toBeGreaterThan(30);
    temp = temp.reopen();
    for (const { key: name, version, value } of said) {
      const state = temp.ledger.valueAt({ agentId: agent, key: key(name), point: { version } });
      expect(state).toMatchObject(value === null ? { kind: 'absent', reason: 'deleted' } : { kind: 'value', value });
    }
    const { versions } = temp.ledger.history({ agentId: agent, key: key('one'), limit: 100_000 });
    expect(versions.map((row) => row.version)).toEqual(versions.map((_, index) => versions.length - index));
    expect(await temp.ledger.verify()).toMatchObject({ ok: true, findings: [] });
    expect(temp.db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(temp.db.query('PRAGMA foreign_key_check').all()).toEqual([]);
  }
}, 120_000);
