// A mixed load over the agent door of one served home, for ten minutes or as many as the argument says: commits to own
// and to shared branches, proposals, reviews and merges, searches, contexts, refused calls, clients that come and go.
// What the serving process holds is read all the while; it must not grow beyond the bounds below. Exit code 0 or 1.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { projectIdSchema } from '../../src-preload/contract/ids.ts';
import { prepareAgents } from '../../test/support/agents-in-home.ts';
import { type AgentClient, connectClient } from '../../test/support/mcp-clients.ts';
import { textOf } from '../lib/texts.ts';
import { type Held, heldBy, serveHome } from './served-home.ts';

/** How much more than after the warm-up the serving process may hold at its end, whatever came in between. */
const bounds = { residentMiB: 192, handles: 16, walMiB: 64 } as const;
const warmUpShare = 0.2;
const sampleEveryMs = 5_000;
const writers = 6;

const minutes = z.coerce
  .number()
  .positive()
  .max(600)
  .parse(process.argv[2] ?? '10');
const project = projectIdSchema.parse('demo');
const home = mkdtempSync(join(tmpdir(), 'memory-git-soak-'));
const prepared = await prepareAgents(home, project, [
  ...Array<'propose'>(writers).fill('propose'),
  'review',
  'readonly',
]);
const served = await serveHome(home);
const endMs = Date.now() + minutes * 60_000;
const counts: Record<string, number> = {};
const isOver = (): boolean => Date.now() >= endMs;
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};

/** One call; a refusal is an answer like another one, and any other failure ends the soak. */
async function ask(
  client: AgentClient,
  tool: string,
  input: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { isError, structured } = await client.call(tool, { project, ...input });
  count(isError ? `${tool}: ${String(structured.code)}` : tool);
  return isError ? {} : structured;
}

/** Commits on a branch of its own, and now and then proposes it and begins a new one. */
async function write(index: number): Promise<void> {
  const token = prepared.tokens[index] ?? '';
  for (let round = 0; !isOver(); round += 1) {
    // A client comes and goes with every branch.
    const client = await connectClient(round % 2 === 0 ? 'sdk2-auto' : 'sdk1', { url: served.mcp, token });
    const status = await ask(client, 'memory_status', {});
    const main = z
      .object({ refs: z.array(z.object({ ref_name: z.string(), head_changeset_id: z.string() })) })
      .parse(status)
      .refs.find((ref) => ref.ref_name === 'refs/shared/main')?.head_changeset_id;
    const ref = `refs/agents/${String(status.actor_id)}/round-${round}`;
    await ask(client, 'memory_branch_create', { ref_name: ref, head_changeset_id: main });
    let head = main;
    for (let number = 0; number < 20 && !isOver(); number += 1) {
      const key = `${index} ${round} ${number}`;
      const made = await ask(client, 'memory_changeset_create', {
        ref,
        // Every seventh attempt is stale: a refusal must leave nothing behind either.
        expected_head: number % 7 === 6 ? main : head,
        parent_ids: [number % 7 === 6 ? main : head],
        message: key,
        idempotency_key: key,
        ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: textOf(round * 1_000 + number * 10 + index) } }],
      });
      head = typeof made.changeset_id === 'string' ? made.changeset_id : head;
      await ask(client, 'memory_search', { query: textOf(number).split(' ')[0], ref });
    }
    await ask(client, 'memory_merge_propose', {
      target_ref: 'refs/shared/main',
      head_changeset_id: head,
      base_changeset_id: main,
      message: `round ${round}`,
      idempotency_key: `propose ${round}`,
    });
    await client.close();
  }
}

