import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  type OpDraft,
  openTempLethe,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
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

const one = [addAs('m', 'one')];

describe('a memory that both sides touched', () => {
  test('L162 L173 both added the same id with other texts: an identity collision, without a base', async () => {
    const { detect, heads } = await parted([], one, [addAs('m', 'two')]);
    const found = detect();
    expect(told(found)).toEqual([['identity_collision', 'm']]);
    expect(found[0]).toMatchObject({
      severity: 'blocking',
      left_changeset_id: heads.left,
      right_changeset_id: heads.right,
      details: {
        memory_id: 'm',
        base: null,
        left: { memory_id: 'm', content: 'one', status: 'active' },
        right: { memory_id: 'm', content: 'two', status: 'active' },
        left_changeset: heads.left,
        right_changeset: heads.right,
        memory_ids: ['m'],
      },
    });
  });

  test('L162 both added the same id with the same text, another kind: an identity collision', async () => {
    expect(told(await find([], [addAs('m', 'one', { kind: 'fact' })], one))).toEqual([['identity_collision', 'm']]);
  });

  test('L162 both added the same: no conflict', async () => {
    expect(await find([], one, one)).toEqual([]);
  });

  test('L162 L173 both changed it: a concurrent edit with the state before they parted', async () => {
    const { detect, heads } = await parted(one, [correct('m', { content: 'left' })], [correct('m', { scope: 'desk' })]);
    const found = detect();
    expect(told(found)).toEqual([['concurrent_edit', 'm']]);
    expect(found[0]?.details).toMatchObject({
      base: { content: 'one' },
      left: { content: 'left', last_changeset_id: heads.left },
      right: { content: 'one', scope: 'desk', last_changeset_id: heads.right },
      left_changeset: heads.left,
      right_changeset: heads.right,
    });
  });

  test('L162 both changed it to the same: no conflict', async () => {
    expect(await find(one, [correct('m', { content: 'two' })], [correct('m', { content: 'two' })])).toEqual([]);
  });

  test('L162 what was attached on one side and changed on the other is a concurrent edit', async () => {
    const found = await find(one, [attachEvidence('m', { note: 'n' })], [correct('m', { content: 'two' })]);
    expect(told(found)).toEqual([['concurrent_edit', 'm']]);
  });

  test('L162 a proposed deprecation retires nothing: beside a change it is a concurrent edit', async () => {
    expect(told(await find(one, [deprecate('m')], [correct('m', { content: 'two' })]))).toEqual([
      ['concurrent_edit', 'm'],
    ]);
  });

  test.each([
    ['superseded', [supersede('m')], undefined],
    ['superseded by another', [supersede('m', { content: 'new' }, 'n')], 'n'],
    ['corrected to another id', [correct('m', { content: 'new' }, 'n')], 'n'],
    ['marked a duplicate', [duplicate('m', 'twin')], 'twin'],
  ])('L162 L173 %s on one side and changed on the other: a delete_modify', async (_, retire, successor) => {
    const edit = [correct('m', { content: 'two' })];
    const base = [...one, addAs('twin', 'the other one')];
    const found = await find(base, retire, edit);
    expect(told(found)).toEqual([['delete_modify', 'm']]);
    expect(found[0]?.severity).toBe('blocking');
    expect(found[0]?.details?.left_replaced_by).toBe(successor);
    expect(found[0]?.details).not.toHaveProperty('right_replaced_by');
  });

  test('L162 retired on the left or on the right, both are told with the side', async () => {
    const left = await find(one, [supersede('m')], [attachEvidence('m', { note: 'used' })]);
    expect(left[0]?.summary).toMatch(/left side retired/);
    temp.remove();
    temp = openTempLethe();
    const right = await find(one, [attachEvidence('m', { note: 'used' })], [supersede('m')]);
    expect(told(right)).toEqual([['delete_modify', 'm']]);
    expect(right[0]?.summary).toMatch(/right side retired/);
  });

  test('L162 both retired it alike: no conflict', async () => {
    expect(await find(one, [supersede('m')], [supersede('m', { summary: 'gone too' })])).toEqual([]);
  });

  test('L162 retired under another status, or for another memory, is a concurrent edit', async () => {
    const base = [...one, addAs('twin', 'the other one'), addAs('third', 'a third one')];
    expect(told(await find(base, [supersede('m')], [duplicate('m', 'twin')]))).toEqual([['concurrent_edit', 'm']]);
    temp.remove();
    temp = openTempLethe();
    const found = await find(base, [duplicate('m', 'third')], [duplicate('m', 'twin')]);
    expect(told(found)).toEqual([['concurrent_edit', 'm']]);
    expect(found[0]?.details).toMatchObject({ left_replaced_by: 'third', right_replaced_by: 'twin' });
    temp.remove();
    temp = openTempLethe();
    const corrected = await find(one, [correct('m', { content: 'a' }, 'x')], [correct('m', { content: 'b' }, 'y')]);
    expect(told(corrected)).toEqual([['concurrent_edit', 'm']]);
  });

  test('L162 what only one side touched is none, whatever it did', async () => {
    const base = [...one, addAs('n', 'another'), addAs('o', 'a third')];
    const left = [correct('m', { content: 'two' }), supersede('n')];
    expect(await find(base, left, [attachEvidence('o', { note: 'n' })])).toEqual([]);
    temp.remove();
    temp = openTempLethe();
    expect(await find(base, [], left)).toEqual([]);
  });

  test('L161 what both took in since is common: the base is the newest state that both see', async () => {
    const { history, detect } = await parted(one, [correct('m', { content: 'two' })], []);
    await history.mergeInto(theirs, ours);
    expect(detect()).toEqual([]);
    await history.commit(ours, [correct('m', { content: 'left' })]);
    await history.commit(theirs, [correct('m', { content: 'right' })]);
    const [found, ...more] = detect();
    expect(more).toEqual([]);
    expect(found?.details).toMatchObject({ base: { content: 'two' } });
  });

  test('L161 all changesets of a side count, not only its newest one', async () => {
    const { history, detect } = await parted(one, [correct('m', { content: 'left' })], []);
    await history.commit(ours, [addAs('later', 'on the left')]);
    await history.commit(theirs, [correct('m', { content: 'right' })]);
    await history.commit(theirs, [addAs('later too', 'on the right')]);
    expect(told(detect())).toEqual([['concurrent_edit', 'm']]);
  });

  test('L161 the declared base decides nothing but the id', async () => {
    const { history, base, detect } = await parted(
      one,
      [correct('m', { content: 'a' })],
      [correct('m', { scope: 's' })],
    );
    const [found] = detect();
    const [again] = detect(history.head('refs/shared/main'));
    expect(again).toMatchObject({ conflict_type: 'concurrent_edit', details: found?.details });
    expect(again?.conflict_id).not.toBe(found?.conflict_id);
    expect(again?.conflict_key).toBe(found?.conflict_key);
    expect(found?.base_changeset_id).toBe(base);
  });
});

describe('a memory that stands for a duplicate', () => {
  const base = [addAs('a', 'said'), addAs('b', 'said again')];

  test('L163 retired by the other side with nothing in its place: a delete_modify of it', async () => {
    const found = await find(base, [duplicate('a', 'b')], [supersede('b')]);
    expect(told(found)).toEqual([['delete_modify', 'b']]);
    expect(found[0]?.details).toMatchObject({ left: { status: 'active' }, right: { status: 'superseded' } });
  });

  test('L163 what stands for it now is named', async () => {
    const corrected = [...base, correct('b', { content: 'said better' }, 'c')];
    const found = await find(corrected, [supersede('c')], [duplicate('a', 'c')]);
    expect(told(found)).toEqual([['delete_modify', 'c']]);
  });

  test('L163 replaced by another one it is none', async () => {
    expect(await find(base, [duplicate('a', 'b')], [supersede('b', { content: 'new' }, 'c')])).toEqual([]);
  });
});
