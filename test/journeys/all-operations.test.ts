import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { opTypes } from '../../src-preload/contract/changeset.ts';
import type { AgentClient, ToolAnswer } from '../support/mcp-clients.ts';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';

const project = 'harbour';
const main = 'refs/shared/main';
const statusSchema = z.object({
  actor_id: z.string(),
  refs: z.array(z.object({ ref_name: z.string(), head_changeset_id: z.string() })),
});
const done = (answer: ToolAnswer): Readonly<Record<string, unknown>> => {
  expect(answer.isError, answer.text).toBe(false);
  return answer.structured;
};
const add = (memory_id: string, content: string) => ({ op_type: 'add_memory', payload: { memory_id, content } });

const first = [
  add('pier-a', 'Ferries leave from pier A.'),
  add('pier-a-again', 'The ferries start at pier A.'),
  add('tide', 'High tide is at noon.'),
  add('crane', 'The old crane lifts ten tons.'),
  add('rule', 'Loading stops at wind force 8.'),
];
const second = [
  { op_type: 'mark_duplicate', target_event_id: 'pier-a-again', resulting_event_id: 'pier-a' },
  { op_type: 'add_relationship', target_event_id: 'tide', resulting_event_id: 'pier-a', payload: { kind: 'decides' } },
  { op_type: 'propose_deprecation', target_event_id: 'crane', payload: { reason: 'It was taken down in May.' } },
  { op_type: 'attach_evidence', target_event_id: 'rule', payload: { source: 'harbour rules, page 12' } },
  {
    op_type: 'attach_verification',
    target_event_id: 'rule',
    payload: { status: 'passed', summary: 'Asked the crew.' },
  },
  { op_type: 'correct_memory', target_event_id: 'tide', payload: { content: 'High tide is at one.' } },
  {
    op_type: 'supersede_memory',
    target_event_id: 'pier-a',
    resulting_event_id: 'pier-b',
    payload: { content: 'Ferries leave from pier B.' },
  },
];

const household = new Household();
let serving: Serving;
let desk: DeskPage;
let agent: AgentClient;

beforeAll(async () => {
  serving = await household.serve({ ownerPage: true });
  desk = await DeskPage.open(z.string().parse(serving.owner));
});
afterAll(async () => {
  await desk.close();
  await household.clear();
});

test('all eight operations go from an agent over review into memory, and the desk says what each did', async () => {
  await desk.page.getByLabel('Project name').fill(project);
  await desk.button('Create project').click();
  await desk.sees('Nothing waits for you');
  const { token } = await desk.allowing(() => household.agent('Mira', 'propose', project));
  agent = await household.client('sdk2-auto', serving.mcp, token);
  const status = statusSchema.parse(done(await agent.call('memory_status', { project })));
  const root = z.string().parse(status.refs.find((ref) => ref.ref_name === main)?.head_changeset_id);
  const ref = `refs/agents/${status.actor_id}/work`;
  done(await agent.call('memory_branch_create', { project, ref_name: ref, head_changeset_id: root }));

  const commit = async (head: string, ops: readonly Record<string, unknown>[]): Promise<string> => {
    const answer = await agent.call('memory_changeset_create', {
      project,
      ref,
      expected_head: head,
      parent_ids: [head],
      message: 'What I know of the harbour',
      idempotency_key: randomUUID(),
      ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
    });
    return z.string().parse(done(answer).changeset_id);
  };
  const merge = async (base: string, head: string, message: string, verdict: string): Promise<void> => {
    const asked = { target_ref: main, head_changeset_id: head, base_changeset_id: base, message };
    done(await agent.call('memory_merge_propose', { project, ...asked, idempotency_key: randomUUID() }));
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: message }).click();
    await desk.sees(verdict);
    if (base !== root) await readReview();
    await desk.button('Approve and merge').click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Approve and merge' }).click();
    await desk.sees('Merged (fast-forward)');
  };

  const added = await commit(root, first);
  await merge(root, added, 'The harbour', 'Merges cleanly (fast-forward, 5 added)');
  const marked = await commit(added, second);
  expect(new Set([...first, ...second].map(({ op_type }) => op_type))).toEqual(new Set(opTypes));
  await merge(added, marked, 'The harbour, looked at again', '1 marked duplicate');

  const read = done(await agent.call('memory_context_at', { project }));
  expect(read).toMatchObject({
    total_active: 4,
    relationships: [{ from_memory_id: 'tide', to_memory_id: 'pier-a', kind: 'decides' }],
  });
  await readMemories();
  expect(desk.complaints).toEqual([]);
});

/** The review of the second proposal names every change. */
async function readReview(): Promise<void> {
  const section = (name: string) => desk.page.getByRole('region', { name, exact: true });
  await section('Duplicates').getByText('duplicate of').waitFor();
  await section('Relationships').getByText('decides').waitFor();
  await section('Decisions').getByText('It was taken down in May.').waitFor();
  await section('Decisions').getByText('status active → deprecation proposed').waitFor();
  await section('Evidence').getByText('source: harbour rules, page 12').waitFor();
  await section('Evidence').getByText('Asked the crew. · status: passed').waitFor();
  await section('Corrected').getByText('High tide is at').first().waitFor();
  await section('Superseded').getByText('Ferries leave from pier').first().waitFor();
}

/** Each memory shows what was said of it. */
async function readMemories(): Promise<void> {
  const open = async (content: string): Promise<void> => {
    await desk.goTo('Memory');
    await desk.page.getByRole('link', { name: content }).click();
    await desk.page.getByRole('heading', { name: 'Lineage' }).waitFor();
  };
  await open('Loading stops at wind force 8.');
  await desk.sees('source: harbour rules, page 12');
  await open('The old crane lifts ten tons.');
  await desk.sees('deprecation proposed');
  await desk.sees('reason: It was taken down in May.');
  await open('High tide is at one.');
  await desk.page.getByRole('region', { name: 'Relationships' }).getByText('decides').waitFor();
}
