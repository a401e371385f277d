import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  type OpDraft,
  openTempLethe,
  relate,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { writeLegacyEvents } from '../support/legacy-events.ts';
import { ours, type PartedHistory, partSides, theirs, told } from './detect-sides.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const parted = (
  base: readonly OpDraft[],
  left: readonly OpDraft[],
  right: readonly OpDraft[],
): Promise<PartedHistory> => partSides(temp, base, left, right);

async function find(
  base: readonly OpDraft[],
  left: readonly OpDraft[],
  right: readonly OpDraft[],
): Promise<readonly Conflict[]> {
  return (await parted(base, left, right)).detect();
}

const note = (id: string, content: string, more: JsonObject = {}): OpDraft => addAs(id, content, more);
const decision = (id: string, content: string, more: JsonObject = { scope: 'net' }): OpDraft =>
  addAs(id, content, { kind: 'decision', ...more });
const fact = (id: string, content: string, more: JsonObject = {}): OpDraft =>
  addAs(id, content, { kind: 'fact', fact_key: 'port', ...more });

describe('duplicate content', () => {
  test('L165 L173 the same content on both sides, or on one and before: for information', async () => {
    const { detect, base, heads } = await parted(
      [note('c', 'said before')],
      [note('l', 'said')],
      [note('r', ' said\n')],
    );
    const found = detect();
    expect(told(found)).toEqual([['duplicate_content', 'l', 'r']]);
    expect(found[0]).toMatchObject({
      severity: 'info',
      details: { duplicate_content: 'said', left_changeset: heads.left, right_changeset: heads.right, left_event: 'l' },
    });
    temp.remove();
    temp = openTempLethe();
    const before = await parted([note('c', 'said')], [], [note('r', 'said')]);
    const [again] = before.detect();
    expect(again?.details).toMatchObject({
      left_event: 'c',
      right_event: 'r',
      left_changeset: before.base,
      right_changeset: before.heads.right,
    });
    expect(base).not.toBe(before.heads.right);
  });

  test('L165 another case, or white space within, is another content', async () => {
    expect(await find([note('c', 'said')], [note('l', 'Said')], [note('r', 'sa id')])).toEqual([]);
  });

  test('L173 L165 of one content there is one finding, which names every memory', async () => {
    const found = await find([note('c', 'x')], [note('l', 'x'), note('m', ' x')], [note('r', 'x'), note('s', 'x ')]);
    expect(told(found)).toEqual([['duplicate_content', 'c', 'l', 'm', 'r', 's']]);
  });

  test('L169 two of one side are compared with the other side and with what was before, not with each other', async () => {
    expect(await find([], [], [note('r', 'x'), note('s', 'x')])).toEqual([]);
  });
});

describe('decisions', () => {
  test('L166 L173 two of one scope that say different things block, with the keys of the protocol', async () => {
    const found = await find([], [decision('zeta', 'use one')], [note('alpha', 'Decision: use two', { scope: 'net' })]);
    expect(told(found)).toEqual([['contradictory_decision', 'alpha', 'zeta']]);
    expect(found[0]).toMatchObject({
      severity: 'blocking',
      summary: 'Incompatible decisions for scope net',
      details: {
        scope: 'net',
        left_event: 'zeta',
        right_event: 'alpha',
        left_content: 'use one',
        right_content: 'Decision: use two',
      },
    });
  });

  test('L166 two that share a subject alone conflict about it', async () => {
    const about = (scope: string): JsonObject => ({ scope, subject: 'database' });
    const found = await find([], [decision('l', 'one', about('desk'))], [decision('r', 'two', about('engine'))]);
    expect(told(found)).toEqual([['contradictory_decision', 'l', 'r']]);
    expect(found[0]?.details).toMatchObject({ scope: '', subject: 'database' });
  });

  test.each([
    ['without a scope and a subject', {}, {}],
    ['of two scopes', { scope: 'a' }, { scope: 'b' }],
    ['of two subjects', { subject: 'a' }, { subject: 'b' }],
    ['of which one has no scope', { scope: 'a' }, {}],
    ['of which one has as scope what the other has as subject', { scope: 'a' }, { subject: 'a' }],
  ])('L166 two decisions %s do not conflict', async (_, left, right) => {
    expect(await find([], [decision('l', 'one', left)], [decision('r', 'two', right)])).toEqual([]);
  });

  test('L166 two with the same text are duplicates, no contradiction', async () => {
    expect(told(await find([], [decision('l', 'one')], [decision('r', 'one ')]))).toEqual([
      ['duplicate_content', 'l', 'r'],
    ]);
  });

  test('L166 a decision and a note of one scope do not conflict', async () => {
    expect(await find([], [decision('l', 'one')], [note('r', 'two', { scope: 'net' })])).toEqual([]);
  });

  test.each([
    ['protected', { protected: true }],
    ['approved by a person', { approval: 'user_approved' }],
  ])('L167 with one that is %s it is a protected decision, and only that', async (_, more) => {
    const found = await find([decision('c', 'one', { scope: 'net', ...more })], [], [decision('r', 'two')]);
    expect(told(found)).toEqual([['protected_decision', 'c', 'r']]);
    expect(found[0]?.severity).toBe('blocking');
  });

  test.each([
    ['not protected', { protected: false }],
    ['approved by somebody else', { approval: 'reviewed' }],
  ])('L167 one that is %s is not a protected one', async (_, more) => {
    const found = await find([decision('c', 'one', { scope: 'net', ...more })], [], [decision('r', 'two')]);
    expect(told(found)).toEqual([['contradictory_decision', 'c', 'r']]);
  });

  test('L167 of a pair that is protected on one side only the graver finding is told', async () => {
    const protect = [correct('y', { content: 'three', protected: true })];
    const found = await find([decision('x', 'one'), decision('y', 'two')], protect, [
      correct('y', { content: 'four' }),
    ]);
    expect(told(found)).toEqual([
      ['concurrent_edit', 'y'],
      ['protected_decision', 'x', 'y'],
    ]);
  });
});

