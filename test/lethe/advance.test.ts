import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { AdvanceInput } from '../../src-main/lethe/api.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { authorizationsOf, countRowsOf, requestToMove } from '../support/advance-requests.ts';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  reviewedMerge,
  type TempLethe,
} from '../support/history-builder.ts';
import {
  advanceInput,
  authorize,
  mergeEnvelope,
  testMerger,
  testProposal,
  testReviewer,
} from '../support/merge-envelope.ts';

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

describe('a merge', () => {
  test('L53 a fast_forward over two commits moves main and writes one record, one nonce and one signed move', async () => {
    const before = history.head(main);
    await history.commit(branch, [add('one')]);
    const last = await history.commit(branch, [add('two')]);
    temp.clock.advance(5_000);
    temp.events.length = 0;
    const input = requestTo(last);
    const { envelope } = JSON.parse(input.mergeAuthorization);
    const { ref, advance } = await temp.lethe.advance(input);

    expect(ref).toMatchObject({
      ref_name: main,
      head_changeset_id: last.changeset_id,
      protected: true,
      updated_at: '2026-11-30T12:00:05Z',
    });
    expect(advance).toEqual({
      advance_id: advance.advance_id,
      project_id: 'demo',
      ref_name: main,
      expected_head: before,
      new_head: last.changeset_id,
      merge_proposal_id: testProposal,
      proposal_digest: 'ab'.repeat(32),
      reviewer_principal: testReviewer,
      merger_principal: testMerger,
      strategy: 'fast_forward',
      authorization_nonce: envelope.nonce,
      created_at: '2026-11-30T12:00:05Z',
    });
    expect(authorizations()).toEqual([{ outcome: 'consumed', refusal: '' }]);
    expect(
      temp.db
        .query(
          'SELECT seq, from_head, to_head, principal, cause, chain_digest FROM memory_ref_moves ORDER BY seq DESC LIMIT 1',
        )
        .get(),
    ).toEqual({
      seq: 5,
      from_head: before,
      to_head: last.changeset_id,
      principal: testMerger,
      cause: `advance:${advance.advance_id}`,
      chain_digest: last.chain_digest,
    });
    expect(temp.events).toEqual([
      { kind: 'ref_moved', project_id: 'demo', ref_name: main, head_changeset_id: last.changeset_id },
    ]);
    expect(temp.lethe.findAdvance({ projectId: history.project, proposalId: testProposal })).toEqual(advance);
    expect(temp.lethe.listAdvances(history.project, { limit: 10 })).toEqual([advance]);
  });

  test('L50 a merge_commit brings in a branch that parted from main', async () => {
    await history.branch('refs/agents/b/main');
    await temp.lethe.advance(requestTo(await history.commit('refs/agents/b/main', [add('first')])));
    await history.commit(branch, [add('second')]);
    const merge = await mergeOf(branch);
    const { ref, advance } = await temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }));
    expect(ref.head_changeset_id).toBe(merge.changeset_id);
    expect(advance.strategy).toBe('merge_commit');
    expect(temp.lethe.isAncestor(history.head(branch), merge.changeset_id)).toBe(true);
  });

  test('L50 L149 a merge_commit whose ops decide about what both sides changed lands, and its decision stands', async () => {
    await temp.lethe.advance(requestTo(await history.commit(branch, [addAs('plan', 'the plan')])));
    await history.branch('refs/agents/b/main');
    await history.commit(branch, [correct('plan', { content: 'the same for both' })]);
    await temp.lethe.advance(
      requestTo(await history.commit('refs/agents/b/main', [correct('plan', { content: 'the same for both' })])),
    );
    const merge = await mergeOf(branch);
    await temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }));
    expect(history.head(main)).toBe(merge.changeset_id);
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L51 a cherry_pick brings in the picked ops under the ids that they gave, and the branch can be merged later', async () => {
    const one = await history.commit(branch, [add('one')]);
    const two = await history.commit(branch, [addAs('two', 'two'), correct('two', { scope: 'desk' })]);
    const picked = { cherrypicked_from: two.changeset_id };
    const pick = await history.detached(
      [history.head(main)],
      [addAs('two', 'two', picked), correct('two', { scope: 'desk', ...picked })],
      { authorPrincipal: testMerger },
    );
    const { advance } = await temp.lethe.advance(requestTo(pick, { strategy: 'cherry_pick' }));
    expect(advance).toMatchObject({ strategy: 'cherry_pick', new_head: pick.changeset_id });
    expect(temp.lethe.isAncestor(one.changeset_id, history.head(main))).toBe(false);
    expect(temp.lethe.totalActive(history.head(main))).toBe(1);
    await temp.lethe.advance(requestTo(await mergeOf(branch), { strategy: 'merge_commit' }));
    expect(temp.lethe.totalActive(history.head(main))).toBe(2);
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L53 a move that fails on the way leaves nothing, not even the nonce', async () => {
    const next = await history.commit(branch, [add('one')]);
    temp.db.exec(
      "CREATE TEMP TRIGGER stop BEFORE INSERT ON main.memory_protected_ref_advances BEGIN SELECT RAISE(ABORT, 'stop'); END",
    );
    const input = requestTo(next);
    await refusedWithoutTrace(input, { message: 'stop' });
    expect(countRows('memory_ref_moves')).toBe(3);
    temp.db.exec('DROP TRIGGER stop');
    await expect(temp.lethe.advance(input)).resolves.toMatchObject({ ref: { head_changeset_id: next.changeset_id } });
  });

  test('L53 advances are listed newest first, in pages, of their own project', async () => {
    const made = [];
    for (const text of ['one', 'two', 'three'])
      made.push((await temp.lethe.advance(requestTo(await history.commit(branch, [add(text)])))).advance);
    const [first, second] = [
      temp.lethe.listAdvances(history.project, { limit: 2 }),
      temp.lethe.listAdvances(history.project, { limit: 2, cursor: made[1]?.advance_id }),
    ];
    expect([...first, ...second]).toEqual(made.toReversed());
    const other = historyBuilder(temp, 'other');
    await other.init();
    expect(temp.lethe.listAdvances(other.project, { limit: 10 })).toEqual([]);
    for (const [project, cursor] of [
      [other.project, made[0]?.advance_id],
      [history.project, 'none'],
    ] as const) {
      expect(() => temp.lethe.listAdvances(project, { limit: 10, cursor })).toThrow(
        expect.objectContaining({ code: 'CURSOR_INVALID' }),
      );
    }
    expect(temp.lethe.findAdvance({ projectId: other.project, proposalId: testProposal })).toBeUndefined();
  });
});

