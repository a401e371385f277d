import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type AgentClient, connectClient } from '../../test/support/mcp-clients.ts';
import { type Corpus, readCorpus } from '../lib/corpus.ts';
import { syncFloor } from '../lib/floor.ts';
import { type Contestant, race, type Timing } from '../lib/measure.ts';
import { type MemoryServer, openMemoryServer } from '../lib/memory-server.ts';
import { type Row, rateRatio, timeRatio, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { benchProject, storePath } from '../lib/store.ts';
import { pick, queryOf, seededRandom, textOf } from '../lib/texts.ts';

const sync = 'fdatasync of 12 KiB';
const clientCounts = [1, 8] as const;
/** What must be reached: so many times the lower of fdatasync and no-op rate for one client, of the no-op rate for more. */
const wanted = { 1: 0.25, 8: 0.5 } as const;

const readySchema = z.strictObject({
  real: z.string(),
  noop: z.string(),
  token: z.string(),
  actor: z.string(),
  head: z.string(),
});
type Ready = z.infer<typeof readySchema>;

/**
 * W2: the same commits by agents: MCP over HTTP, policy with audit intent and outcome, store, with upkeep running, on top
 * of the smallest history. Beside it the same calls to a door of the same process behind which nothing is done, and the
 * official memory server with as many memories. Clients and servers are processes of their own.
 */
export async function runAgents({ scratch, corpora, length }: Setting): Promise<readonly Row[]> {
  const [folder] = corpora;
  if (folder === undefined) throw new Error('agents work on a history');
  const corpus = readCorpus(folder);
  const doors = await openDoors(scratch, folder);
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
  const server = await openMemoryServer(scratch, corpus.memories);
  const [reader] = clients;
  if (reader === undefined) throw new Error('at least one client is connected');
  const { ours, theirs } = beside(server, reader, corpus);
  const timing = await race<string>([floor, ...contestants, ...ours, ...theirs], length);
  floor.close();
  await Promise.all([server, ...clients].map((one) => one.close()));
  await doors.close();
  const peerOf = (at: number): Timing => timing(theirs[at]?.name ?? '');
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
          ...(count === 1 ? { peer: rateRatio(committed, peerOf(0)) } : {}),
          must: { text, reached: ratio.ratio >= wanted[count] },
        }),
      ];
    }),
    ...theirs.map(({ name }) => toRow('W2', name, timing(name))),
    ...ours.map(({ name }, at) =>
      toRow('W2', name, timing(name), { peer: timeRatio(timing(name), peerOf(at + 1), 'p50') }),
    ),
  ];
}

/** One more memory, a search for one word and one memory: of the memory server, and the last two of our own door. */
function beside(server: MemoryServer, client: AgentClient, { memories, memoryIds }: Corpus) {
  const random = seededRandom(2);
  const word = (): string => queryOf('two rare words', memories, random).split(' ')[0] ?? '';
  const contestant = (name: string, once: () => Promise<void>): Contestant => ({ name, workers: 1, once });
  const of = (what: string): string => `${what}, ${short(memories)}`;
  const ask = async (tool: string, input: Record<string, unknown>): Promise<void> => {
    const answer = await client.call(tool, { project: benchProject, ...input });
    if (answer.isError) throw new Error(`a call was refused: ${answer.text}`);
  };
  let texts = memories;
  return {
    theirs: [
      contestant(of('server-memory, one more'), () => server.add(textOf(texts++))),
      contestant(of('server-memory, one word'), () => server.search(word())),
      contestant(of('server-memory, one memory'), () => server.open(pick(random, memories))),
    ],
    ours: [
      contestant(of('one word through MCP'), () => ask('memory_search', { query: word() })),
      contestant(of('one memory through MCP'), () =>
        ask('memory_get', { memory_id: memoryIds[pick(random, memoryIds.length)] }),
      ),
    ],
  };
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
  const heads = clients.map(() => ready.head);
  let count = 0;
  return {
    name,
    workers: clients.length,
    once: async (worker) => {
      count += 1;
      const head = heads[worker] ?? ready.head;
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
      head_changeset_id: ready.head,
    });
    if (made.isError) throw new Error(`a branch was refused: ${made.text}`);
  }
  return callers(name, clients, ready, true, prefix);
}

async function openDoors(
  scratch: string,
  folder: string,
): Promise<{ readonly ready: Ready; readonly close: () => Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../doors.ts'), scratch, storePath(folder)], {
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
