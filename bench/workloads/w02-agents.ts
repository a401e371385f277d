import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type AgentClient, connectClient } from '../../test/support/mcp-clients.ts';
import { syncFloor } from '../lib/floor.ts';
import { type Contestant, race, type Timing } from '../lib/measure.ts';
import { type Row, rateRatio, toRow } from '../lib/rows.ts';
import type { Setting } from '../lib/setting.ts';
import { benchProject } from '../lib/store.ts';
import { textOf } from '../lib/texts.ts';

const sync = 'fdatasync of 12 KiB';
const clientCounts = [1, 8] as const;
/** What must be reached: so many times the lower of fdatasync and no-op rate for one client, of the no-op rate for more. */
const wanted = { 1: 0.25, 8: 0.5 } as const;

const readySchema = z.strictObject({
  real: z.string(),
  noop: z.string(),
  token: z.string(),
  actor: z.string(),
  root: z.string(),
});
type Ready = z.infer<typeof readySchema>;

/**
 * W2: the same commits by agents: MCP over HTTP, policy with audit intent and outcome, store, with upkeep running. Beside
 * it the same calls to a door of the same process behind which nothing is done. Clients and server are two processes.
 */
export async function runAgents({ scratch, length }: Setting): Promise<readonly Row[]> {
  const doors = await openDoors(scratch);
  const floor = syncFloor(sync, scratch);
  const clients: AgentClient[] = [];
  const contestants: Contestant[] = [];
  for (const count of clientCounts) {
    const connect = async (url: string): Promise<readonly AgentClient[]> => {
      const connected = await Promise.all(
        Array.from({ length: count }, () => connectClient('sdk2-auto', { url, token: doors.ready.token })),
      );
      clients.push(...connected);
      return connected;
    };
    contestants.push(callers(noopName(count), await connect(doors.ready.noop), doors.ready, false));
    contestants.push(await committers(commitName(count), await connect(doors.ready.real), doors.ready, count));
  }
  const timing = await race<string>([floor, ...contestants], length);
  floor.close();
  await Promise.all(clients.map((client) => client.close()));
  await doors.close();
  return [
    toRow('W2', sync, timing(sync)),
    ...clientCounts.flatMap((count) => {
      const noop = timing(noopName(count));
      const committed = timing(commitName(count));
      const floorTiming = count === 1 ? lower(noop, timing(sync)) : noop;
      const ratio = rateRatio(committed, floorTiming);
      const text = `≥ ${wanted[count]} × ${count === 1 ? 'the lower of fdatasync and no-op rate' : 'the no-op rate'}`;
      return [
        toRow('W2', noop.name, noop),
        toRow('W2', committed.name, committed, {
          floor: ratio,
          must: { text, reached: ratio.ratio >= wanted[count] },
        }),
      ];
    }),
  ];
}

function noopName(clients: number): string {
  return `no-op tool, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
}

function commitName(clients: number): string {
  return `commit through MCP, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
}

function lower(one: Timing, other: Timing): Timing {
  return one.perSecond < other.perSecond ? one : other;
}

/** Clients that each wait for the answer to their own call. `real`: the answer names the next head. */
function callers(name: string, clients: readonly AgentClient[], ready: Ready, real: boolean, prefix = ''): Contestant {
  const heads = clients.map(() => ready.root);
  let count = 0;
  return {
    name,
    workers: clients.length,
    once: async (worker) => {
      count += 1;
      const head = heads[worker] ?? ready.root;
      const answer = await clients[worker]?.call('memory_changeset_create', {
        project: benchProject,
        ref: refOf(ready, prefix, worker),
        expected_head: head,
        parent_ids: [head],
        message: 'what was learned',
        idempotency_key: `${name} ${count}`,
        ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: textOf(count) } }],
      });
      if (answer === undefined || answer.isError) throw new Error(`a call was refused: ${answer?.text}`);
      if (real) heads[worker] = String(answer.structured.changeset_id);
    },
  };
}

function refOf({ actor }: Ready, prefix: string, worker: number): string {
  return `refs/agents/${actor}/${prefix}${worker}`;
}

async function committers(
  name: string,
  clients: readonly AgentClient[],
  ready: Ready,
  count: number,
): Promise<Contestant> {
  const prefix = `of-${count}-`;
  for (const [worker, client] of clients.entries()) {
    const made = await client.call('memory_branch_create', {
      project: benchProject,
      ref_name: refOf(ready, prefix, worker),
      head_changeset_id: ready.root,
    });
    if (made.isError) throw new Error(`a branch was refused: ${made.text}`);
  }
  return callers(name, clients, ready, true, prefix);
}

async function openDoors(scratch: string): Promise<{ readonly ready: Ready; readonly close: () => Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../doors.ts'), scratch], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const died = ended.then(([code]) => Promise.reject(new Error(`the doors ended with ${code} before they were open`)));
  const [line]: unknown[] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), died]);
  const ready = readySchema.parse(JSON.parse(String(line)));
  const close = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  return { ready, close };
}