describe('facts', () => {
  test('L168 L173 two of one key and scope that say different things block', async () => {
    const found = await find([fact('c', '80')], [], [fact('r', '81')]);
    expect(told(found)).toEqual([['incompatible_fact', 'c', 'r']]);
    expect(found[0]).toMatchObject({
      severity: 'blocking',
      details: { fact_key: 'port', scope: 'demo', left_content: '80', right_content: '81' },
    });
  });

  test('L168 a subject is the key of a fact that has no other', async () => {
    const found = await find([fact('c', '80')], [], [addAs('r', '81', { kind: 'fact', subject: 'port' })]);
    expect(told(found)).toEqual([['incompatible_fact', 'c', 'r']]);
  });

  test.each([
    ['of another key', { fact_key: 'host' }],
    ['of another scope', { scope: 'desk' }],
    ['that are no facts', { kind: 'observation' }],
    ['that say the same', { content: ' 80' }],
  ])('L168 two %s do not conflict', async (_, more) => {
    const found = await find([fact('c', '80')], [], [fact('r', '81', more)]);
    expect(found.filter(({ conflict_type }) => conflict_type === 'incompatible_fact')).toEqual([]);
  });

  test.each([
    ['2020', '2021', '2022', '2023', false],
    ['2020', '2022', '2022', '2023', true],
    ['2020', '', '2022', '2023', true],
    ['', '2021', '2022', '', false],
    ['2023', '2024', '2020', '2022', false],
    ['', '', '', '', true],
    ['2020', '2029', '2022', '2023', true],
  ])('L168 valid %s to %s and %s to %s: %s', async (leftFrom, leftTo, rightFrom, rightTo, isConflict) => {
    const valid = (valid_from: string, valid_to: string): JsonObject => ({
      ...(valid_from === '' ? {} : { valid_from }),
      ...(valid_to === '' ? {} : { valid_to }),
    });
    const found = await find(
      [],
      [fact('l', '80', valid(leftFrom, leftTo))],
      [fact('r', '81', valid(rightFrom, rightTo))],
    );
    expect(told(found)).toEqual(isConflict ? [['incompatible_fact', 'l', 'r']] : []);
  });

  test('L173 L168 of two contents there is one finding, which names every memory that says them', async () => {
    const found = await find([fact('c', '80')], [fact('l', '80')], [fact('r', '81'), fact('s', '81')]);
    expect(told(found).filter(([type]) => type === 'incompatible_fact')).toEqual([
      ['incompatible_fact', 'c', 'l', 'r', 's'],
    ]);
  });
});

