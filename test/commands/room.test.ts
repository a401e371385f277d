import { expect, test } from 'vitest';
import { z } from 'zod';
import { freeDisk } from '../../src-main/home/free-disk.ts';
import { projectIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type TempEngine, type TempEngineOptions, tempEngine } from '../support/temp-engine.ts';
import { tempFolder } from '../support/temp-home.ts';

/** A project, an agent that may write to it, and how that makes a branch. */
async function begin(options: TempEngineOptions) {
  const engine = await tempEngine(options);
  const agent = await engine.agent('worker', 'propose', 'demo');
  const { changeset } = await engine.run(agent, 'memory.repo_init', { project: 'demo' });
  const branch = (name: string) => ({
    project: 'demo',
    ref_name: `refs/agents/${agent.principal.actor_id}/${name}`,
    head_changeset_id: changeset.changeset_id,
  });
  return { engine, agent, root: changeset.changeset_id, branch };
}

function commit(root: string, refName: string, key: string, content: string) {
  return {
    project: 'demo',
    ref: refName,
    expected_head: root,
    parent_ids: [root],
    message: 'a note',
    idempotency_key: key,
    ops: [{ ordinal: 0, op_type: 'add_memory', payload: { memory_id: 'note', kind: 'fact', content } }],
  };
}

async function intents(engine: TempEngine): Promise<readonly string[]> {
  const entries = await engine.entries();
  return entries.filter(({ phase }) => phase === 'intent').map(({ command }) => command);
}

test('P80 a branch beyond the quota leaves no intent and no branch; one that failed does not count', async () => {
  const { engine, agent, branch } = await begin({ limits: { refs: 2 } });
  await engine.run(agent, 'memory.branch_create', branch('one'));
  expect((await engine.refusal(agent, 'memory.branch_create', branch('one'))).code).toBe('REF_EXISTS');
  const raced = await Promise.allSettled(
    ['two', 'two'].map((name) => engine.raw(agent, 'memory.branch_create', branch(name))),
  );
  expect(raced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const before = await intents(engine);
  const refused = await engine.refusal(agent, 'memory.branch_create', branch('three'));
  expect([refused.code, refused.data.quota]).toEqual(['QUOTA', 'refs']);
  expect(await intents(engine)).toEqual(before);
  expect((await engine.entries()).at(-1)).toMatchObject({ phase: 'outcome', outcome: 'invalid QUOTA' });
  expect(
    engine.lethe.findRef(projectIdSchema.parse('demo'), refNameSchema.parse(branch('three').ref_name)),
  ).toBeUndefined();
  const another = await engine.agent('other', 'propose', 'demo');
  const ref_name = `refs/agents/${another.principal.actor_id}/one`;
  await engine.run(another, 'memory.branch_create', { ...branch('x'), ref_name });
});

test('P80 what is sent to be written counts; reads and repeated requests need no room, nor does the owner', async () => {
  const { engine, agent, branch, root } = await begin({ limits: { payload_bytes_per_day: 2_000 } });
  const { ref_name } = await engine.run(agent, 'memory.branch_create', branch('one'));
  const first = commit(root, ref_name, 'key-1', 'short');
  const done = await engine.raw(agent, 'memory.changeset_create', first);
  const { changeset_id: head } = z.looseObject({ changeset_id: z.string() }).parse(done);
  const long = commit(head, ref_name, 'key-2', 'x'.repeat(2_000));
  const refused = await engine.refusal(agent, 'memory.changeset_create', long);
  expect([refused.code, refused.data.quota]).toEqual(['QUOTA', 'payload_bytes_per_day']);
  expect(await engine.raw(agent, 'memory.changeset_create', first)).toEqual(done);
  await engine.run(agent, 'memory.status', { project: 'demo' });
  for (let n = 0; n < 20; n += 1)
    await engine.run(engine.owner, 'memory.repo_init', { project: `p${n}${'x'.repeat(90)}` });
  await engine.run(engine.owner, 'principal.reconcile', { name: 'y'.repeat(120), profile: 'readonly', project: '*' });
});

test('P81 with too little free disk nothing is added; reading and taking rights away go on', async () => {
  let free = 1_000;
  const { engine, agent, branch } = await begin({ disk: { freeBytes: () => free, freeBytesMin: 1_000 } });
  free = 999;
  const before = await intents(engine);
  const refused = await engine.refusal(agent, 'memory.branch_create', branch('one'));
  expect([refused.code, refused.kind]).toEqual(['DISK_FULL', 'unavailable']);
  expect(refused.message).toContain('1000 bytes');
  expect((await engine.refusal(engine.owner, 'memory.repo_init', { project: 'new' })).code).toBe('DISK_FULL');
  const imported = { file: '/nowhere/store.db', content_digest: '0'.repeat(64) };
  expect((await engine.refusal(engine.charon.ownerCaller('files'), 'store.import', imported)).code).toBe('DISK_FULL');
  expect(await intents(engine)).toEqual(before);
  await engine.run(agent, 'memory.status', { project: 'demo' });
  // A pin is written: without room there is none, and who asks for one outright is told.
  expect((await engine.run(agent, 'memory.context_at', { project: 'demo' })).manifest_id).toBeUndefined();
  expect((await engine.refusal(agent, 'memory.context_at', { project: 'demo', pin: true })).code).toBe('DISK_FULL');
  await engine.run(engine.owner, 'principal.set_enabled', {
    principal_id: agent.principal.principal_id,
    enabled: false,
  });
  free = 1_000;
  expect((await engine.refusal(agent, 'memory.branch_create', branch('one'))).code).toBe('PRINCIPAL_DISABLED');
});

test('P81 the disk is asked at most once a second; one that does not say counts as having room', () => {
  let nowMs = 0;
  const there = freeDisk(tempFolder(), () => nowMs);
  const first = there();
  expect(first).toBeGreaterThan(0);
  nowMs = 999;
  expect(there()).toBe(first);
  expect(freeDisk('/nowhere/at/all', () => 0)()).toBe(Number.POSITIVE_INFINITY);
});
