import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { memoryIdSchema } from '../../src-preload/contract/ids.ts';
import {
  add,
  addAs,
  attachEvidence,
  attachVerification,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  refName,
  restore,
  reviewedMerge,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const ours = 'refs/topics/ours';
const theirs = 'refs/topics/theirs';
let temp: TempLethe;
let history: HistoryBuilder;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(ours);
  await history.commit(ours, [addAs('plan', 'the plan', { kind: 'decision' }), addAs('note', 'a note')]);
  await history.branch(theirs, ours);
});
afterEach(() => temp.remove());

/** A merge of theirs into ours with a marker, which decides nothing, and some ops. */
const merge = (ops: readonly OpDraft[]): Promise<Changeset> =>
  history.mergeInto(ours, theirs, [reviewedMerge('proposal', history.head(theirs)), ...ops], {
    mayRestore: true,
  });

const get = (id: string, ref = ours) =>
  temp.lethe.getMemory({
    projectId: history.project,
    memoryId: memoryIdSchema.parse(id),
    headChangesetId: history.head(ref),
    limit: 20,
  }).memory;

const activeIds = (ref: string): readonly string[] =>
  temp.lethe
    .context({ projectId: history.project, refName: refName(ref), limit: 50 })
    .memories.map((memory) => memory.memory_id);

async function verified(): Promise<void> {
  const report = await temp.lethe.verifyChain(history.project);
  expect(report.findings).toEqual([]);
}

