import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import type { AdvanceInput } from '../../src-main/lethe/api.ts';
import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { authorizationsOf, requestToMove } from '../support/advance-requests.ts';
import {
  add,
  addAs,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  reviewedMerge,
  type TempLethe,
} from '../support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope, testMerger, testProposal } from '../support/merge-envelope.ts';
import { decision, first, idOf, proposal } from './conflict-stage.ts';

let temp: TempLethe;
let history: HistoryBuilder;
let root: ChangesetId;
const main = 'refs/shared/main';
const branch = 'refs/agents/a/main';
const beside = 'refs/agents/b/main';

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  root = (await history.init()).changeset_id;
  await history.branch(branch);
  await history.branch(beside);
});
afterEach(() => temp.remove());

const requestTo = (next: Changeset, more?: Partial<MergeEnvelope>, input?: Partial<AdvanceInput>): AdvanceInput =>
  requestToMove(temp, history, next, more, input);
const between = (right: ChangesetId, base = root) => ({
  projectId: history.project,
  baseChangesetId: base,
  leftChangesetId: history.head(main),
  rightChangesetId: right,
});

/** Keeps what detection finds between main and a side, for the proposal that the tests merge. */
async function keep(right: ChangesetId, proposalId = testProposal, base = root): Promise<readonly Conflict[]> {
  const sides = between(right, base);
  const conflictIds = temp.lethe.detectConflicts(sides).map(idOf);
  return temp.lethe.persistConflicts({ sides, proposalId, conflictIds });
}

const resolve = ({ conflict_id: conflictId }: Conflict): Promise<Conflict> =>
  temp.lethe.resolveConflict({ projectId: history.project, conflictId, note: 'settled' });
const statusOf = (): Record<string, string> =>
  Object.fromEntries(
    temp.lethe
      .listConflicts({ projectId: history.project, limit: 500 })
      .conflicts.map(({ conflict_id: id, status }) => [id, status]),
  );

/** Main decides one thing and the branch, parted from before that, another. */
async function rivals(): Promise<void> {
  await temp.lethe.advance(requestTo(await history.commit(beside, [addAs('ours', 'use one cable', decision('net'))])));
  await history.commit(branch, [addAs('theirs', 'use no cable', decision('net'))]);
}

const mergeOf = (side: ChangesetId, key = 'merge'): Promise<Changeset> =>
  history.detached([history.head(main), side], [reviewedMerge(testProposal, side)], {
    authorPrincipal: testMerger,
    idempotencyKey: key,
  });

async function refused(input: AdvanceInput, wanted: object): Promise<void> {
  const [head, spent] = [history.head(main), authorizationsOf(temp).length];
  await expect(temp.lethe.advance(input)).rejects.toMatchObject(wanted);
  expect(history.head(main)).toBe(head);
  expect(authorizationsOf(temp)).toHaveLength(spent + 1);
  expect(authorizationsOf(temp)).toContainEqual({ outcome: 'refused', refusal: 'OPEN_CONFLICT' });
}

