import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { proposalDetailSchema, proposalSchema } from '../../src-preload/contract/proposal.ts';
import { clientKinds, connectClient, type ToolAnswer } from '../support/mcp-clients.ts';
import { tempFolder } from '../support/temp-home.ts';

/** The real engine on a new home, with an agent that may propose behind the real door. */
async function open(kind: (typeof clientKinds)[number]) {
  const app = await openApp({
    home: join(tempFolder(), 'home'),
    env: {},
    doors: { agentPort: 0, ownerPageDir: null },
    version: '0.1.0',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  onTestFinished(() => app.close());
  const owner = <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    app.commands.call(name, input, app.ownerCaller('owner_socket'));
  const { principal } = await owner('principal.reconcile', { name: 'agent', profile: 'propose', project: 'demo' });
  const { token } = await owner('obol.mint', { principal_id: principal.principal_id });
  const client = await connectClient(kind, { url: app.doors.mcp ?? '', token });
  onTestFinished(() => client.close());
  return { owner, client, actor: principal.actor_id, tools: await client.listTools() };
}

function done(answer: ToolAnswer) {
  expect(answer.isError, answer.text).toBe(false);
  expect(JSON.parse(answer.text)).toEqual(answer.structured);
  return answer.structured;
}

test.each(clientKinds)(
  'P43 T22 a client of kind %s picks ops and reverts a changeset, and is told what is missing',
  async (kind) => {
    const { owner, client, actor, tools } = await open(kind);
    expect(tools.map(({ name }) => name)).toContain('memory_revert_propose');
    const root = z
      .object({ ref: z.object({ head_changeset_id: z.string() }) })
      .parse(done(await client.call('memory_repo_init', { project: 'demo' }))).ref.head_changeset_id;
    const ref = `refs/agents/${actor}/work`;
    done(await client.call('memory_branch_create', { project: 'demo', ref_name: ref, head_changeset_id: root }));
    const commit = async (parent: string, key: string, ...ops: object[]): Promise<string> => {
      const made = await client.call('memory_changeset_create', {
        project: 'demo',
        ref,
        expected_head: parent,
        parent_ids: [parent],
        message: key,
        idempotency_key: key,
        ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
      });
      return z.string().parse(done(made).changeset_id);
    };
    const add = (id: string) => ({ op_type: 'add_memory', resulting_event_id: id, payload: { content: `the ${id}` } });
    const first = await commit(root, 'c1', add('a'), add('b'));
    const correct = { op_type: 'correct_memory', target_event_id: 'a', payload: { content: 'the new a' } };
    const second = await commit(first, 'c2', correct, add('c'));

    const ask = (more: object) =>
      client.call('memory_merge_propose', {
        project: 'demo',
        target_ref: 'refs/shared/main',
        head_changeset_id: second,
        base_changeset_id: root,
        message: 'some of it',
        ...more,
      });
    const refused = await ask({ idempotency_key: 'p0', selected_ops: [0] });
    expect(refused.structured).toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'selected_ops', needs: [{ changeset_id: first, ordinal: 0 }] },
    });
    for (const selected of [[], [-1], ['0'], [{ changeset_id: second, ordinal: 0, more: 1 }]])
      expect((await ask({ idempotency_key: 'p0', selected_ops: selected })).structured.code).toBe('INPUT_INVALID');
    const selected = [1, { changeset_id: first, ordinal: 0 }, 0];
    const picked = proposalSchema.parse(done(await ask({ idempotency_key: 'p1', selected_ops: selected })));
    expect(picked.selected_ops).toEqual([
      { changeset_id: first, ordinal: 0 },
      { changeset_id: second, ordinal: 0 },
      { changeset_id: second, ordinal: 1 },
    ]);
    const merge = async (id: string) => {
      const { proposal_digest, target_head } = await owner('memory.proposal_show', { proposal_id: id });
      await owner('memory.merge_review', { proposal_id: id, verdict: 'approve', proposal_digest, target_head });
      return owner('memory.merge', { proposal_id: id, idempotency_key: id });
    };
    const merged = await merge(picked.proposal_id);
    expect(merged.strategy).toBe('cherry_pick');
    const accepted = async () => {
      const { memories } = await owner('memory.context_at', { project: 'demo' });
      return Object.fromEntries(memories.map(({ memory_id: id, content }) => [id, content]));
    };
    expect(await accepted()).toEqual({ a: 'the new a', c: 'the c' });

    const back = { project: 'demo', message: 'back', idempotency_key: 'r1' };
    expect((await client.call('memory_revert_propose', { ...back, changeset_id: second })).structured).toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'changeset_id' },
    });
    const asked = { ...back, changeset_id: merged.resulting_changeset_id };
    const reverted = proposalSchema.parse(done(await client.call('memory_revert_propose', asked)));
    expect(done(await client.call('memory_revert_propose', asked))).toEqual(reverted);
    const shown = done(await client.call('memory_proposal_show', { proposal_id: reverted.proposal_id }));
    expect(proposalDetailSchema.parse(shown)).toMatchObject({
      target_ref: 'refs/shared/main',
      preview: { strategy: 'fast_forward', changes: { records_superseded: 2 } },
    });
    await merge(reverted.proposal_id);
    expect(await accepted()).toEqual({});
  },
);