describe('what both sides changed', () => {
  test('L143 the same meaning on both sides merges, in either order of the parents, and the newer touch stands', async () => {
    await history.commit(ours, [correct('plan', { content: 'the new plan' })]);
    await history.commit(ours, [add('something of ours')]);
    const newer = await history.commit(theirs, [correct('plan', { content: 'the new plan' })]);
    const [left, right] = [history.head(ours), history.head(theirs)];
    const turned = await history.detached([right, left], [add('turned')]);
    await merge([]);
    expect(get('plan')).toMatchObject({ content: 'the new plan', last_changeset_id: newer.changeset_id });
    expect(activeIds(ours)).toHaveLength(3);
    const { total_active } = temp.lethe.context({
      projectId: history.project,
      refName: refName(ours),
      limit: 1,
    });
    expect(total_active).toBe(3);
    expect(temp.lethe.totalActive(turned.changeset_id)).toBe(4);
    await verified();
  });

  test('L143 a picked copy means what it was picked from, text and evidence', async () => {
    const source = await history.commit(theirs, [addAs('new', 'a new one'), attachEvidence('new', { note: 'n' })]);
    const picked = { cherrypicked_from: source.changeset_id };
    await history.commit(ours, [addAs('new', 'a new one', picked), attachEvidence('new', { note: 'n', ...picked })]);
    await merge([]);
    expect(get('new')).toMatchObject({ content: 'a new one', evidence: [{ note: 'n', ...picked }] });
    await verified();
  });

  test('L143 both gave a memory up: that is the same, and no op is asked for', async () => {
    await history.commit(ours, [supersede('plan')]);
    await history.commit(theirs, [supersede('plan')]);
    await merge([]);
    expect(get('plan').status).toBe('superseded');
    await verified();
  });

  test.each<readonly [string, OpDraft, OpDraft]>([
    ['another text', correct('plan', { content: 'one' }), correct('plan', { content: 'two' })],
    ['another end', supersede('plan'), duplicate('plan', 'note')],
    ['an end and an edit', supersede('plan'), correct('plan', { scope: 'desk' })],
    ['other evidence', attachEvidence('plan', { note: 'one' }), attachEvidence('plan', { note: 'two' })],
    ['a doubt on one side', deprecate('plan'), attachVerification('plan', { status: 'passed' })],
  ])('L23 %s on both sides is refused while no op touches the memory', async (_, left, right) => {
    await history.commit(ours, [left]);
    await history.commit(theirs, [right]);
    const refused = { code: 'BOTH_SIDES_TOUCHED', data: { memory_ids: ['plan'], total: 1 } };
    await expect(merge([add('beside')])).rejects.toMatchObject(refused);
    await expect(merge([restore('plan', history.head(theirs))])).resolves.toBeDefined();
    await verified();
  });

  test.each<readonly [string, OpDraft, OpDraft]>([
    ['evidence beside an end', attachEvidence('plan', { note: 'n' }), supersede('plan')],
    ['an end beside evidence', supersede('plan'), attachEvidence('plan', { note: 'n' })],
    ['an edit beside an end', correct('plan', { scope: 'desk' }), supersede('plan')],
    ['two ends of which one is another', supersede('plan'), duplicate('plan', 'note')],
    ['an end beside a duplicate that leans on it', supersede('plan'), duplicate('note', 'plan')],
  ])('L149 without restoring it is kept, changed or given up, though it is retired: %s', async (_, left, right) => {
    await history.commit(ours, [left]);
    await history.commit(theirs, [right]);
    const parents = [history.head(ours), history.head(theirs)];
    const decided = async (ops: readonly OpDraft[]) => {
      const made = await history.detached(parents, ops);
      return temp.lethe.getMemory({
        projectId: history.project,
        memoryId: memoryIdSchema.parse('plan'),
        headChangesetId: made.changeset_id,
        limit: 1,
      }).memory;
    };
    expect(await decided([correct('plan', { content: 'kept' })])).toMatchObject({ status: 'active', content: 'kept' });
    expect(await decided([supersede('plan')])).toMatchObject({ status: 'superseded' });
    expect(await decided([correct('plan', { content: 'kept' }), attachEvidence('plan', { note: 'm' })])).toMatchObject({
      status: 'active',
    });
    await expect(decided([supersede('plan'), supersede('plan')])).rejects.toMatchObject({ code: 'OP_INVALID' });
    await expect(decided([supersede('never'), supersede('plan')])).rejects.toMatchObject({ code: 'OP_INVALID' });
    await verified();
  });

  test('L149 L34 what a merge has not to decide about is targeted only when it is active', async () => {
    await history.commit(ours, [supersede('plan'), add('ours')]);
    await history.commit(theirs, [add('theirs')]);
    for (const op of [correct('plan', { content: 'kept' }), supersede('plan'), duplicate('plan', 'note')])
      await expect(merge([op])).rejects.toMatchObject({ code: 'OP_INVALID' });
    await history.commit(theirs, [attachEvidence('plan', { note: 'n' })]);
    for (const op of [deprecate('plan'), attachEvidence('plan', { note: 'm' }), duplicate('note', 'plan')])
      await expect(merge([op])).rejects.toMatchObject({ code: 'OP_INVALID' });
    await expect(merge([duplicate('plan', 'note')])).resolves.toBeDefined();
    await verified();
  });

  test('L149 an op decides: either side, a new text, neither; what it says stands for both orders of reading', async () => {
    await history.commit(ours, [correct('plan', { content: 'ours', scope: 'desk' })]);
    await history.commit(theirs, [correct('plan', { content: 'theirs', tags: ['t'] })]);
    const [left, right] = [history.head(ours), history.head(theirs)];
    const decided = async (ops: readonly OpDraft[]): Promise<unknown> => {
      const made = await history.detached([left, right], ops, { mayRestore: true });
      const { memory } = temp.lethe.getMemory({
        projectId: history.project,
        memoryId: memoryIdSchema.parse('plan'),
        headChangesetId: made.changeset_id,
        limit: 1,
      });
      return memory;
    };
    expect(await decided([restore('plan', left)])).toMatchObject({ content: 'ours', scope: 'desk' });
    expect(await decided([restore('plan', left)])).not.toHaveProperty('tags');
    expect(await decided([restore('plan', right)])).toMatchObject({ content: 'theirs', tags: ['t'] });
    expect(await decided([restore('plan', right)])).not.toHaveProperty('scope');
    expect(await decided([supersede('plan')])).toMatchObject({ status: 'superseded' });
    await verified();
  });

  test('L144 a correction finds what the second side did over the state of the first', async () => {
    await history.commit(ours, [
      correct('plan', { content: 'ours', scope: 'desk' }),
      attachEvidence('plan', { note: 'ours' }),
    ]);
    await history.commit(theirs, [
      correct('plan', { content: 'theirs', tags: ['t'] }),
      attachEvidence('plan', { note: 'theirs' }),
      attachVerification('plan', { status: 'passed' }),
    ]);
    const made = await merge([
      correct('plan', { visibility: 'shared' }),
      attachEvidence('plan', { note: 'of the merge' }),
    ]);
    expect(get('plan')).toMatchObject({
      content: 'theirs',
      scope: 'desk',
      tags: ['t'],
      visibility: 'shared',
      evidence: [{ note: 'ours' }, { note: 'theirs' }, { note: 'of the merge' }],
      verification: [{ status: 'passed' }],
      last_changeset_id: made.changeset_id,
    });
    await history.commit(ours, [attachEvidence('plan', { note: 'later' })]);
    expect(get('plan').evidence).toHaveLength(4);
    await verified();
  });

  test('L144 a list that was joined is shown with its newest eight, and how many there are', async () => {
    const notes = (side: string, count: number): readonly OpDraft[] =>
      Array.from({ length: count }, (_, index) => attachEvidence('plan', { note: `${side} ${index}` }));
    await history.commit(ours, notes('ours', 5));
    await history.commit(theirs, notes('theirs', 6));
    await merge([attachEvidence('plan', { note: 'of the merge' })]);
    const { evidence, evidence_total } = get('plan');
    expect(evidence?.map(({ note }) => note)).toEqual([
      'ours 4',
      ...[0, 1, 2, 3, 4, 5].map((index) => `theirs ${index}`),
      'of the merge',
    ]);
    expect(evidence_total).toBe(12);
    await verified();
  });

  test('L34 L144 what the second side gave up is decided about by a correction or a restore; nothing is attached to it', async () => {
    await history.commit(ours, [correct('plan', { content: 'ours' })]);
    await history.commit(theirs, [supersede('plan')]);
    await expect(merge([attachEvidence('plan', { note: 'n' })])).rejects.toMatchObject({
      code: 'OP_INVALID',
      message: expect.stringContaining('target "plan" is not active in the parent state'),
    });
    const parents = [history.head(ours), history.head(theirs)];
    await history.detached(parents, [correct('plan', { scope: 'desk' })]);
    await merge([restore('plan', history.head(ours)), correct('plan', { content: 'both' })]);
    expect(get('plan')).toMatchObject({ content: 'both', status: 'active', kind: 'decision' });
    await verified();
  });

  test('L144 what an op of the merge retires keeps the text of the newer side, what it becomes starts from both', async () => {
    await history.commit(theirs, [correct('plan', { content: 'theirs' })]);
    await history.commit(ours, [correct('plan', { content: 'ours', scope: 'desk' })]);
    await merge([correct('plan', { visibility: 'shared' }, 'next')]);
    expect(get('plan')).toMatchObject({ status: 'corrected', content: 'ours' });
    expect(get('next')).toMatchObject({ content: 'theirs', scope: 'desk', visibility: 'shared' });
    await verified();
  });

  test('L149 after it was decided the branch goes on, and the next merge has nothing to decide', async () => {
    await history.commit(ours, [correct('plan', { content: 'ours' })]);
    await history.commit(theirs, [correct('plan', { content: 'theirs' })]);
    await merge([restore('plan', history.head(ours))]);
    await history.commit(theirs, [add('more of theirs')]);
    await merge([]);
    expect(get('plan').content).toBe('ours');
    await history.commit(theirs, [correct('plan', { content: 'theirs again' })]);
    await expect(merge([])).rejects.toMatchObject({ code: 'BOTH_SIDES_TOUCHED', data: { memory_ids: ['plan'] } });
    await verified();
  });
});

describe('what one side retired and the other keeps in place of a duplicate', () => {
  test.each<readonly [string, (left: string) => OpDraft]>([
    ['the memory that stays', (left) => restore('note', left)],
    ['its duplicate', (left) => restore('plan', left)],
    ['the memory that stays, to give it up for good', () => supersede('plan')],
  ])('L142 is decided by an op on %s', async (of, op) => {
    const before = history.head(ours);
    await history.commit(ours, [duplicate('plan', 'note')]);
    await history.commit(theirs, [supersede('note')]);
    await expect(merge([])).rejects.toMatchObject({ code: 'BOTH_SIDES_TOUCHED', data: { memory_ids: ['note'] } });
    const ops = of.endsWith('for good') ? [restore('plan', before), op(before)] : [op(before)];
    await expect(merge(ops)).resolves.toBeDefined();
    await verified();
  });
});