describe('an open blocking conflict', () => {
  test('L200 stops a merge_commit, kept or not, until it is resolved', async () => {
    await rivals();
    const side = history.head(branch);
    const merge = await mergeOf(side);
    const found = first(temp.lethe.detectConflicts(between(side)));
    expect(found.severity).toBe('blocking');
    await refused(requestTo(merge, { strategy: 'merge_commit' }), { code: 'OPEN_CONFLICT' });
    const kept = first(await keep(side));
    await refused(requestTo(merge, { strategy: 'merge_commit' }), {
      code: 'OPEN_CONFLICT',
      message: expect.stringContaining(`open blocking conflict ${kept.conflict_id}`),
      data: { conflict_id: kept.conflict_id },
    });
    await resolve(kept);
    const { ref } = await temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }));
    expect(ref.head_changeset_id).toBe(merge.changeset_id);
  });

  test('L200 stops a fast_forward, and its own head is the side', async () => {
    await temp.lethe.advance(
      requestTo(await history.commit(branch, [addAs('ours', 'use one cable', decision('net'))])),
    );
    const next = await history.commit(branch, [addAs('theirs', 'use no cable', decision('net'))]);
    await refused(requestTo(next), { code: 'OPEN_CONFLICT' });
    await resolve(first(await keep(next.changeset_id)));
    await expect(temp.lethe.advance(requestTo(next))).resolves.toMatchObject({
      ref: { head_changeset_id: next.changeset_id },
    });
  });

  test('L200 is looked for before the write, and again in it when the head was still another; what is resolved counts in it', async () => {
    const ours = await history.commit(branch, [addAs('ours', 'use one cable', decision('net'))]);
    const theirs = await history.commit(branch, [addAs('theirs', 'use no cable', decision('net'))]);
    const earlier = temp.lethe.advance(requestTo(ours));
    const move = { project: history.project, expected: ours.changeset_id, next: theirs.changeset_id };
    const second = advanceInput(move, authorize(mergeEnvelope(temp, move)));
    await expect(Promise.allSettled([earlier, temp.lethe.advance(second)])).resolves.toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'OPEN_CONFLICT' } },
    ]);
    const settled = resolve(first(await keep(theirs.changeset_id)));
    const moved = temp.lethe.advance(requestTo(theirs));
    await expect(Promise.all([settled, moved])).resolves.toHaveLength(2);
  });

  test('L200 is looked for with rows that grow with the sides, none of them within the transaction of the move', async () => {
    const step = 200;
    await temp.lethe.advance(requestTo(await history.commit(beside, [addAs('ours', 'one')])));
    for (let from = 0; from < 2; from += 1)
      await history.commit(
        branch,
        Array.from({ length: step }, (_, index) => add(`memory ${from} ${index}`)),
      );
    const merge = await mergeOf(history.head(branch));
    const input = requestTo(merge, { strategy: 'merge_commit' });
    const before = temp.db.counters.rowsRead;
    const done = temp.lethe.advance(input);
    const foreseen = temp.db.counters.rowsRead - before;
    await done;
    expect(foreseen).toBeGreaterThan(2 * step);
    expect(temp.db.counters.rowsRead - before - foreseen).toBeLessThan(step);
  });

  test('L200 stops a cherry_pick by what it picks, not by the branch that it is picked from', async () => {
    await rivals();
    const source = history.head(branch);
    const pick = (key: string, id: string, content: string): Promise<Changeset> =>
      history.detached([history.head(main)], [addAs(id, content, { ...decision('net'), cherrypicked_from: source })], {
        authorPrincipal: testMerger,
        idempotencyKey: key,
      });
    const rival = await pick('rival', 'theirs', 'use no cable');
    await refused(requestTo(rival, { strategy: 'cherry_pick' }), { code: 'OPEN_CONFLICT' });
    const agreed = await pick('agreed', 'agreed', 'use one cable');
    await expect(temp.lethe.advance(requestTo(agreed, { strategy: 'cherry_pick' }))).resolves.toBeDefined();
    const late = await pick('late', 'theirs', 'use no cable');
    await refused(requestTo(late, { strategy: 'cherry_pick' }), { code: 'OPEN_CONFLICT' });
    for (const one of await keep(late.changeset_id, testProposal, history.head(main)))
      if (one.severity === 'blocking') await resolve(one);
    await expect(temp.lethe.advance(requestTo(late, { strategy: 'cherry_pick' }))).resolves.toBeDefined();
  });

  test('L200 a resolution counts under whatever base it was declared, and only between these two sides', async () => {
    await rivals();
    const side = history.head(branch);
    const stale = await history.commit(beside, [add('no ancestor of either')]);
    const kept = await keep(side, testProposal, stale.changeset_id);
    for (const one of kept.filter(({ severity }) => severity === 'blocking')) await resolve(one);
    const later = await history.commit(branch, [add('later')]);
    const merge = await mergeOf(later.changeset_id);
    await refused(requestTo(merge, { strategy: 'merge_commit' }), { code: 'OPEN_CONFLICT' });
    // Kept again for the new side, its key brings the resolution along.
    expect(first(await keep(later.changeset_id))).toMatchObject({ severity: 'blocking', status: 'resolved' });
    await expect(temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }))).resolves.toBeDefined();
  });

  test('L200 one that was retired is not resolved; one that does not block stops nothing', async () => {
    await rivals();
    const side = history.head(branch);
    await keep(side);
    await temp.lethe.retireConflicts({ projectId: history.project, proposalId: testProposal, status: 'rejected' });
    const merge = await mergeOf(side);
    await refused(requestTo(merge, { strategy: 'merge_commit' }), { code: 'OPEN_CONFLICT' });
  });

  test('L200 a finding that does not block stops nothing', async () => {
    await temp.lethe.advance(requestTo(await history.commit(beside, [add('the same words')])));
    await history.commit(branch, [add('the same words')]);
    expect((await keep(history.head(branch))).map(({ severity }) => severity)).toEqual(['info']);
    const merge = await mergeOf(history.head(branch));
    await expect(temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }))).resolves.toBeDefined();
  });
});

