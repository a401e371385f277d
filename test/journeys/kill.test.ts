import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentClient } from '../support/mcp-clients.ts';
import { onDisk } from '../support/on-disk.ts';
import { Household, type Serving } from './running-app.ts';

onDisk();

const project = 'drill';
const kills = 20;
const writers = 4;
const changesetSchema = z.object({ changeset_id: z.string(), parent_ids: z.array(z.string()), message: z.string() });
const shownSchema = changesetSchema.extend({ ops: z.array(z.object({ payload: z.object({ content: z.string() }) })) });
const logSchema = z.object({ changesets: z.array(changesetSchema), next_cursor: z.string().optional() });
const refSchema = z.object({ head_changeset_id: z.string() });

/** One agent that commits without end to a ref of its own, and remembers what was acknowledged. */
class Writer {
  readonly name: string;
  readonly ref: string;
  readonly acknowledged = new Map<string, string>();
  /** The commit that was sent and not answered when the engine died. */
  unanswered: { readonly key: string; readonly parent: string } | null = null;
  head = '';
  count = 0;

  constructor(actorId: string, name: string) {
    this.name = name;
    this.ref = `refs/agents/${actorId}/main`;
  }

  request(key: string, parent: string): Record<string, unknown> {
    const content = `memory ${key} of ${this.name}`;
    const ops = [0, 1, 2].map((ordinal) => ({
      ordinal,
      op_type: 'add_memory',
      payload: { content: `${content}, part ${ordinal}`, kind: 'fact' },
    }));
    return {
      project,
      ref: this.ref,
      expected_head: parent,
      parent_ids: [parent],
      message: key,
      idempotency_key: key,
      ops,
    };
  }

  /** Commits until the connection breaks. */
  async run(client: AgentClient): Promise<void> {
    for (;;) {
      this.count += 1;
      const key = `${this.name}-${this.count}`;
      this.unanswered = { key, parent: this.head };
      const answer = await client.call('memory_changeset_create', this.request(key, this.head)).catch(() => null);
      if (answer === null) return;
      expect(answer.isError, answer.text).toBe(false);
      this.head = changesetSchema.parse(answer.structured).changeset_id;
      this.acknowledged.set(key, this.head);
      this.unanswered = null;
    }
  }
}

describe('the engine is killed in the middle of commits, twenty times', () => {
  const household = new Household();
  let serving: Serving;
  const agents: { readonly token: string; readonly writer: Writer }[] = [];

  beforeAll(async () => {
    serving = await household.serve();
    for (let index = 0; index < writers; index += 1) {
      const agent = await household.agent(`Writer ${index}`, 'propose', project);
      agents.push({ token: agent.token, writer: new Writer(agent.actorId, `w${index}`) });
    }
    const first = agents[0];
    if (first === undefined) throw new Error('there is a first agent');
    const setUp = await household.client('sdk2-auto', serving.mcp, first.token);
    const root = z.object({ ref: refSchema }).parse((await setUp.call('memory_repo_init', { project })).structured)
      .ref.head_changeset_id;
    for (const { token, writer } of agents) {
      const client = await household.client('sdk2-auto', serving.mcp, token);
      const made = await client.call('memory_branch_create', {
        project,
        ref_name: writer.ref,
        head_changeset_id: root,
      });
      expect(made.isError, made.text).toBe(false);
      writer.head = root;
    }
  });
  afterAll(() => household.clear());

  test('every acknowledged changeset is there, no half-applied one, chain and ledger hold', async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      const clients = await Promise.all(
        agents.map(({ token }, index) => household.client(index % 2 === 0 ? 'sdk2-auto' : 'sdk1', serving.mcp, token)),
      );
      const running = agents.map(({ writer }, index) => {
        const client = clients[index];
        if (client === undefined) throw new Error('each writer has a client');
        return writer.run(client);
      });
      await after(120 + ((kill * 37) % 200));
      await serving.end('SIGKILL');
      await Promise.all(running);
      serving = await household.serve();
      await Promise.all(agents.map(({ token, writer }) => recover(household, serving, token, writer)));
    }
    const total = agents.reduce((sum, { writer }) => sum + writer.acknowledged.size, 0);
    expect(total).toBeGreaterThan(kills * writers);

    const chain = await household.command('lethe', 'verify-chain', project);
    expect(chain.code, chain.errors).toBe(0);
    expect(chain.output).toMatchObject({ ok: true, findings: [] });
    const ledger = await household.command('charon', 'ledger', 'verify');
    expect(ledger.code, ledger.errors).toBe(0);
    expect(ledger.output).toMatchObject({ ok: true, findings: [] });
    expect(await serving.end('SIGTERM')).toBe(0);
  });
});

/** After a kill: the history of the ref holds exactly what was acknowledged, and at most the one that was under way. */
async function recover(household: Household, serving: Serving, token: string, writer: Writer): Promise<void> {
  const client = await household.client('sdk2-auto', serving.mcp, token);
  const found: z.infer<typeof changesetSchema>[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.call('memory_log', {
      project,
      ref: writer.ref,
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    expect(page.isError, page.text).toBe(false);
    const log = logSchema.parse(page.structured);
    found.push(...log.changesets);
    cursor = log.next_cursor;
  } while (cursor !== undefined);

  const keys = found
    .toReversed()
    .slice(1)
    .map((changeset) => changeset.message);
  const late = writer.unanswered !== null && keys.includes(writer.unanswered.key) ? [writer.unanswered.key] : [];
  expect(keys).toEqual([...writer.acknowledged.keys(), ...late]);
  for (const [index, changeset] of found.slice(0, -1).entries())
    expect(changeset.parent_ids).toEqual([found[index + 1]?.changeset_id]);
  for (const changeset of found.slice(0, 4).filter((one) => one.parent_ids.length > 0)) {
    const shown = shownSchema.parse((await client.call('memory_show', { id: changeset.changeset_id })).structured);
    expect(shown.ops.map((op) => op.payload.content)).toEqual(
      [0, 1, 2].map((part) => `memory ${changeset.message} of ${writer.name}, part ${part}`),
    );
  }
  for (const [key, id] of writer.acknowledged)
    expect(found.some((one) => one.changeset_id === id && one.message === key)).toBe(true);

  if (writer.unanswered !== null) {
    const { key, parent } = writer.unanswered;
    const again = await client.call('memory_changeset_create', writer.request(key, parent));
    expect(again.isError, again.text).toBe(false);
    writer.head = changesetSchema.parse(again.structured).changeset_id;
    writer.acknowledged.set(key, writer.head);
    writer.unanswered = null;
  }
  await client.close();
}
