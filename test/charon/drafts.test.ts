import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addAs, correct } from '../support/history-builder.ts';
import { codeOf } from './charon-world.ts';
import { acceptedInMain, approveAndMerge, contest, draft, keptFor, land, mainHead, show } from './conflict-world.ts';
import { judge, type MergeWorld, mergeBy, now, openMergeWorld } from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
  await land(world, [addAs('m', 'old'), addAs('n', 'other')]);
});
afterEach(() => world.remove());

const edits = () => contest(world, [correct('m', { content: 'left' })], [correct('m', { content: 'right' })]);

describe('drafts', () => {
  test('C75 a draft changes the digest, so that an approval from before is stale', async () => {
    const { filed } = await edits();
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await draft(world, filed, 'concurrent_edit', { choice: 'ours' });
    expect(await now(world, filed.proposal_id)).toMatchObject({
      review_state: 'stale',
      conflict_counts: { blocking: 1, unresolved: 0 },
    });
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('PROPOSAL_STALE');
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world).m).toBe('left');
  });

  test('C75 it survives a restart and a move of the target, and is asked anew when the sides say something else', async () => {
    const { filed } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'edit', content: 'edited', note: 'why' });
    world.charon = await world.charon.reopen();
    await land(world, [correct('n', { content: 'moved' })]);
    expect(await show(world, filed)).toMatchObject({
      resolutions: [{ choice: 'edit', content: 'edited', note: 'why' }],
      conflict_counts: { unresolved: 0 },
      preview: { target_moved: true, new_conflicts: 0, strategy: 'merge_commit' },
    });
    await land(world, [correct('m', { content: 'left again' })]);
    expect(await show(world, filed)).toMatchObject({ resolutions: [], conflict_counts: { unresolved: 1 } });
    expect((await show(world, filed)).preview?.new_conflicts).toBe(1);
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'right', n: 'moved' });
  });

  test('C75 a draft says what the merge will write; the last one counts; dropped, the conflict waits again', async () => {
    const { filed } = await edits();
    const { charon } = world.charon;
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await draft(world, filed, 'concurrent_edit', { choice: 'ours', note: 'n' });
    const { resolutions } = await show(world, filed);
    expect(resolutions).toMatchObject([
      {
        choice: 'ours',
        note: 'n',
        conflict_id: filed.conflicts[0]?.conflict_id,
        ops: [{ op_type: 'correct_memory', target_event_id: 'm', payload: { restores: mainHead(world) } }],
      },
    ]);
    const key = filed.conflicts[0]?.conflict_key ?? filed.proposal_digest;
    await charon.dropResolution(filed.proposal_id, key);
    await charon.dropResolution(filed.proposal_id, key);
    expect(await show(world, filed)).toMatchObject({ resolutions: [], conflict_counts: { unresolved: 1 } });
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'open' }]);
    expect(world.charon.events.slice(-3).map((event) => event.kind)).toEqual(Array(3).fill('proposal_changed'));
  });

  test('C75 what does not fit is refused: an unknown conflict, one that does not block, fields of another choice, too long a text', async () => {
    const { filed } = await edits();
    const { charon } = world.charon;
    const key = filed.conflicts[0]?.conflict_key ?? filed.proposal_digest;
    const refused = (chosen: object, at = key) =>
      codeOf(charon.draftResolution(world.owner, filed.proposal_id, { conflict_key: at, choice: 'ours', ...chosen }));
    expect(await refused({}, filed.proposal_digest)).toBe('CONFLICT_NOT_FOUND');
    expect(await refused({ content: 'x' })).toBe('INPUT_INVALID');
    expect(await refused({ scope: 'x' })).toBe('INPUT_INVALID');
    expect(await refused({ choice: 'edit' })).toBe('INPUT_INVALID');
    expect(await refused({ choice: 'edit', content: ' \n' })).toBe('INPUT_INVALID');
    expect(await refused({ choice: 'edit', content: 'é'.repeat(8_193) })).toBe('INPUT_INVALID');
    expect(await refused({ note: 'é'.repeat(2_049) })).toBe('INPUT_INVALID');
    const twins = await contest(world, [addAs('a', 'the same')], [addAs('b', 'the same')]);
    const info = (await show(world, twins.filed)).conflicts.find(({ severity }) => severity === 'info');
    expect(info?.conflict_type).toBe('duplicate_content');
    const unneeded = { conflict_key: info?.conflict_key ?? key, choice: 'ours' } as const;
    await expect(charon.draftResolution(world.owner, twins.filed.proposal_id, unneeded)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('does not stand in the way'),
    });
    await approveAndMerge(world, twins.filed);
    expect(keptFor(world, twins.filed.proposal_id)).toMatchObject([{ status: 'superseded' }]);
  });

  test('C75 drafts of a proposal that is decided stand, also in the file', async () => {
    const { filed } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'ours' });
    await world.charon.charon.cancel(world.author, filed.proposal_id);
    const key = filed.conflicts[0]?.conflict_key ?? filed.proposal_digest;
    const chosen = { conflict_key: key, choice: 'theirs' } as const;
    expect(await codeOf(world.charon.charon.draftResolution(world.owner, filed.proposal_id, chosen))).toBe(
      'PROPOSAL_STATE',
    );
    expect(await codeOf(world.charon.charon.dropResolution(filed.proposal_id, key))).toBe('PROPOSAL_STATE');
    for (const sql of [
      "UPDATE resolution_drafts SET choice = 'theirs'",
      'DELETE FROM resolution_drafts',
      'INSERT INTO resolution_drafts SELECT proposal_id, substr(conflict_key, 2) || 0, choice, note, content, scope, drafted_by, drafted_at FROM resolution_drafts',
    ])
      expect(() => world.charon.withDb((db) => db.exec(sql)), sql).toThrow('while its proposal is pending');
  });

  test('C75 a draft that is given while a verdict or a merge is under way makes that stale', async () => {
    const { filed } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'ours' });
    const key = filed.conflicts[0]?.conflict_key ?? filed.proposal_digest;
    const state = await now(world, filed.proposal_id);
    const verdict = judge(world, world.reviewer, filed.proposal_id, 'approve');
    const chosen = { conflict_key: key, choice: 'theirs' } as const;
    await Promise.allSettled([verdict, world.charon.charon.draftResolution(world.owner, filed.proposal_id, chosen)]);
    const after = await now(world, filed.proposal_id);
    expect(after.proposal_digest).not.toBe(state.proposal_digest);
    expect(after.review_state).not.toBe('approved');
    expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toMatch(/PROPOSAL_STALE|NOT_APPROVED/);
  });

  test('C80 resolutions that leave different things of one memory: the later one says so, and the merge waits', async () => {
    const { filed } = await contest(
      world,
      [correct('m', { content: 'use tabs', kind: 'decision', scope: 'style' })],
      [
        correct('m', { content: 'use something', kind: 'decision', scope: 'style' }),
        addAs('r', 'use spaces', { kind: 'decision', scope: 'style' }),
      ],
    );
    await draft(world, filed, 'concurrent_edit', { choice: 'ours' });
    await draft(world, filed, 'contradictory_decision', { choice: 'theirs' });
    const { conflict_counts: counts, resolutions } = await show(world, filed);
    expect(counts.unresolved).toBeGreaterThan(0);
    expect(resolutions.filter(({ problem }) => problem !== undefined)).toMatchObject([
      { choice: 'theirs', ops: [], problem: expect.stringContaining('another resolution') },
    ]);
    expect(await codeOf(approveAndMerge(world, filed))).toBe('OPEN_CONFLICT');
  });
});