describe('a landed merge', () => {
  test('L201 supersedes what is still open of its proposal, whoever else waits; what was resolved stays', async () => {
    await rivals();
    await temp.lethe.advance(requestTo(await history.commit(beside, [addAs('same-a', 'the same words')])));
    await history.commit(branch, [addAs('same-b', 'the same words')]);
    const side = history.head(branch);
    const [blocking, info] = await keep(side);
    await keep(side, proposal(2));
    if (blocking === undefined || info === undefined) throw new Error('the test expects two conflicts');
    await resolve(blocking);
    temp.clock.advance(2_000);
    const merge = await mergeOf(side);
    await temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }));
    expect(statusOf()).toEqual({ [blocking.conflict_id]: 'resolved', [info.conflict_id]: 'superseded' });
    const superseded = temp.lethe.listConflicts({ projectId: history.project, status: 'superseded', limit: 5 });
    expect(first(superseded.conflicts)).toMatchObject({ resolved_at: '2026-11-30T12:00:02Z' });
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L201 supersedes what another proposal asked between two sides that it brings together', async () => {
    await rivals();
    const early = history.head(branch);
    const asked = first(await keep(early, proposal(2)));
    await temp.lethe.advance(requestTo(await history.commit(beside, [add('main moves on')])));
    const later = await history.commit(branch, [add('the branch too')]);
    await resolve(first(await keep(later.changeset_id)));
    // Kept again, the early one would carry the resolution: it is open as it was asked.
    expect(statusOf()[asked.conflict_id]).toBe('open');
    await temp.lethe.advance(requestTo(await mergeOf(later.changeset_id), { strategy: 'merge_commit' }));
    expect(statusOf()[asked.conflict_id]).toBe('superseded');
  });

  test('L194 what it superseded or what was retired before is not open again when it is kept again, and withholds nothing', async () => {
    await rivals();
    await temp.lethe.advance(requestTo(await history.commit(beside, [addAs('same-a', 'the same words')])));
    await history.commit(branch, [addAs('same-b', 'the same words')]);
    const side = history.head(branch);
    const sides = between(side);
    const [blocking, info] = await keep(side);
    if (blocking === undefined || info === undefined) throw new Error('the test expects two conflicts');
    await resolve(blocking);
    await temp.lethe.advance(requestTo(await mergeOf(side), { strategy: 'merge_commit' }));
    const again = await temp.lethe.persistConflicts({
      sides,
      proposalId: proposal(2),
      conflictIds: [blocking.conflict_id, info.conflict_id],
    });
    expect(again.map(({ status }) => status)).toEqual(['resolved', 'superseded']);
    const { memories } = temp.lethe.context({ projectId: history.project, refName: refName(main), limit: 10 });
    expect(memories.map(({ memory_id: id }) => id)).toEqual(expect.arrayContaining(['ours', 'theirs']));
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L194 one that was canceled does not withhold from main what main has had from both sides since', async () => {
    await history.commit(beside, [addAs('ours', 'use one cable', decision('net'))]);
    await history.commit(branch, [addAs('theirs', 'use no cable', decision('net'))]);
    const sides = { ...between(history.head(branch)), leftChangesetId: history.head(beside) };
    const conflictIds = temp.lethe.detectConflicts(sides).map(idOf);
    const asked = await temp.lethe.persistConflicts({ sides, proposalId: proposal(2), conflictIds });
    expect(asked.map(({ severity, status }) => [severity, status])).toEqual([['blocking', 'open']]);
    await temp.lethe.retireConflicts({ projectId: history.project, proposalId: proposal(2), status: 'canceled' });
    await temp.lethe.advance(requestTo(await history.mergeInto(beside, branch)));
    const again = await temp.lethe.persistConflicts({ sides, proposalId: proposal(4), conflictIds });
    expect(again.map(({ status }) => status)).toEqual(['canceled']);
    const { memories } = temp.lethe.context({ projectId: history.project, refName: refName(main), limit: 10 });
    expect(memories.map(({ memory_id: id }) => id).toSorted()).toEqual(['ours', 'theirs']);
  });

  test('L201 leaves conflicts of other proposals alone', async () => {
    await rivals();
    const asked = first(await keep(history.head(branch), proposal(2)));
    await temp.lethe.advance(requestTo(await history.commit(beside, [add('main moves on')])));
    expect(statusOf()).toEqual({ [asked.conflict_id]: 'open' });
  });

  test('L201 one that is refused leaves every conflict as it was', async () => {
    await rivals();
    const kept = first(await keep(history.head(branch)));
    const merge = await mergeOf(history.head(branch));
    await refused(requestTo(merge, { strategy: 'merge_commit' }), { code: 'OPEN_CONFLICT' });
    await resolve(kept);
    temp.db.exec("CREATE TEMP TRIGGER stop BEFORE UPDATE ON main.memory_refs BEGIN SELECT RAISE(ABORT, 'stop'); END");
    await expect(temp.lethe.advance(requestTo(merge, { strategy: 'merge_commit' }))).rejects.toThrow('stop');
    expect(statusOf()).toEqual({ [kept.conflict_id]: 'resolved' });
  });
});
