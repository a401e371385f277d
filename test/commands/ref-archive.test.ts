import { expect, test } from 'vitest';
import { branch, commit, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('L290 the owner archives a branch, the audit keeps which and where, and its agent is told', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  const { changeset_id: head, chain_digest: chain } = await commit(engine, writer, 'demo', at, 'cats purr');
  const input = { project: 'demo', ref_name: at.ref, expected_head: head };
  expect((await engine.refusal(writer, 'ref.archive', input)).code).toBe('OWNER_ONLY');
  const stale = { ...input, expected_head: at.head };
  expect((await engine.refusal(engine.owner, 'ref.archive', stale)).code).toBe('REF_MOVED');
  const archived = await engine.run(engine.owner, 'ref.archive', input);
  expect(archived).toMatchObject({ ref_name: at.ref, head_changeset_id: head, archived: true });
  const kept = (await engine.entries()).filter(({ command }) => command === 'ref.archive').slice(-2);
  expect(kept.map(({ phase, project, outcome, object_ids: ids }) => [phase, project, outcome, ids])).toEqual([
    ['intent', 'demo', '', [at.ref, head]],
    ['outcome', 'demo', 'ok', [at.ref, head, chain]],
  ]);

  const names = (refs: readonly { readonly ref_name: string }[]) => refs.map(({ ref_name: name }) => name);
  const { refs } = await engine.run(writer, 'memory.ref_list', { project: 'demo' });
  expect(names(refs)).toEqual(['refs/shared/main']);
  expect(names((await engine.run(engine.owner, 'history.graph', { project: 'demo' })).refs)).toEqual(names(refs));
  const refused = await engine.refusal(writer, 'memory.changeset_create', {
    ...{ project: 'demo', ref: at.ref, parent_ids: [head], expected_head: head, message: 'more' },
    ...{ idempotency_key: 'later', ops: [{ ordinal: 0, op_type: 'add_memory', payload: { content: 'dogs bark' } }] },
  });
  expect([refused.code, refused.data]).toEqual(['REF_ARCHIVED', { ref: at.ref, head }]);
});
