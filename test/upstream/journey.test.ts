import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type AgentClient, connectClient } from '../support/mcp-clients.ts';
import { onDisk } from '../support/on-disk.ts';
import { runProgram, type Served, serveCharon, startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

onDisk();

// Store and policy engine are processes of their own here, and the machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

const main = 'refs/shared/main';
const shared = { LETHE_API_KEY: 'lethe_of_this_test', CHARON_MERGE_HMAC_KEYS: `k1=${'m'.repeat(40)}` };

/** `lethe serve` behind something that can kill it in the middle of a merge. It is found at one address however often it starts. */
async function openKillableStore(home: string) {
  let port = 0;
  let kill: ((signal: NodeJS.Signals) => Promise<unknown>) | undefined;
  let killAt: 'never' | 'before' | 'after' = 'never';
  const start = async (): Promise<void> => {
    const program = startProgram('lethe', ['serve', '--home', home, '--http', '127.0.0.1:0', '--json'], {
      env: shared,
    });
    const ready = z.object({ lethe: z.url() }).parse(JSON.parse(await program.until(/\n/)));
    port = Number(new URL(ready.lethe).port);
    kill = program.stop;
  };
  const proxy = createServer((incoming, response) => {
    const isMerge = incoming.url?.endsWith('/refs/merge') === true;
    const die = (): void => {
      killAt = 'never';
      void kill?.('SIGKILL').then(() => incoming.socket.destroy());
    };
    if (isMerge && killAt === 'before') return die();
    const headers = { ...incoming.headers, host: `127.0.0.1:${port}` };
    const passed = request(
      { host: '127.0.0.1', port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        if (isMerge && killAt === 'after') return die();
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => incoming.socket.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const bound = proxy.address();
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  await start();
  return {
    url: `http://127.0.0.1:${typeof bound === 'string' ? '' : bound?.port}`,
    start,
    killAt: (moment: 'before' | 'after') => {
      killAt = moment;
    },
    ask: async (path: string): Promise<unknown> => {
      const authorization = `Bearer ${shared.LETHE_API_KEY}`;
      return (await fetch(`http://127.0.0.1:${port}/api${path}`, { headers: { authorization } })).json();
    },
  };
}

async function json(args: readonly string[], home: string): Promise<unknown> {
  const ran = await runProgram('charon', [...args, '--home', home, '--json'], { env: shared });
  expect([args, ran.code, ran.stderr]).toEqual([args, 0, expect.any(String)]);
  return JSON.parse(ran.stdout);
}

/** A principal with a token, made by command line while the engine serves. */
async function makeAgent(home: string, name: string, profile: string) {
  const principal = z
    .object({ principal: z.object({ principal_id: z.string(), actor_id: z.string() }) })
    .parse(await json(['principal', 'reconcile', name, profile, 'demo'], home)).principal;
  const { token } = z.object({ token: z.string() }).parse(await json(['obol', 'mint', principal.principal_id], home));
  return { actorId: principal.actor_id, token };
}

async function connect({ ready }: Served, token: string): Promise<AgentClient> {
  const client = await connectClient('sdk2-auto', { url: ready.mcp ?? '', token });
  await client.listTools();
  onTestFinished(() => client.close().catch(() => undefined));
  return client;
}

async function done(client: AgentClient, tool: string, input: Record<string, unknown>) {
  const answer = await client.call(tool, { project: 'demo', ...input });
  expect([tool, answer.isError, answer.text]).toEqual([tool, false, expect.any(String)]);
  return answer.structured;
}

const refOf = z.object({ ref: z.object({ head_changeset_id: z.string() }) });
const proposalOf = z.object({ proposal_id: z.string(), status: z.string() });
const changesetOf = z.object({ changeset_id: z.string() });

test('T156 two agents work over a store in another process, which is killed in the middle of two merges', async () => {
  const homes = tempFolder();
  const home = join(homes, 'engine');
  const store = await openKillableStore(join(homes, 'store'));
  const env = { ...shared, CHARON_UPSTREAM: store.url };
  let engine = await serveCharon(home, [], { env });
  const author = await makeAgent(home, 'author', 'propose');
  const reviewer = await makeAgent(home, 'reviewer', 'review');
  let writes = await connect(engine, author.token);
  let reviews = await connect(engine, reviewer.token);

  const root = refOf.parse(await done(writes, 'memory_repo_init', {})).ref.head_changeset_id;
  const branch = `refs/agents/${author.actorId}/main`;
  await done(writes, 'memory_branch_create', { ref_name: branch, head_changeset_id: root });
  const propose = async (parent: string, base: string, content: string) => {
    const { changeset_id: head } = changesetOf.parse(
      await done(writes, 'memory_changeset_create', {
        ...{ ref: branch, expected_head: parent, parent_ids: [parent], message: content, idempotency_key: content },
        ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content, kind: 'fact' } }],
      }),
    );
    const asked = { target_ref: main, head_changeset_id: head, base_changeset_id: base, message: content };
    const filed = proposalOf.parse(await done(writes, 'memory_merge_propose', { ...asked, idempotency_key: content }));
    const shown = await reviews.call('memory_proposal_show', { proposal_id: filed.proposal_id });
    expect(shown.text).toContain(content);
    const verdict = { proposal_id: filed.proposal_id, verdict: 'approve' };
    expect((await reviews.call('memory_merge_review', verdict)).isError).toBe(false);
    return { head, id: filed.proposal_id };
  };
  const merge = (id: string) => reviews.call('memory_merge', { proposal_id: id, idempotency_key: `merge ${id}` });
  const restart = async (): Promise<void> => {
    await engine.stop('SIGKILL');
    await store.start();
    engine = await serveCharon(home, [], { env });
    writes = await connect(engine, author.token);
    reviews = await connect(engine, reviewer.token);
  };
  const statusOf = async (id: string): Promise<string> =>
    proposalOf.parse((await writes.call('memory_proposal_show', { proposal_id: id })).structured).status;

  // The store moved the ref and was killed before its answer arrived: its record says so.
  const first = await propose(root, root, 'the kettle is blue');
  store.killAt('after');
  expect((await merge(first.id)).structured).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await restart();
  expect(await statusOf(first.id)).toBe('completed');
  expect((await merge(first.id)).structured).toMatchObject({ status: 'completed', resulting_changeset_id: first.head });

  // The store was killed before it heard of the merge: nothing moved, and the merge is made again.
  const second = await propose(first.head, first.head, 'the kettle is old');
  store.killAt('before');
  expect((await merge(second.id)).structured).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect((await writes.call('memory_status', { project: 'demo' })).structured).toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  await restart();
  expect(await statusOf(second.id)).toBe('pending');
  expect((await merge(second.id)).structured).toMatchObject({
    status: 'completed',
    resulting_changeset_id: second.head,
  });

  const context = await done(writes, 'memory_context_at', { query: 'kettle' });
  expect(context).toMatchObject({ head_changeset_id: second.head, total_active: 2, manifest_id: expect.any(String) });
  expect(await done(writes, 'memory_search', { query: 'kettle' })).toMatchObject({ head_changeset_id: second.head });
  const { advances } = z
    .object({ advances: z.array(z.object({ merge_proposal_id: z.string() })) })
    .parse(await store.ask('/memory/demo/advances'));
  expect(advances.map(({ merge_proposal_id: id }) => id).toSorted()).toEqual([first.id, second.id].toSorted());
  expect(await store.ask('/memory/demo/verify')).toMatchObject({ ok: true, findings: [] });
  expect(await json(['ledger', 'verify'], home)).toMatchObject({ ok: true, findings: [] });
  // Proposals, projects and moves are compared over HTTP; only the store's own file is not looked at from here.
  expect(await json(['reconcile'], home)).toMatchObject({
    ok: true,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'database_files', notes: [expect.stringContaining('another process')] }),
      expect.objectContaining({ name: 'projects', checked: 1, findings: [], notes: expect.any(Array) }),
      expect.objectContaining({ name: 'proposals', checked: 2, findings: [] }),
      expect.objectContaining({ name: 'advances', checked: 2, findings: [], notes: [] }),
    ]),
  });
  expect(await engine.stop('SIGTERM')).toBe(0);
  const imported = await runProgram('lethe', ['import', '--dry-run', '/nowhere.db', '--home', home], { env });
  expect([imported.code, imported.stderr]).toEqual([1, expect.stringContaining('CHARON_UPSTREAM')]);
  // The engine's own home holds no memory.
  expect((await runProgram('lethe', ['verify-chain', 'demo', '--home', home])).code).toBe(1);
});

test('T156 an upstream that may not be used, and a second door to a store that is elsewhere, are refused at the start', async () => {
  const home = join(tempFolder(), 'home');
  for (const [program, env] of [
    ['charon', { CHARON_UPSTREAM: 'http://memory.example' }],
    ['charon', { CHARON_UPSTREAM: 'https://memory.example', LETHE_API_KEY: 'two words' }],
  ] as const) {
    const ran = await runProgram(program, ['serve', '--home', home, '--port', '0', '--json'], { env });
    expect([ran.code, ran.stdout]).toEqual([3, '']);
    expect(ran.stderr).toMatch(/CHARON_UPSTREAM|LETHE_API_KEY/);
    expect(ran.stderr).not.toMatch(/two words|memory\.example/);
  }
  expect(
    (await runProgram('charon', ['principal', 'reconcile', 'agent', 'propose', 'demo', '--home', home])).code,
  ).toBe(0);
  const env = { CHARON_UPSTREAM: 'unix:/nowhere/lethe.sock' };
  const door = await runProgram('lethe', ['serve', '--home', home, '--http', '127.0.0.1:0'], { env });
  expect([door.code, door.stdout]).toEqual([3, '']);
  expect(door.stderr).toMatch(/CHARON_UPSTREAM/);
});
