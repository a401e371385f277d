import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { onDisk } from '../support/on-disk.ts';
import { noStore, testKeys } from './charon-world.ts';

onDisk();

const child = new URL('./crash-child.ts', import.meta.url).pathname;
const kills = 6;

/** Runs the child on the home and kills it after so many milliseconds of work; what it had acknowledged. */
async function runAndKill(folder: string, afterMs: number): Promise<readonly string[]> {
  const running = spawn(process.execPath, [child, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  running.stdout.setEncoding('utf8');
  const ready = new Promise<void>((resolve, reject) => {
    running.stdout.on('data', (text: string) => {
      said += text;
      if (said.includes('ready\n')) resolve();
    });
    running.once('exit', () => reject(new Error('the child ended by itself')));
  });
  await ready;
  await sleep(afterMs);
  running.kill('SIGKILL');
  await once(running, 'close');
  return said.split('\n').slice(0, -1);
}

test('C20 C30 C40 killed at any moment, everything acknowledged is there and the ledger verifies', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-crash-'));
  const acknowledged: string[] = [];
  for (let round = 0; round < kills; round += 1)
    acknowledged.push(...(await runAndKill(folder, 5 + ((round * 37) % 120))));
  const charon = await openCharon({
    path: join(folder, 'charon.db'),
    anchorPath: join(folder, 'ledger.anchor'),
    readOnly: false,
    clock: systemClock,
    ids: systemIds(),
    keys: testKeys,
    store: noStore,
    onEvents: () => undefined,
    log: silentLog,
  });
  try {
    await charon.settle();
    const report = await charon.audit.verify();
    expect(report.findings).toEqual([]);
    const recorded = charon.audit.tail({ limit: 1_000_000 });
    const intents = new Set(recorded.filter((entry) => entry.phase === 'intent').map((entry) => entry.correlation_id));
    const ends = new Set(recorded.filter((entry) => entry.phase === 'outcome').map((entry) => entry.correlation_id));
    const said = (word: string) =>
      acknowledged.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
    expect(said('intent').length).toBeGreaterThan(kills);
    expect(said('intent').filter((id) => !intents.has(id))).toEqual([]);
    expect([...intents].filter((id) => !ends.has(id))).toEqual([]);
    const principalId = principalIdSchema.parse(charon.owner().principal_id);
    for (const id of said('replay')) {
      const key = { principalId, command: 'memory.repo_init', projectId: 'demo', key: id };
      expect(charon.findReplay(key, 'd'.repeat(64))).toEqual([id]);
    }
  } finally {
    await charon.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
