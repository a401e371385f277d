import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addAs, correct, duplicate, supersede } from '../support/history-builder.ts';
import {
  acceptedInMain,
  approveAndMerge,
  conflictOf,
  contest,
  draft,
  inMain,
  keptFor,
  land,
  mainHead,
} from './conflict-world.ts';
import { type MergeWorld, openMergeWorld } from './merge-world.ts';

let world: MergeWorld;
beforeEach(async () => {
  world = await openMergeWorld();
  await land(world, [addAs('m', 'old', { kind: 'fact', tags: ['a'] }), addAs('n', 'other')]);
});
afterEach(() => world.remove());

/** The changeset that main stands at. */
function merged() {
  const found = world.temp.lethe.findChangeset(mainHead(world));
  if (found === undefined) throw new Error('main stands at a changeset');
  return found;
}

const edits = () => contest(world, [correct('m', { content: 'left' })], [correct('m', { content: 'right' })]);

describe('one memory that both sides changed', () => {
  test('C76 ours returns the memory to what the target has, by an op of the merge', async () => {
    const { filed, theirs } = await edits();
    const before = mainHead(world);
    await draft(world, filed, 'concurrent_edit', { choice: 'ours', note: 'left was measured' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'left', n: 'other' });
    expect(merged()).toMatchObject({
      parent_ids: [before, theirs.changeset_id],
      ops: [
        { ordinal: 0, op_type: 'attach_verification', payload: { kind: 'reviewed_merge' } },
        {
          ordinal: 1,
          op_type: 'correct_memory',
          target_event_id: 'm',
          payload: { restores: before, summary: 'left was measured', proposal_id: filed.proposal_id },
        },
      ],
    });
    expect(keptFor(world, filed.proposal_id)).toMatchObject([
      {
        conflict_type: 'concurrent_edit',
        status: 'resolved',
        resolution_note: expect.stringContaining('left was measured'),
      },
    ]);
  });

  test('C76 theirs returns the memory to what the proposal has', async () => {
    const { filed, theirs } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'right', n: 'other' });
    expect(merged().ops?.[1]).toMatchObject({ payload: { restores: theirs.changeset_id } });
  });

  test('C76 both keeps ours and puts theirs beside it, related as its alternative', async () => {
    const { filed, theirs } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'both' });
    await approveAndMerge(world, filed);
    const other = `m~${theirs.changeset_id.slice(-8)}`;
    expect(acceptedInMain(world)).toEqual({ m: 'left', [other]: 'right', n: 'other' });
    expect(inMain(world, other)).toMatchObject({ kind: 'fact', tags: ['a'], status: 'active' });
    expect(merged().ops?.slice(2)).toMatchObject([
      { op_type: 'add_memory', resulting_event_id: other },
      {
        op_type: 'add_relationship',
        target_event_id: other,
        resulting_event_id: 'm',
        payload: { kind: 'alternative_of' },
      },
    ]);
  });

  test('C76 edit gives ours the new text, and nothing of theirs is left', async () => {
    const { filed } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'edit', content: 'left and right' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'left and right', n: 'other' });
    expect(inMain(world, 'm')).toMatchObject({ kind: 'fact', tags: ['a'] });
  });

  test('C76 two memories that were added under one id are settled alike', async () => {
    const { filed } = await contest(world, [addAs('x', 'left')], [addAs('x', 'right')]);
    await draft(world, filed, 'identity_collision', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'old', n: 'other', x: 'right' });
  });
});