/** Reviews what waits, merges it, or rejects it. */
async function review(): Promise<void> {
  const client = await connectClient('sdk2-auto', { url: served.mcp, token: prepared.tokens[writers] ?? '' });
  const listSchema = z.object({ proposals: z.array(z.object({ proposal_id: z.string() })).default([]) });
  for (let number = 0; !isOver(); number += 1) {
    const { proposals } = listSchema.parse(await ask(client, 'memory_proposal_list', { status: 'pending' }));
    for (const { proposal_id: id } of proposals) {
      await client.call('memory_proposal_show', { proposal_id: id });
      const verdict = number % 5 === 4 ? 'reject' : 'approve';
      const judged = await client.call('memory_merge_review', { proposal_id: id, verdict });
      count(`review: ${judged.isError ? String(judged.structured.code) : verdict}`);
      if (verdict === 'reject') continue;
      const merged = await client.call('memory_merge', { proposal_id: id, idempotency_key: `merge ${id} ${number}` });
      count(`merge: ${merged.isError ? String(merged.structured.code) : 'completed'}`);
    }
    await sleep(250);
  }
  await client.close();
}

/** Reads contexts and history, and asks for what it may not have. */
async function read(): Promise<void> {
  const client = await connectClient('sdk2-legacy', { url: served.mcp, token: prepared.tokens[writers + 1] ?? '' });
  for (let number = 0; !isOver(); number += 1) {
    await ask(client, 'memory_context_at', { query: textOf(number), pin: false });
    await ask(client, 'memory_log', { limit: 50 });
    await ask(client, 'memory_branch_create', { ref_name: 'refs/topics/none', head_changeset_id: prepared.root });
    const refused = await fetch(served.mcp, {
      method: 'POST',
      headers: { authorization: 'Bearer obol_none', 'content-type': 'application/json' },
      body: '{}',
    });
    await refused.arrayBuffer();
    count(`door: ${refused.status}`);
    await sleep(50);
  }
  await client.close();
}

const samples: Held[] = [];
async function watch(): Promise<void> {
  while (!isOver()) {
    samples.push(heldBy(served.pid, home));
    await sleep(sampleEveryMs);
  }
}

let failure: unknown;
try {
  await Promise.all([watch(), review(), read(), ...Array.from({ length: writers }, (_, index) => write(index))]);
  // What clients held is let go of when they are gone.
  await sleep(3_000);
  samples.push(heldBy(served.pid, home));
} catch (thrown) {
  failure = thrown;
}
const exitCode = await served.stop();

const warm = samples.slice(Math.floor(samples.length * warmUpShare));
const [first, last] = [warm.at(0), warm.at(-1)];
const most = (pick: (held: Held) => number): number => Math.max(...warm.map(pick));
const rows =
  first === undefined || last === undefined
    ? []
    : ([
        [
          'resident memory, MiB',
          first.residentMiB,
          most((held) => held.residentMiB),
          last.residentMiB,
          first.residentMiB + bounds.residentMiB,
        ],
        ['open handles', first.handles, most((held) => held.handles), last.handles, first.handles + bounds.handles],
        [
          'write-ahead logs, MiB',
          first.walMiB,
          most((held) => held.walMiB),
          most((held) => held.walMiB),
          bounds.walMiB,
        ],
      ] as const);
process.stdout.write(`${minutes} minutes, ${Object.values(counts).reduce((sum, one) => sum + one, 0)} calls\n`);
for (const [what, calls] of Object.entries(counts).toSorted()) process.stdout.write(`  ${what}: ${calls}\n`);
let ok = failure === undefined && exitCode === 0 && rows.length > 0;
for (const [what, from, top, end, bound] of rows) {
  const holds = end <= bound;
  ok &&= holds;
  process.stdout.write(
    `${holds ? 'ok  ' : 'FAIL'} ${what}: ${from} after the warm-up, ${top} at most, ${end} counted, bound ${bound}\n`,
  );
}
if (failure !== undefined) process.stderr.write(`the soak was cut off: ${String(failure)}\n`);
if (exitCode !== 0) process.stderr.write(`the served process ended with ${exitCode}\n`);
rmSync(home, { recursive: true, force: true });
process.exitCode = ok ? 0 : 1;
