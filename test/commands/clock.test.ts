import { expect, test } from 'vitest';
import { dayMs } from '../../src-preload/contract/limits.ts';
import { branch, commit, newKey, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('a clock that goes back by a day between any two acts stops nothing and falsifies nothing', async () => {
  const engine = await tempEngine();
  const back = (): void => void engine.clock.advance(-dayMs);
  engine.clock.advance(30 * dayMs);
  const base = await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const reviewer = await engine.agent('reviewer', 'review', 'demo');
  back();
  const at = await branch(engine, writer, 'demo', 'work');
  back();
  const { changeset_id: head } = await commit(engine, writer, 'demo', at, 'text');
  back();
  const proposed = await engine.run(writer, 'memory.merge_propose', {
    ...{ project: 'demo', target_ref: 'refs/shared/main', head_changeset_id: head, base_changeset_id: base },
    ...{ message: 'merge it', idempotency_key: newKey() },
  });
  const { proposal_id: proposalId } = proposed;
  back();
  await engine.run(reviewer, 'memory.merge_review', { proposal_id: proposalId, verdict: 'approve' });
  back();
  const merged = await engine.run(reviewer, 'memory.merge', { proposal_id: proposalId, idempotency_key: newKey() });
  expect(merged).toMatchObject({ status: 'completed', resulting_changeset_id: head });
  back();
  const again = await engine.reopen();
  const history = await again.run(again.owner, 'store.verify_chain', { project: 'demo' });
  expect(history).toMatchObject({ ok: true, findings: [] });
  expect(await again.run(again.owner, 'audit.verify', {})).toMatchObject({ ok: true, findings: [] });
  const context = await again.run(again.owner, 'memory.context_at', { project: 'demo' });
  expect(context.memories.map(({ content }) => content)).toEqual(['text']);
});