describe('one side retired what the other kept', () => {
  test('C77 ours brings the memory back and retires what theirs had put in its place', async () => {
    const { filed } = await contest(
      world,
      [correct('m', { content: 'left' })],
      [supersede('m', { content: 'replacement' }, 'r')],
    );
    await draft(world, filed, 'delete_modify', { choice: 'ours' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'left', n: 'other' });
    expect(inMain(world, 'r').status).toBe('superseded');
  });

  test('C77 theirs retires the memory as the proposal did, and what it put in its place stays', async () => {
    const { filed } = await contest(
      world,
      [correct('m', { content: 'left' })],
      [supersede('m', { content: 'replacement' }, 'r')],
    );
    await draft(world, filed, 'delete_modify', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ n: 'other', r: 'replacement' });
    expect(inMain(world, 'm').status).toBe('superseded');
  });

  test('C77 theirs brings back what the target retired, and retires the chain that the target put in its place', async () => {
    const { filed } = await contest(
      world,
      [supersede('m', { content: 'first' }, 'r1'), supersede('r1', { content: 'second' }, 'r2')],
      [correct('m', { content: 'right' })],
    );
    await draft(world, filed, 'delete_modify', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'right', n: 'other' });
  });

  test('C77 of two replacements of one memory the chosen side’s is left', async () => {
    for (const [choice, left] of [
      ['ours', 'l'],
      ['theirs', 'r'],
    ] as const) {
      const id = `two-${choice}`;
      await land(world, [addAs(id, 'before')]);
      const { filed } = await contest(
        world,
        [supersede(id, { content: 'left' }, `${id}-l`)],
        [supersede(id, { content: 'right' }, `${id}-r`)],
      );
      await draft(world, filed, 'concurrent_edit', { choice });
      await approveAndMerge(world, filed);
      const ids = Object.keys(acceptedInMain(world)).filter((one) => one.startsWith(id));
      expect(ids).toEqual([`${id}-${left}`]);
    }
  });

  test('C77 both and edit say why they are not possible, or build on the side that is left', async () => {
    const { filed } = await contest(world, [supersede('m')], [correct('m', { content: 'right' })]);
    const { conflict_key: key } = await conflictOf(world, filed, 'delete_modify');
    await expect(
      world.charon.charon.draftResolution(world.owner, filed.proposal_id, { conflict_key: key, choice: 'both' }),
    ).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('retired') });
    await draft(world, filed, 'delete_modify', { choice: 'edit', content: 'edited' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ m: 'edited', n: 'other' });
  });

  test('C77 a memory that stands for a duplicate is not lost with the choice of the side that keeps it', async () => {
    const { filed } = await contest(world, [duplicate('m', 'n')], [supersede('n')]);
    await draft(world, filed, 'delete_modify', { choice: 'ours' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ n: 'other' });
  });
});

describe('two memories that contradict each other', () => {
  const decide = () =>
    contest(
      world,
      [addAs('l', 'use tabs', { kind: 'decision', scope: 'style' })],
      [addAs('r', 'use spaces', { kind: 'decision', scope: 'style' })],
    );

  test.each([
    ['ours', { l: 'use tabs' }],
    ['theirs', { r: 'use spaces' }],
  ] as const)('C78 %s retires the other one', async (choice, left) => {
    const { filed } = await decide();
    await draft(world, filed, 'contradictory_decision', { choice });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ ...left, m: 'old', n: 'other' });
  });

  test('C78 both gives the proposal’s one a scope of its own, or relates the two', async () => {
    const { filed } = await decide();
    await draft(world, filed, 'contradictory_decision', { choice: 'both', note: 'until the vote' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ l: 'use tabs', m: 'old', n: 'other', r: 'use spaces' });
    expect(merged().ops?.slice(1)).toMatchObject([
      {
        op_type: 'add_relationship',
        target_event_id: 'r',
        resulting_event_id: 'l',
        payload: { kind: 'contradicts', summary: 'until the vote' },
      },
    ]);
    const next = await contest(
      world,
      [addAs('l2', 'use vim', { kind: 'decision', scope: 'tools' })],
      [addAs('r2', 'use emacs', { kind: 'decision', scope: 'tools' })],
    );
    await draft(world, next.filed, 'contradictory_decision', { choice: 'both', scope: 'tools/night' });
    await approveAndMerge(world, next.filed);
    expect(inMain(world, 'r2')).toMatchObject({ content: 'use emacs', scope: 'tools/night', status: 'active' });
    expect(inMain(world, 'l2')).toMatchObject({ scope: 'tools', status: 'active' });
  });

  test('C78 edit gives ours the text and retires theirs', async () => {
    const { filed } = await decide();
    await draft(world, filed, 'contradictory_decision', { choice: 'edit', content: 'tabs, spaces in tests' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ l: 'tabs, spaces in tests', m: 'old', n: 'other' });
  });

  test('C78 facts that cannot both hold are settled alike, and a fast-forward becomes a merge for it', async () => {
    await land(world, [addAs('f', 'port is 1', { kind: 'fact', fact_key: 'port', scope: 'app' })]);
    const { filed } = await contest(
      world,
      [correct('n', { content: 'n2' })],
      [addAs('g', 'port is 2', { kind: 'fact', fact_key: 'port', scope: 'app' })],
    );
    await draft(world, filed, 'incompatible_fact', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    expect(acceptedInMain(world)).toEqual({ g: 'port is 2', m: 'old', n: 'n2' });
  });
});
