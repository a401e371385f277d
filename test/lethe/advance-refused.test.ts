import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { AdvanceInput } from '../../src-main/lethe/api.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { authorizationsOf, countRowsOf, requestToMove } from '../support/advance-requests.ts';
import {
  add,
  addAs,
  changesetId,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  type OpDraft,
  openTempLethe,
  reviewedMerge,
  type TempLethe,
  testAuthor,
  testOwner,
} from '../support/history-builder.ts';
import { testMerger, testProposal, testReviewer } from '../support/merge-envelope.ts';

let temp: TempLethe;
let history: HistoryBuilder;
const branch = 'refs/agents/a/main';
const main = 'refs/shared/main';

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
});
afterEach(() => temp.remove());

const authorizations = () => authorizationsOf(temp);
const countRows = (table: string) => countRowsOf(temp, table);
const requestTo = (next: Changeset, more?: Partial<MergeEnvelope>, input?: Partial<AdvanceInput>) =>
  requestToMove(temp, history, next, more, input);

/** A refusal after the signature: the nonce is spent, and nothing else is different. */
async function refusedAndSpent(input: AdvanceInput, wanted: object): Promise<void> {
  const [head, moves, advances, spent] = [
    history.head(main),
    countRows('memory_ref_moves'),
    countRows('memory_protected_ref_advances'),
    authorizations().length,
  ];
  temp.events.length = 0;
  await expect(temp.lethe.advance(input)).rejects.toMatchObject(wanted);
  expect([history.head(main), countRows('memory_ref_moves'), countRows('memory_protected_ref_advances')]).toEqual([
    head,
    moves,
    advances,
  ]);
  expect(authorizations()).toHaveLength(spent + 1);
  expect(authorizations().filter((row) => row.outcome === 'refused')).toHaveLength(authorizations().length - advances);
  expect(temp.events).toEqual([]);
  await expect(temp.lethe.advance(input)).rejects.toThrow();
  expect(authorizations()).toHaveLength(spent + 1);
}

/** A refusal before the signature verified: no trace at all. */
async function refusedWithoutTrace(input: AdvanceInput, wanted: object): Promise<void> {
  const [head, spent] = [history.head(main), authorizations().length];
  await expect(temp.lethe.advance(input)).rejects.toMatchObject(wanted);
  expect([history.head(main), authorizations().length]).toEqual([head, spent]);
}

/** The merge of a branch's head into main, written by the merger and attached to no ref. */
function mergeOf(ref: string, more: { readonly author?: string; readonly key?: string } = {}): Promise<Changeset> {
  return history.detached([history.head(main), history.head(ref)], [reviewedMerge(testProposal, history.head(ref))], {
    authorPrincipal: more.author ?? testMerger,
    idempotencyKey: more.key ?? `merge:${history.head(ref)}`,
  });
}

