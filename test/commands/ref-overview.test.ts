import { expect, test } from 'vitest';
import { branch, commit, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('L117 the owner sees where every branch stands to main, in pages, archived ones when asked', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const first = await branch(engine, writer, 'demo', 'first');
  const { changeset_id: one } = await commit(engine, writer, 'demo', first, 'cats purr');
  const { changeset_id: two } = await commit(engine, writer, 'demo', { ...first, head: one }, 'dogs bark');
  await branch(engine, writer, 'demo', 'second');
  expect((await engine.refusal(writer, 'ref.overview', { project: 'demo' })).code).toBe('OWNER_ONLY');

  const whole = await engine.run(engine.owner, 'ref.overview', { project: 'demo' });
  const told = whole.refs.map(({ ref, ahead, behind }) => [ref.ref_name.split('/').at(-1), ahead, behind]);
  expect(told).toEqual([
    ['first', 2, 0],
    ['second', 0, 0],
    ['main', 0, 0],
  ]);
  expect(whole.refs[0]).toMatchObject({ author_principal: writer.principal.principal_id });

  const page = await engine.run(engine.owner, 'ref.overview', { project: 'demo', limit: 2 });
  expect(page.refs).toEqual(whole.refs.slice(0, 2));
  const cursor = page.next_cursor ?? '';
  const rest = await engine.run(engine.owner, 'ref.overview', { project: 'demo', limit: 2, cursor });
  expect([rest.refs, rest.next_cursor]).toEqual([whole.refs.slice(2), undefined]);
  expect((await engine.refusal(engine.owner, 'ref.overview', { project: 'demo', archived: true, cursor })).code).toBe(
    'CURSOR_INVALID',
  );

  await engine.run(engine.owner, 'ref.archive', { project: 'demo', ref_name: first.ref, expected_head: two });
  const left = await engine.run(engine.owner, 'ref.overview', { project: 'demo' });
  expect(left.refs.map(({ ref }) => ref.ref_name)).not.toContain(first.ref);
  const all = await engine.run(engine.owner, 'ref.overview', { project: 'demo', archived: true });
  expect(all.refs.find(({ ref }) => ref.ref_name === first.ref)).toMatchObject({ ref: { archived: true }, ahead: 2 });
});
