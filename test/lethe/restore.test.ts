import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChangesetId, memoryIdSchema } from '../../src-preload/contract/ids.ts';
import { readCheckedDiff } from '../support/checked-reads.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  refName,
  relate,
  restore,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { refusal } from './judge-ops.ts';

const work = 'refs/topics/work';
const side = 'refs/topics/side';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  await history.commit(work, [
    addAs('tea', 'tea is green', { kind: 'fact', tags: ['drink'] }),
    addAs('cup', 'the cup is blue'),
  ]);
});
afterEach(() => temp.remove());

const commit = (ops: readonly OpDraft[], ref = work) => history.commit(ref, ops, { mayRestore: true });
const answer = (id: string, ref = work) =>
  temp.lethe.getMemory({
    projectId: history.project,
    memoryId: memoryIdSchema.parse(id),
    headChangesetId: history.head(ref),
    limit: 50,
  });
const kinds = (id: string, ref = work): readonly unknown[] => answer(id, ref).relationships.map(({ kind }) => kind);
const verified = async (): Promise<void> =>
  expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);

describe('a restored state', () => {
  test('L145 is exactly what it was: text, payload, what was attached, status and where it came from', async () => {
    await commit([attachEvidence('tea', { note: 'the tin' }), deprecate('tea')]);
    const then = history.head(work);
    const before = answer('tea').memory;
    await commit([correct('tea', { content: 'tea is black', scope: 'kitchen', confidence: 0.5 })]);
    await commit([attachEvidence('tea', { note: 'another tin' }), supersede('tea')]);
    const { changeset_id: last } = await commit([restore('tea', then)]);
    expect(answer('tea').memory).toEqual({ ...before, last_changeset_id: last });
    expect(temp.lethe.totalActive(last)).toBe(2);
    await commit([attachEvidence('tea', { note: 'a third' }), correct('tea', { content: 'tea is white' })]);
    expect(answer('tea').memory).toMatchObject({
      content: 'tea is white',
      tags: ['drink'],
      evidence: [{ note: 'the tin' }, { note: 'a third' }],
    });
    await verified();
  });

  test.each<readonly [string, OpDraft, string]>([
    ['superseded', supersede('tea', { content: 'coffee' }, 'coffee'), 'superseded'],
    ['corrected to another', correct('tea', { content: 'mate' }, 'mate'), 'corrected'],
    ['a duplicate', duplicate('tea', 'cup'), 'duplicate'],
  ])('L145 may be a retired one: %s', async (_, op, status) => {
    const active = history.head(work);
    await commit([op]);
    const retired = history.head(work);
    await commit([restore('tea', active)]);
    expect(answer('tea').memory.status).toBe('active');
    const { changeset_id: last } = await commit([restore('tea', retired)]);
    expect(answer('tea').memory.status).toBe(status);
    expect(answer('tea').lineage.at(-1)).toMatchObject({ op_type: 'correct_memory', after: null });
    expect(temp.lethe.totalActive(last)).toBe(op.op_type === 'mark_duplicate' ? 1 : 2);
    await verified();
  });

  test('L142 L145 a duplicate that was restored as one still has the memory that stays for it', async () => {
    const active = history.head(work);
    await commit([duplicate('tea', 'cup')]);
    const marked = history.head(work);
    await commit([restore('tea', active)]);
    await history.branch(side, work);
    await commit([restore('tea', marked)]);
    expect(answer('tea').exclusionReason).toBe('duplicate of cup');
    await commit([supersede('cup')], side);
    await expect(history.mergeInto(work, side)).rejects.toMatchObject({
      code: 'BOTH_SIDES_TOUCHED',
      data: { memory_ids: ['cup'] },
    });
  });

  test('L35 L145 ops after it see it, and ops before it do not matter to it', async () => {
    const then = history.head(work);
    await commit([supersede('tea'), restore('tea', then), correct('tea', { scope: 'kitchen' })]);
    expect(answer('tea').memory).toMatchObject({ content: 'tea is green', scope: 'kitchen', status: 'active' });
    await commit([supersede('tea')]);
    const gone = history.head(work);
    await expect(commit([restore('tea', gone), correct('tea', { scope: 'desk' })])).rejects.toMatchObject({
      message: refusal(
        'correct_memory',
        'target "tea" is not active in the parent state: read it at the parents and target a memory that is',
        1,
      ),
    });
    await commit([restore('tea', then)]);
    await expect(commit([restore('tea', gone), addAs('tea', 'a new one')])).resolves.toBeDefined();
    await verified();
  });
});