describe('after the signature', () => {
  test('L47 every mismatched field, time and form spends the nonce and nothing else', async () => {
    const next = await history.commit(branch, [add('one')]);
    const other = await history.commit(branch, [add('two')]);
    const wrong: Partial<MergeEnvelope>[] = [
      { project_id: 'other' },
      { ref_name: 'refs/shared/other' },
      { expected_head: other.changeset_id },
      { new_head: other.changeset_id },
      { proposal_id: 'another' },
      { reviewer_principal: testOwner },
      { merger_principal: '' },
      { strategy: 'squash' },
      { proposal_digest: 'x' },
      { issued_at: '2026-11-30T12:01:00.001Z', expires_at: '2026-11-30T12:02:00Z' },
      { issued_at: '2026-11-30T11:00:00Z', expires_at: '2026-11-30T11:01:00Z' },
      { expires_at: '2026-11-30T12:15:00.001Z' },
    ];
    for (const change of wrong)
      await refusedAndSpent(requestTo(next, change), { code: 'MERGE_AUTHORIZATION_MALFORMED' });
    expect(new Set(authorizations().map((row) => row.refusal))).toEqual(new Set(['MERGE_AUTHORIZATION_MALFORMED']));
  });

  test('L47 an envelope without a proper nonce is refused, and there is nothing to spend', async () => {
    const next = await history.commit(branch, [add('one')]);
    await refusedWithoutTrace(requestTo(next, { nonce: 'short' }), { code: 'MERGE_AUTHORIZATION_MALFORMED' });
  });

  test('L47 a refused envelope stays worth nothing when its time or its head comes', async () => {
    const next = await history.commit(branch, [add('one')]);
    const early = requestTo(next, { issued_at: '2026-11-30T12:05:00Z', expires_at: '2026-11-30T12:06:00Z' });
    await expect(temp.lethe.advance(early)).rejects.toMatchObject({ code: 'MERGE_AUTHORIZATION_MALFORMED' });
    temp.clock.advance(5 * 60_000);
    await expect(temp.lethe.advance(early)).rejects.toMatchObject({ code: 'NONCE_CONSUMED' });
  });

  test('L47 an unknown new head, one of another project and a wrong shape spend it too', async () => {
    const root = temp.lethe.findChangeset(history.head(main));
    const foreign = await historyBuilder(temp, 'other').init();
    const loose = await history.detached([], [add('loose')]);
    const next = await history.commit(branch, [add('one')]);
    if (root === undefined) throw new Error('main has a head');
    const nobody = { ...next, changeset_id: changesetId('00000000-0000-7000-8000-00000000dead') };
    await refusedAndSpent(requestTo(nobody), { code: 'CHANGESET_NOT_FOUND' });
    await refusedAndSpent(requestTo(foreign), { code: 'MERGE_SHAPE' });
    await refusedAndSpent(requestTo(loose), { code: 'MERGE_SHAPE' });
    await refusedAndSpent(requestTo(root), { code: 'NOTHING_TO_MERGE' });
    await refusedAndSpent(requestTo(next, { strategy: 'merge_commit' }), { code: 'MERGE_SHAPE' });
    await refusedAndSpent(requestTo(next, { strategy: 'cherry_pick' }), { code: 'MERGE_SHAPE' });
    await expect(temp.lethe.advance(requestTo(next))).resolves.toBeDefined();
  });

  test('L50 a merge_commit has the expected head first, is the merger’s, and brings something in', async () => {
    await history.branch('refs/agents/b/main');
    await temp.lethe.advance(requestTo(await history.commit('refs/agents/b/main', [add('first')])));
    await history.commit(branch, [add('second')]);
    const [target, source] = [history.head(main), history.head(branch)];
    const marker = [reviewedMerge(testProposal, source)];
    const turned = await history.detached([source, target], marker, { authorPrincipal: testMerger });
    await refusedAndSpent(requestTo(turned, { strategy: 'merge_commit' }), { code: 'MERGE_SHAPE' });
    const foreignHand = await history.detached([target, source], marker);
    await refusedAndSpent(requestTo(foreignHand, { strategy: 'merge_commit' }), { code: 'MERGE_SHAPE' });
    const nothing = await history.detached([target, history.head('refs/agents/b/main')].slice(0, 1), marker, {
      authorPrincipal: testMerger,
    });
    await refusedAndSpent(requestTo(nothing, { strategy: 'merge_commit' }), { code: 'MERGE_SHAPE' });
    const root = temp.lethe.findChangeset(target)?.parent_ids[0] ?? target;
    const old = await history.detached([target, root], marker, { authorPrincipal: testMerger });
    await refusedAndSpent(requestTo(old, { strategy: 'merge_commit' }), { code: 'NOTHING_TO_MERGE' });
  });

  test('L50 a merge of sides that both touched a memory cannot even be written', async () => {
    const shared = await history.commit(branch, [addAs('plan', 'v1')]);
    await temp.lethe.advance(requestTo(shared));
    await history.branch('refs/agents/b/main');
    const mine = await history.commit(branch, [correct('plan', { content: 'mine' })]);
    await temp.lethe.advance(
      requestTo(await history.commit('refs/agents/b/main', [correct('plan', { content: 'theirs' })])),
    );
    await expect(mergeOf(branch)).rejects.toMatchObject({ code: 'BOTH_SIDES_TOUCHED', data: { memory_ids: ['plan'] } });
    expect(memoryIdOf(mine)).not.toBe('plan');
  });

  test('L51 a cherry_pick has one parent, is the merger’s, and every op says where it was picked from', async () => {
    const from = await history.commit(branch, [addAs('one', 'one'), addAs('two', 'two')]);
    const foreign = await historyBuilder(temp, 'other').init();
    const by = { authorPrincipal: testMerger };
    const target = history.head(main);
    const pick = (...sources: readonly string[]): readonly OpDraft[] =>
      sources.map((source, index) => addAs(`picked-${index}`, 'x', source === '' ? {} : { cherrypicked_from: source }));
    const shapes = [
      await history.detached([target], pick(from.changeset_id, ''), by),
      await history.detached([target], pick(foreign.changeset_id), by),
      await history.detached([target], pick('nowhere'), by),
      await history.detached([target, history.head(branch)], pick(from.changeset_id), by),
      await history.detached([history.head(branch)], pick(from.changeset_id), by),
      await history.detached([target], pick(from.changeset_id)),
    ];
    for (const shape of shapes)
      await refusedAndSpent(requestTo(shape, { strategy: 'cherry_pick' }), { code: 'MERGE_SHAPE' });
    const right = await history.detached([target], pick(from.changeset_id), by);
    await expect(temp.lethe.advance(requestTo(right, { strategy: 'cherry_pick' }))).resolves.toBeDefined();
  });

  test('L54 a head that has moved is refused with both heads', async () => {
    const first = await history.commit(branch, [add('one')]);
    const second = await history.commit(branch, [add('two')]);
    const late = requestTo(second);
    const before = history.head(main);
    await temp.lethe.advance(requestTo(first));
    await refusedAndSpent(late, {
      code: 'REF_MOVED',
      data: { ref: main, expected: before, actual: first.changeset_id },
    });
  });
});

