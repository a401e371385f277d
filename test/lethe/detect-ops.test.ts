import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CommitInput } from '../../src-main/lethe/api.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import {
  addAs,
  attachEvidence,
  correct,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  reviewedMerge,
  type TempLethe,
} from '../support/history-builder.ts';
import { ours, partSides, theirs, told } from './detect-sides.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

/** What is found when the right side makes one changeset over a memory `m` that both know. */
async function findIn(ops: readonly OpDraft[], more: Partial<CommitInput> = {}): Promise<readonly Conflict[]> {
  const { history, detect } = await partSides(temp, [addAs('m', 'one')], [], []);
  await history.commit(theirs, ops, more);
  return detect();
}

const says = (payload: JsonObject): readonly OpDraft[] => [addAs('n', 'what n says', payload)];

describe('boundaries', () => {
  test('L170 L173 another project than the changeset blocks', async () => {
    const found = await findIn(says({ project_id: 'elsewhere' }));
    expect(told(found)).toEqual([['boundary_violation', 'n']]);
    expect(found[0]).toMatchObject({
      severity: 'blocking',
      details: { payload_project: 'elsewhere', cs_project: 'demo' },
    });
    expect(found[0]?.details?.changeset_id).toBe(found[0]?.right_changeset_id);
  });

  test('L170 another topic or another actor is a warning', async () => {
    const found = await findIn(says({ topic_id: 't2', actor_id: 'a2' }), { topicId: 't1', actorId: 'a1' });
    expect(told(found)).toEqual([
      ['boundary_violation', 'n'],
      ['boundary_violation', 'n'],
    ]);
    expect(found.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
    const details = found.map((conflict) => conflict.details);
    expect(details).toContainEqual(expect.objectContaining({ payload_topic: 't2', cs_topic: 't1' }));
    expect(details).toContainEqual(expect.objectContaining({ payload_actor: 'a2', cs_actor: 'a1' }));
  });

  test.each([
    ['names nothing', {}, { topicId: 't1', actorId: 'a1' }],
    [
      'names what its changeset does',
      { project_id: 'demo', topic_id: 't1', actor_id: 'a1' },
      { topicId: 't1', actorId: 'a1' },
    ],
    ['names a topic and an actor where the changeset has none', { topic_id: 't2', actor_id: 'a2' }, {}],
  ])('L170 an op that %s is inside', async (_, payload, more) => {
    expect(await findIn(says(payload), more)).toEqual([]);
  });

  test.each([
    ['refs/agents/a1/main', 'a1', false],
    ['refs/agents/a1/main', 'a2', true],
    ['refs/sessions/a1/s1', 'a2', true],
    ['refs/sessions/a1/s1', 'a1', false],
    ['refs/topics/a1', 'a2', false],
  ])('L170 on %s an op of actor %s: warned %s', async (ref, actor, isWarned) => {
    const { history, detect } = await partSides(temp, [], [], []);
    await history.branch(ref, theirs);
    await history.commit(ref, says({ actor_id: actor }));
    await temp.lethe.commit(
      history.request(theirs, [reviewedMerge('p', history.head(ref))], {
        parentIds: [history.head(theirs), history.head(ref)],
      }),
    );
    const found = detect();
    expect(told(found)).toEqual(isWarned ? [['boundary_violation', 'n']] : []);
    if (isWarned)
      expect(found[0]).toMatchObject({ severity: 'warning', details: { payload_actor: 'a2', ref_actor: 'a1' } });
  });

  test('L173 L170 several ops of a changeset that cross the same boundary are one finding, which names every memory', async () => {
    const found = await findIn([...says({ project_id: 'x' }), attachEvidence('m', { project_id: 'x', note: 'n' })]);
    expect(told(found)).toEqual([['boundary_violation', 'm', 'n']]);
  });
});

describe('visibility', () => {
  test.each([
    ['private', 'internal', true],
    ['private', 'public', true],
    ['internal', 'shared', true],
    ['shared', 'public', true],
    ['unheard of', 'shared', true],
    ['shared', 'shared', false],
    ['public', 'private', false],
    ['private', 'unheard of', false],
    ['constructor', 'private', false],
  ])('L171 from %s to %s: warned %s', async (from_visibility, to_visibility, isWarned) => {
    const found = await findIn([correct('m', { content: 'two', from_visibility, to_visibility })]);
    expect(told(found)).toEqual(isWarned ? [['scope_flow', 'm']] : []);
    if (!isWarned) return;
    expect(found[0]?.severity).toBe('warning');
    expect(found[0]?.summary).toContain(`${from_visibility} → ${to_visibility}`);
    expect(found[0]?.details).toMatchObject({ from_visibility, to_visibility, op_type: 'correct_memory' });
  });

  test('L171 one end alone flows nowhere', async () => {
    expect(await findIn([correct('m', { content: 'two', to_visibility: 'public' })])).toEqual([]);
  });
});

describe('trust', () => {
  test.each([
    ['user_approved', 'model_inference', true],
    ['user_approved', 'inference', true],
    ['user_approved', 'user_approved', false],
    ['reviewed', 'inference', false],
  ])('L172 a correction of %s by %s: blocked %s', async (target_trust, source_trust, isBlocked) => {
    const found = await findIn([correct('m', { content: 'two', target_trust, source_trust })]);
    expect(told(found)).toEqual(isBlocked ? [['trust_downgrade', 'm']] : []);
    if (!isBlocked) return;
    expect(found[0]).toMatchObject({
      severity: 'blocking',
      details: { target_event_id: 'm', target_trust, source_trust, changeset_id: found[0]?.right_changeset_id },
    });
  });
});

describe('the base and the sides', () => {
  test('L164 L173 a declared base that one side does not have is stale, a warning', async () => {
    const { history, detect, heads } = await partSides(temp, [addAs('m', 'one')], [addAs('l', 'x')], []);
    await history.commit(theirs, [addAs('r', 'y')]);
    await history.commit(theirs, [addAs('s', 'z')]);
    expect(detect()).toEqual([]);
    const found = detect(heads.left);
    expect(told(found)).toEqual([['stale_base']]);
    expect(found[0]).toMatchObject({ severity: 'warning', details: { expected_base: heads.left, memory_ids: [] } });
    expect(found[0]?.summary).toContain('right side');
    expect(found[0]?.details?.left_parents).toHaveLength(1);
  });

  test('L170 L172 what the left side did counts too, each op once, in merges and out of them', async () => {
    const { history, detect } = await partSides(temp, [addAs('m', 'one')], [], []);
    await history.commit(ours, [
      correct('m', { content: 'two', target_trust: 'user_approved', source_trust: 'inference' }),
    ]);
    await history.commit(theirs, says({ project_id: 'x' }));
    expect(told(detect())).toEqual([
      ['boundary_violation', 'n'],
      ['trust_downgrade', 'm'],
    ]);
    await history.mergeInto(theirs, ours);
    expect(told(detect())).toEqual([['boundary_violation', 'n']]);
  });

  test('L160 findings come blocking first, then by type and id, as many times as one asks', async () => {
    const { detect } = await partSides(
      temp,
      [addAs('a', 'one', { kind: 'decision', scope: 'net' }), addAs('m', 'one')],
      [correct('m', { content: 'two' })],
      [
        correct('m', { content: 'three', from_visibility: 'private', to_visibility: 'public' }),
        addAs('b', 'four', { kind: 'decision', scope: 'net' }),
        addAs('c', 'five', { kind: 'decision', scope: 'net', project_id: 'x' }),
        addAs('d', 'two'),
      ],
    );
    const rows = temp.db.counters.rowsWritten;
    const found = detect();
    expect(found.map(({ conflict_type, severity }) => `${severity} ${conflict_type}`)).toEqual([
      'blocking boundary_violation',
      'blocking concurrent_edit',
      'blocking contradictory_decision',
      'blocking contradictory_decision',
      'warning scope_flow',
      'info duplicate_content',
    ]);
    for (const conflict of found)
      expect(conflict).toMatchObject({ status: 'open', created_at: '0001-01-01T00:00:00Z' });
    expect(detect()).toEqual(found);
    expect(temp.db.counters.rowsWritten).toBe(rows);
  });

  test('L160 an unknown project or changeset, and one of another project, is refused by name', async () => {
    const { history, base, heads } = await partSides(temp, [addAs('m', 'one')], [], []);
    const other = historyBuilder(temp, 'other', 'principal_00000000000000b2');
    await other.init();
    const sides = {
      projectId: history.project,
      baseChangesetId: base,
      leftChangesetId: heads.left,
      rightChangesetId: heads.right,
    };
    const foreign = other.head('refs/shared/main');
    for (const [change, field] of [
      [{ baseChangesetId: foreign }, 'base_changeset_id'],
      [{ leftChangesetId: foreign }, 'left_changeset_id'],
      [{ rightChangesetId: foreign }, 'right_changeset_id'],
    ] as const) {
      expect(() => temp.lethe.detectConflicts({ ...sides, ...change })).toThrow(
        expect.objectContaining({ code: 'CHANGESET_NOT_FOUND', data: expect.objectContaining({ field }) }),
      );
    }
    const nobody = historyBuilder(temp, 'nobody').project;
    expect(() => temp.lethe.detectConflicts({ ...sides, projectId: nobody })).toThrow(
      expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }),
    );
    expect(temp.lethe.detectConflicts(sides)).toEqual([]);
  });
});