describe('what is compared with what', () => {
  test('L169 the accepted state is compared also when both sides changed something else', async () => {
    const found = await find(
      [decision('c', 'one')],
      [note('l', 'on the left')],
      [note('n', 'on the right'), decision('r', 'two')],
    );
    expect(told(found)).toEqual([['contradictory_decision', 'c', 'r']]);
  });

  test('L169 what the target took in since is compared with what was before', async () => {
    expect(told(await find([decision('c', 'one')], [decision('l', 'two')], []))).toEqual([
      ['contradictory_decision', 'c', 'l'],
    ]);
  });

  test('L169 a correction is no conflict with its own older state, nor are two in one', async () => {
    expect(await find([fact('c', '80')], [], [correct('c', { content: '81' })])).toEqual([]);
    temp.remove();
    temp = openTempLethe();
    expect(await find([decision('c', 'one')], [correct('c', { content: 'two' }, 'd')], [])).toEqual([]);
  });

  test('L169 a successor is no conflict with what it came from, however many steps away', async () => {
    const { history, detect } = await parted([decision('a', 'one')], [], [correct('a', { content: 'two' }, 'b')]);
    await history.commit(theirs, [supersede('b', { content: 'three', kind: 'decision', scope: 'net' }, 'c')]);
    expect(detect()).toEqual([]);
    await history.commit(ours, [correct('a', { content: 'one and a half' })]);
    expect(told(detect())).toEqual([['delete_modify', 'a']]);
  });

  test('L169 a duplicate is no conflict with the memory that stays', async () => {
    const base = [decision('a', 'one'), note('b', 'two')];
    const right = [duplicate('a', 'b'), correct('b', { content: 'Decision: two', scope: 'net' })];
    expect(told(await find(base, [correct('a', { content: 'one and a half' })], right))).toEqual([
      ['delete_modify', 'a'],
    ]);
  });

  test('L169 one that was taken up again conflicts with what had replaced it', async () => {
    const base = [decision('a', 'one'), supersede('a', { content: 'two', kind: 'decision', scope: 'net' }, 'b')];
    const found = await find(base, [correct('b', { content: 'three' })], [decision('a', 'one again')]);
    expect(told(found)).toEqual([['contradictory_decision', 'a', 'b']]);
  });

  test('L169 what was corrected or retired since is obsolete', async () => {
    const base = [fact('c', '80'), fact('d', '443', { fact_key: 'tls' }), correct('c', { content: '81' })];
    expect(
      await find(base, [supersede('d')], [fact('r', '81 '), fact('s', '8443', { fact_key: 'tls' })]),
    ).toMatchObject([{ conflict_type: 'duplicate_content' }]);
    temp.remove();
    temp = openTempLethe();
    const changed = await find([fact('c', '80')], [correct('c', { content: '81' })], [fact('r', '80')]);
    expect(told(changed)).toEqual([['incompatible_fact', 'c', 'r']]);
    expect(changed[0]?.details).toMatchObject({ left_content: '81', right_content: '80' });
  });

  test('L169 what was only attached to, related or is to be given up says nothing anew', async () => {
    const base = [decision('a', 'one'), decision('b', 'two', { scope: 'other' }), correct('b', { scope: 'net' })];
    const right = [attachEvidence('a', { note: 'n' }), deprecate('b'), relate('a', 'refutes', 'b')];
    expect(await find(base, [], right)).toEqual([]);
  });

  test('L169 what was changed and changed back says nothing anew', async () => {
    const { history, detect } = await parted([decision('a', 'one'), decision('b', 'two')], [], []);
    await history.commit(theirs, [correct('a', { content: 'x' })]);
    await history.commit(theirs, [correct('a', { content: 'one' })]);
    expect(detect()).toEqual([]);
  });

  test('L169 memories that no side touched are not compared', async () => {
    const base = [decision('a', 'one'), decision('b', 'two'), fact('c', '80'), fact('d', '81')];
    expect(await find(base, [note('l', 'x')], [note('r', 'y')])).toEqual([]);
  });

  test('L169 a memory that both sides changed is compared with others as each side has it, never with itself', async () => {
    const found = await find(
      [decision('a', 'one'), decision('b', 'zero', { scope: 'desk' })],
      [correct('a', { content: 'two' })],
      [correct('a', { content: 'three' }), correct('b', { scope: 'net' })],
    );
    expect(told(found)).toEqual([
      ['concurrent_edit', 'a'],
      ['contradictory_decision', 'a', 'b'],
    ]);
  });

  test('L161 L169 what both sides took in is not compared with itself', async () => {
    const { history, detect } = await parted([decision('a', 'one')], [decision('l', 'two')], []);
    expect(detect()).toHaveLength(1);
    await history.mergeInto(theirs, ours);
    expect(detect()).toEqual([]);
  });

  test('L169 a memory from the time before changesets is compared once a changeset says it, and never by a default scope', async () => {
    writeLegacyEvents(temp.db, [
      { event_id: 'old', created_at: '2026-10-01T00:00:00Z', content: 'Decision: one' },
      { event_id: 'older', created_at: '2026-09-01T00:00:00Z', content: 'Decision: none' },
    ]);
    const { history, detect } = await parted([], [], [decision('r', 'Decision: one', { scope: 'demo' })]);
    expect(detect()).toEqual([]);
    await history.commit(ours, [correct('old', { content: 'Decision: one ' })]);
    expect(told(detect())).toEqual([['duplicate_content', 'old', 'r']]);
    await history.commit(ours, [correct('old', { content: 'Decision: two' })]);
    expect(detect()).toEqual([]);
    await history.commit(ours, [correct('old', { scope: 'demo' })]);
    expect(told(detect())).toEqual([['contradictory_decision', 'old', 'r']]);
  });
});