describe('a nonce', () => {
  test('L48 is used once', async () => {
    const input = requestTo(await history.commit(branch, [add('one')]));
    await temp.lethe.advance(input);
    const { envelope } = JSON.parse(input.mergeAuthorization);
    await expect(temp.lethe.advance(input)).rejects.toMatchObject({
      code: 'NONCE_CONSUMED',
      message: `merge authorization nonce already consumed: ${envelope.nonce}`,
    });
    expect(authorizations()).toEqual([{ outcome: 'consumed', refusal: '' }]);
  });

  test('L48 another envelope with a used nonce is refused', async () => {
    const input = requestTo(await history.commit(branch, [add('one')]));
    const { envelope } = JSON.parse(input.mergeAuthorization);
    await temp.lethe.advance(input);
    const again = requestTo(await history.commit(branch, [add('two')]), { nonce: envelope.nonce });
    await refusedWithoutTrace(again, { code: 'NONCE_CONSUMED' });
  });

  test('L48 of twelve at once with one envelope exactly one succeeds', async () => {
    const input = requestTo(await history.commit(branch, [add('one')]));
    const answers = await Promise.allSettled(Array.from({ length: 12 }, () => temp.lethe.advance(input)));
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
    expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))).toEqual(
      Array.from({ length: 11 }, () => 'NONCE_CONSUMED'),
    );
    expect(countRows('memory_protected_ref_advances')).toBe(1);
  });

  test('L54 of eight at once with nonces of their own exactly one wins, the rest are told the head moved', async () => {
    await history.commit(branch, [add('one')]);
    const merges = await Promise.all(Array.from({ length: 8 }, (_, n) => mergeOf(branch, { key: `merge-${n}` })));
    const answers = await Promise.allSettled(
      merges.map((merge) => temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }))),
    );
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1);
    expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))).toEqual(
      Array.from({ length: 7 }, () => 'REF_MOVED'),
    );
    expect(authorizations().filter((row) => row.refusal === 'REF_MOVED')).toHaveLength(7);
  });

  test('L48 survives a restart', async () => {
    const input = requestTo(await history.commit(branch, [add('one')]));
    await temp.lethe.advance(input);
    temp = temp.reopen();
    await expect(temp.lethe.advance(input)).rejects.toMatchObject({ code: 'NONCE_CONSUMED' });
  });
});