describe('what may be restored', () => {
  test('L30 L146 nobody restores without the right to, whatever the changeset', async () => {
    const then = history.head(work);
    const wanted = refusal('correct_memory', 'payload field "restores" is not supported for correct_memory');
    for (const more of [{}, { mayRestore: false }])
      await expect(history.commit(work, [restore('tea', then)], more)).rejects.toMatchObject({ message: wanted });
  });

  test('L146 a changeset that the parents see, and a memory that it knows', async () => {
    const { changeset_id: root } = await history.init();
    await history.branch(side, work);
    await commit([correct('tea', { scope: 'here' })]);
    const reason = 'restores must name a parent or an ancestor of one';
    for (const unseen of [history.head(work), '00000000-0000-7000-8000-00000000dead', 'nonsense'])
      await expect(commit([restore('tea', unseen)], side)).rejects.toMatchObject({
        message: refusal('correct_memory', reason),
      });
    await expect(commit([restore('tea', root)], side)).rejects.toMatchObject({
      message: refusal(
        'correct_memory',
        'target "tea" is not known at the changeset that restores names: supersede it instead',
      ),
    });
    await expect(commit([restore('nobody', history.head(side))], side)).rejects.toMatchObject({ code: 'OP_INVALID' });
  });

  test('L146 nothing of the memory beside it, and no other memory', async () => {
    const then = history.head(work);
    const reasons: readonly (readonly [OpDraft, string])[] = [
      [
        restore('tea', then, { content: 'x' }),
        'payload field "content" is not supported for correct_memory that restores',
      ],
      [
        { ...restore('tea', then), resulting_event_id: 'other' },
        'resulting_event_id is not for a correction that restores',
      ],
      [{ op_type: 'correct_memory', payload: { restores: then } }, 'target_event_id is required'],
      [restore('tea', ''), 'restores must be the id of a changeset'],
      [
        { op_type: 'correct_memory', target_event_id: 'tea', payload: { restores: 7 } },
        'restores must be the id of a changeset',
      ],
    ];
    for (const [op, reason] of reasons)
      await expect(commit([op])).rejects.toMatchObject({ message: refusal('correct_memory', reason) });
    await expect(commit([restore('tea', then, { summary: 'back', proposal_id: 'p' })])).resolves.toBeDefined();
    await expect(commit([{ ...restore('tea', then), op_type: 'supersede_memory' }])).rejects.toMatchObject({
      code: 'OP_INVALID',
    });
  });
});

describe('the relationships of a restored memory', () => {
  test('L147 are those that it had then, and those that come later', async () => {
    await commit([relate('tea', 'in', 'cup'), relate('cup', 'holds', 'tea')]);
    const then = history.head(work);
    await commit([relate('tea', 'spills from', 'cup'), relate('cup', 'warms', 'tea')]);
    await commit([relate('tea', 'just before', 'cup'), restore('tea', then), relate('tea', 'just after', 'cup')]);
    expect(kinds('tea')).toEqual(['just after', 'warms', 'holds', 'in']);
    await commit([relate('tea', 'later', 'cup')]);
    expect(kinds('cup')).toEqual(['later', 'just after', 'warms', 'holds', 'in']);
    const there = history.head(work);
    await commit([restore('tea', then)]);
    expect(kinds('tea')).toEqual(['warms', 'holds', 'in']);
    await commit([restore('tea', there)]);
    expect(kinds('tea')).toEqual(['later', 'just after', 'warms', 'holds', 'in']);
    await verified();
  });

  test('L147 those of the other side of a merge are not taken away', async () => {
    const then = history.head(work);
    await history.branch(side, work);
    await commit([relate('tea', 'on this side', 'cup')]);
    await commit([relate('tea', 'on the other', 'cup')], side);
    await commit([restore('tea', then)]);
    expect(kinds('tea')).toEqual([]);
    await history.mergeInto(work, side);
    expect(kinds('tea')).toEqual(['on the other']);
    await verified();
  });

  test('L147 a memory that goes on under a new id, or starts anew, has its own', async () => {
    const then = history.head(work);
    await commit([relate('tea', 'lost', 'cup')]);
    await commit([restore('tea', then), correct('tea', { scope: 'kitchen' }, 'mate'), relate('mate', 'in', 'cup')]);
    expect(kinds('mate')).toEqual(['in']);
    expect(kinds('tea')).toEqual([]);
    await commit([addAs('tea', 'tea again')]);
    expect(kinds('tea')).toEqual(['lost']);
  });
});

describe('a restore as it is told', () => {
  test('L148 in a lineage it names the changeset; a diff lists what it changed, and nothing when all is as it was', async () => {
    const then = history.head(work);
    await commit([correct('tea', { content: 'tea is black' })]);
    const changed = history.head(work);
    const { changeset_id } = await commit([restore('tea', then, { summary: 'it was green' })]);
    expect(answer('tea').lineage.at(-1)).toMatchObject({
      changeset_id,
      op_type: 'correct_memory',
      payload: { restores: then, summary: 'it was green' },
      before: { content: 'tea is black' },
      after: { content: 'tea is green' },
    });
    const diff = readCheckedDiff(temp, changed, history.head(work), {});
    expect(diff.corrections_proposed).toMatchObject([
      { memory_id: 'tea', summary: 'it was green', payload: { restores: then }, kind: 'temporal_update' },
    ]);
    const none = readCheckedDiff(temp, then, history.head(work), {});
    expect([...none.corrections_proposed, ...none.memories_added, ...none.records_superseded]).toEqual([]);
  });

  test('L148 relationships that it brought back are added, once, whichever side restored', async () => {
    const made = history.head(work);
    await commit([relate('tea', 'in', 'cup')]);
    const then = history.head(work);
    await history.branch(side, work);
    await commit([restore('tea', made)]);
    const without = history.head(work);
    await commit([restore('tea', then)]);
    const told = (base: ChangesetId, target: ChangesetId, of: 'both' | 'target' = 'both'): readonly unknown[] =>
      readCheckedDiff(temp, base, target, { side: of }).relationships_added.map(({ payload }) => payload?.kind);
    expect(told(without, history.head(work))).toEqual(['in']);
    expect(told(history.head(work), without)).toEqual([]);
    expect(told(without, history.head(side))).toEqual(['in']);
    expect(told(without, history.head(side), 'target')).toEqual([]);
  });

  test('L77 L148 it is found by the text that it has again', async () => {
    const then = history.head(work);
    await commit([correct('tea', { content: 'tea is black' })]);
    await commit([restore('tea', then)]);
    while (await temp.lethe.maintain());
    const found = (query: string): readonly string[] =>
      temp.lethe
        .search({ projectId: history.project, refName: refName(work), query, limit: 10 })
        .matches.map((match) => match.memory.memory_id);
    expect(found('green')).toEqual(['tea']);
    expect(found('black')).toEqual([]);
    await verified();
  });
});
