import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { type Ran, runProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

/** A home in which the owner's own proposal and main have changed the same memory. */
async function homeWithConflict() {
  const home = join(tempFolder(), 'home');
  const ids = systemIds();
  const app = await openApp({
    home,
    env: {},
    doors: null,
    version: '1.2.3',
    clock: systemClock,
    ids,
    log: silentLog,
  });
  const owner = app.ownerCaller('files');
  const { call } = app.commands;
  const { ref } = await call('memory.repo_init', { project: 'demo' }, owner);
  const commit = async (name: string, at: string, op: object): Promise<string> => {
    const branch = `refs/agents/${owner.principal.actor_id}/${name}`;
    await call('memory.branch_create', { project: 'demo', ref_name: branch, head_changeset_id: at }, owner);
    const made = await app.commands.run({
      name: 'memory.changeset_create',
      input: {
        project: 'demo',
        ref: branch,
        expected_head: at,
        parent_ids: [at],
        message: name,
        idempotency_key: name,
        ops: [{ ordinal: 0, ...op }],
      },
      caller: owner,
      client: '',
      correlationId: ids.uuidv7(),
    });
    return String(Reflect.get(Object(made), 'changeset_id'));
  };
  const propose = (base: string, head: string) =>
    call(
      'memory.merge_propose',
      {
        project: 'demo',
        target_ref: 'refs/shared/main',
        head_changeset_id: head,
        base_changeset_id: base,
        message: 'please',
        idempotency_key: head,
      },
      owner,
    );
  const merge = (id: string) => call('memory.merge', { proposal_id: id, idempotency_key: id }, owner);
  const root = ref.head_changeset_id;
  const first = await commit('first', root, {
    op_type: 'add_memory',
    resulting_event_id: 'm',
    payload: { content: 'the old one' },
  });
  await merge((await propose(root, first)).proposal_id);
  const correct = (content: string) => ({ op_type: 'correct_memory', target_event_id: 'm', payload: { content } });
  const [ours, theirs] = [
    await commit('ours', first, correct('what main says')),
    await commit('theirs', first, correct('what \u001b[31mit says')),
  ];
  await merge((await propose(first, ours)).proposal_id);
  const filed = await propose(first, theirs);
  await app.close();
  const run = (...args: string[]): Promise<Ran> => runProgram('charon', ['proposal', ...args, '--home', home]);
  return { run, id: filed.proposal_id, key: filed.conflicts[0]?.conflict_key ?? '' };
}

test('X16 X1 a conflict is shown with both sides, a resolution is drafted, dropped and merged by its key', async () => {
  const { run, id, key } = await homeWithConflict();
  const shown = await run('show', id);
  expect(shown.stdout).toContain('Would be:    not possible yet: 1 conflict without a resolution');
  expect(shown.stdout).toContain(
    [
      'Conflicts (1)',
      `  concurrent_edit  blocking, open  ${key}`,
      '    Both sides changed one memory differently',
      '    about m',
      '      base   the old one',
      '      ours   what main says',
      '      theirs what \\u{1b}[31mit says',
    ].join('\n'),
  );
  expect(shown.stdout).toContain(`charon proposal resolve ${id} <conflict-key>`);
  const refused = await run('merge', id);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/^charon: conflict: 1 blocking conflict/)]);

  const wrong = await run('resolve', id, key, 'mine');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('ours, theirs, both, edit, or none')]);
  const textless = await run('resolve', id, key, 'edit');
  expect([textless.code, textless.stderr]).toEqual([2, expect.stringContaining('content')]);
  const drafted = await run('resolve', id, key, 'edit', '--content', 'what both say', '--note', 'as agreed');
  expect([drafted.code, drafted.stdout]).toEqual([0, 'Drafted: edit. Every conflict has a resolution.\n']);
  const again = (await run('show', id)).stdout;
  expect(again).toContain('    drafted: edit (2 ops)\n      = what both say\n      as agreed');
  expect(again).toContain('Would be:    merge_commit');
  expect((await run('resolve', id, key, 'none')).stdout).toBe('Dropped. 1 without a resolution.\n');
  const json = await run('resolve', id, key, 'theirs', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    conflict_counts: { unresolved: 0 },
    resolutions: [{ choice: 'theirs' }],
  });
  expect((await run('merge', id)).stdout).toMatch(/^Merged \(merge_commit\)/);
  expect((await run('show', id)).stdout).toContain('concurrent_edit  blocking, resolved');
});
