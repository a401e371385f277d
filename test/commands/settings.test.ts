import { expect, test } from 'vitest';
import { newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('P130 the owner merges the owner’s own proposal while that is on, on record, and not while it is off', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  expect(await engine.run(engine.owner, 'setting.show', {})).toEqual({ owner_self_merge: true });
  const filed = await proposal(engine, engine.owner, 'demo', 'work', 'mine');
  const merge = { proposal_id: filed.proposal_id, idempotency_key: newKey() };

  await engine.run(engine.owner, 'setting.set_owner_self_merge', { on: false });
  expect(await engine.run(engine.owner, 'setting.show', {})).toEqual({ owner_self_merge: false });
  expect((await engine.refusal(engine.owner, 'memory.merge', merge)).code).toBe('SELF_APPROVAL');
  await engine.run(engine.owner, 'setting.set_owner_self_merge', { on: true });
  expect((await engine.run(engine.owner, 'memory.merge', merge)).status).toBe('completed');

  const entries = await engine.entries();
  const switched = entries.filter(
    ({ command, phase }) => command === 'setting.set_owner_self_merge' && phase === 'intent',
  );
  expect(switched.map(({ object_ids: ids }) => ids)).toEqual([['off'], ['on']]);
  const agent = await engine.agent('agent', 'write', 'demo');
  expect((await engine.refusal(agent, 'setting.set_owner_self_merge', { on: true })).code).toBe('OWNER_ONLY');
});