describe('before the signature', () => {
  test('L43 the ref must exist, be protected, and a reviewer be named', async () => {
    const next = await history.commit(branch, [add('one')]);
    await refusedWithoutTrace(requestTo(next, {}, { refName: refName('refs/shared/none') }), { code: 'REF_NOT_FOUND' });
    await refusedWithoutTrace(requestTo(next, {}, { refName: refName(branch) }), {
      code: 'MERGE_AUTHORIZATION_MALFORMED',
    });
    await refusedWithoutTrace(requestTo(next, {}, { reviewerPrincipal: '' }), {
      code: 'MERGE_AUTHORIZATION_MALFORMED',
    });
    await refusedWithoutTrace(requestTo(next, {}, { projectId: historyBuilder(temp, 'none').project }), {
      code: 'PROJECT_NOT_FOUND',
    });
  });

  test('L43 what no key of ours signed leaves no trace', async () => {
    const next = await history.commit(branch, [add('one')]);
    const move = { project: history.project, expected: history.head(main), next: next.changeset_id };
    const envelope = mergeEnvelope(temp, move);
    const forged = authorize(envelope, Buffer.alloc(32, 7));
    await refusedWithoutTrace(advanceInput(move, forged), { code: 'MERGE_AUTHORIZATION_REFUSED' });
    await refusedWithoutTrace(advanceInput(move, '{}'), { code: 'MERGE_AUTHORIZATION_MALFORMED' });
    await refusedWithoutTrace(advanceInput(move, authorize({ ...envelope, key_id: 'k9' })), {
      code: 'MERGE_AUTHORIZATION_REFUSED',
    });
    await expect(temp.lethe.advance(advanceInput(move, authorize(envelope)))).resolves.toBeDefined();
  });

  test('L44 a key that was rotated in verifies beside the old one', async () => {
    const rotated = Buffer.alloc(32, 9);
    temp = temp.reopen({
      mergeKeys: new Map([
        ['k1', Buffer.from('0123456789abcdef0123456789abcdef')],
        ['k2', rotated],
      ]),
    });
    history = historyBuilder(temp);
    for (const [text, key_id, key] of [
      ['one', 'k1', undefined],
      ['two', 'k2', rotated],
    ] as const) {
      const next = await history.commit(branch, [add(text)]);
      const move = { project: history.project, expected: history.head(main), next: next.changeset_id };
      await expect(
        temp.lethe.advance(advanceInput(move, authorize(mergeEnvelope(temp, move, { key_id }), key))),
      ).resolves.toBeDefined();
    }
  });
});