describe('separation of duties', () => {
  test('L52 who wrote what a fast_forward brings in neither reviews nor merges it', async () => {
    await history.commit(branch, [add('one')], { authorPrincipal: testReviewer });
    const next = await history.commit(branch, [add('two')]);
    await refusedAndSpent(requestTo(next), { code: 'ORIGINATOR_MAY_NOT_MERGE', data: { role: 'reviewer' } });
    await refusedAndSpent(
      requestTo(
        next,
        { reviewer_principal: testOwner, merger_principal: testAuthor },
        { reviewerPrincipal: testOwner },
      ),
      {
        code: 'ORIGINATOR_MAY_NOT_MERGE',
        data: { role: 'merger' },
      },
    );
  });

  test('L52 of a merge_commit only what its second parent brings in counts', async () => {
    await history.branch('refs/agents/b/main');
    await temp.lethe.advance(requestTo(await history.commit('refs/agents/b/main', [add('first')])));
    await history.commit(branch, [add('second')]);
    const merge = await mergeOf(branch);
    await expect(temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }))).resolves.toBeDefined();
    await history.commit('refs/agents/b/main', [add('third')], { authorPrincipal: testMerger });
    const own = await mergeOf('refs/agents/b/main');
    await refusedAndSpent(requestTo(own, { strategy: 'merge_commit' }), {
      code: 'ORIGINATOR_MAY_NOT_MERGE',
      data: { role: 'merger' },
    });
  });

  test('L52 of a cherry_pick who wrote the changesets that it was picked from, and nobody else, counts', async () => {
    const beside = await history.commit(branch, [addAs('zero', 'zero')], { authorPrincipal: testReviewer });
    const from = await history.commit(branch, [addAs('one', 'one')]);
    const pickOf = (source: Changeset, id: string): Promise<Changeset> =>
      history.detached([history.head(main)], [addAs(id, 'x', { cherrypicked_from: source.changeset_id })], {
        authorPrincipal: testMerger,
      });
    await refusedAndSpent(requestTo(await pickOf(beside, 'zero'), { strategy: 'cherry_pick' }), {
      code: 'ORIGINATOR_MAY_NOT_MERGE',
      data: { role: 'reviewer' },
    });
    await expect(
      temp.lethe.advance(requestTo(await pickOf(from, 'one'), { strategy: 'cherry_pick' })),
    ).resolves.toBeDefined();
  });

  test('L52 the owner reviews and merges their own; without an owner nobody does', async () => {
    const next = await history.commit(branch, [add('mine')], { authorPrincipal: testOwner });
    const own = { reviewer_principal: testOwner, merger_principal: testOwner };
    temp = temp.reopen({ ownerPrincipal: undefined });
    history = historyBuilder(temp);
    await refusedAndSpent(requestTo(next, own, { reviewerPrincipal: testOwner }), { code: 'ORIGINATOR_MAY_NOT_MERGE' });
    temp = temp.reopen({ ownerPrincipal: testOwner });
    history = historyBuilder(temp);
    await refusedAndSpent(requestTo(next, { merger_principal: testOwner }), {
      code: 'ORIGINATOR_MAY_NOT_MERGE',
      data: { role: 'merger' },
    });
    await expect(temp.lethe.advance(requestTo(next, own, { reviewerPrincipal: testOwner }))).resolves.toMatchObject({
      advance: { reviewer_principal: testOwner, merger_principal: testOwner },
    });
  });

  test('L53 the advance of a proposal is found by it', async () => {
    const proposal = proposalIdSchema.parse('00000000-0000-7000-8000-0000000000f2');
    const next = await history.commit(branch, [add('one')]);
    expect(temp.lethe.findAdvance({ projectId: history.project, proposalId: proposal })).toBeUndefined();
    const { advance } = await temp.lethe.advance(
      requestTo(next, { proposal_id: proposal }, { mergeProposalId: proposal }),
    );
    expect(temp.lethe.findAdvance({ projectId: history.project, proposalId: proposal })).toEqual(advance);
  });
});
