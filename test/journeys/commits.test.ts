import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { prepareAgents } from '../support/agents-in-home.ts';
import { projectId } from '../support/history-builder.ts';
import { connectClient } from '../support/mcp-clients.ts';
import { runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Some three thousand calls from eight processes: half a minute on two quiet cores, and the machine may be busy.
vi.setConfig({ testTimeout: 600_000 });

const clients = 8;
const commitsEach = 100;

const sawSchema = z.strictObject({
  made: z.array(z.string()),
  stale: z.int(),
  statuses: z.record(z.string(), z.int()),
});
const pageSchema = z.object({
  changesets: z.array(z.object({ changeset_id: z.string(), parent_ids: z.array(z.string()) })),
  next_cursor: z.string().optional(),
});

/** Runs one client process to its end and gives what it saw. */
async function runClient(...args: readonly string[]): Promise<z.infer<typeof sawSchema>> {
  const script = join(import.meta.dirname, '../support/run-commit-client.ts');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (said.error += chunk.toString('utf8')));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`a client ended with ${code}: ${said.error}`);
  return sawSchema.parse(JSON.parse(said.out));
}

test('eight processes with a hundred commits each to one ref make one chain of exactly eight hundred', async () => {
  const home = join(tempFolder(), 'home');
  const { root, ref, tokens } = await prepareAgents(home, projectId('demo'), Array(clients).fill('write'));
  const served = await serveCharon(home);
  const url = served.ready.mcp ?? '';
  const saw = await Promise.all(
    tokens.map((token, index) => runClient(url, token, 'demo', ref, root, String(commitsEach), `client ${index + 1}`)),
  );

  // Every stale attempt was a typed conflict with the new head, every key gave its answer again, or the client had ended.
  expect(saw.map(({ made }) => made.length)).toEqual(Array(clients).fill(commitsEach));
  const stale = saw.reduce((sum, one) => sum + one.stale, 0);
  expect(stale).toBeGreaterThan(0);
  expect(
    [...new Set(saw.flatMap(({ statuses }) => Object.keys(statuses)))].filter((status) => status >= '400'),
  ).toEqual([]);

  const reader = await connectClient('sdk2-auto', { url, token: tokens[0] ?? '' });
  const chain: z.infer<typeof pageSchema>['changesets'] = [];
  for (let cursor: string | undefined; ; ) {
    const more = cursor === undefined ? {} : { cursor };
    const page = pageSchema.parse(
      (await reader.call('memory_log', { project: 'demo', ref, limit: 200, ...more })).structured,
    );
    chain.push(...page.changesets);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  await reader.close();
  expect(chain).toHaveLength(clients * commitsEach + 1);
  expect(chain.at(-1)?.changeset_id).toBe(root);
  for (const [index, { parent_ids: parents }] of chain.entries())
    expect(parents).toEqual(index === chain.length - 1 ? [] : [chain[index + 1]?.changeset_id]);
  const all = saw.flatMap(({ made }) => made);
  expect(new Set(all)).toEqual(new Set(chain.slice(0, -1).map((one) => one.changeset_id)));

  const reconciled = await runProgram('charon', ['reconcile', '--home', home]);
  expect([reconciled.code, reconciled.stdout]).toEqual([0, expect.stringContaining('Everything agrees.')]);
  expect(await served.stop('SIGTERM')).toBe(0);
});
