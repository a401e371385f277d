import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import type { MemoryStorePort } from '../../src-main/charon/store-port.ts';
import { conflictsListedMax, proposalLifeMs } from '../../src-preload/contract/limits.ts';
import { proposalDetailSchema, proposalSchema } from '../../src-preload/contract/proposal.ts';
import { addAs, correct } from '../support/history-builder.ts';
import { codeOf } from './charon-world.ts';
import {
  acceptedInMain,
  approveAndMerge,
  conflictOf,
  contest,
  draft,
  keptFor,
  land,
  mainHead,
  show,
} from './conflict-world.ts';
import { branchWith, judge, type MergeWorld, mergeBy, now, openMergeWorld, proposeHead } from './merge-world.ts';

/** Where the store refuses the next time it is asked. */
let broken: Partial<Record<keyof MemoryStorePort, 'before' | 'after'>>;
/** How often the store was asked for what it keeps. */
let listed: number;
let world: MergeWorld;
beforeEach(async () => {
  broken = {};
  listed = 0;
  world = await openMergeWorld((store) => {
    const guarded = <Asked extends readonly unknown[], Answer>(
      name: keyof MemoryStorePort,
      ask: (...asked: Asked) => Promise<Answer>,
    ) => {
      return async (...asked: Asked): Promise<Answer> => {
        const when = broken[name];
        delete broken[name];
        if (when === 'before') throw new Fault('STORE_UNAVAILABLE', 'down');
        const answer = await ask(...asked);
        if (when === 'after') throw new Fault('STORE_UNAVAILABLE', 'the answer was lost');
        return answer;
      };
    };
    return {
      ...store,
      listConflicts: (input) => {
        listed += 1;
        return store.listConflicts(input);
      },
      persistConflicts: guarded('persistConflicts', store.persistConflicts),
      resolveConflict: guarded('resolveConflict', store.resolveConflict),
      retireConflicts: guarded('retireConflicts', store.retireConflicts),
      recordOutput: guarded('recordOutput', store.recordOutput),
      commitDetached: guarded('commitDetached', store.commitDetached),
      advance: guarded('advance', store.advance),
    };
  });
  await land(world, [addAs('m', 'old'), addAs('n', 'other')]);
});
afterEach(() => world.remove());

const edits = () => contest(world, [correct('m', { content: 'left' })], [correct('m', { content: 'right' })]);

describe('what stands between a proposal and its target', () => {
  test('C73 it is detected when the proposal is filed, kept bound to it, and shown', async () => {
    const { filed } = await edits();
    expect(proposalSchema.parse(filed)).toMatchObject({
      conflicts: [{ conflict_type: 'concurrent_edit', severity: 'blocking', status: 'open' }],
      conflict_counts: { blocking: 1, unresolved: 1 },
    });
    expect(keptFor(world, filed.proposal_id)).toMatchObject([
      { conflict_id: filed.conflicts[0]?.conflict_id, proposal_id: filed.proposal_id, status: 'open' },
    ]);
    expect(proposalDetailSchema.parse(await show(world, filed))).toMatchObject({
      conflicts: [{ details: { memory_id: 'm', left: { content: 'left' }, right: { content: 'right' } } }],
      preview: {
        strategy: 'merge_commit',
        changes: { corrections_proposed: 1, memories_added: 0 },
        changes_complete: true,
        blocking_by_type: { concurrent_edit: 1 },
        target_moved: false,
        new_conflicts: 0,
      },
      resolutions: [],
    });
  });

  test('C73 C74 what is detected now counts: a target that moved brings a new conflict, and the merge is refused by name', async () => {
    const filed = await proposeHead(world, await branchWith(world, [correct('m', { content: 'right' })]));
    expect(filed.conflicts).toEqual([]);
    await land(world, [correct('m', { content: 'left' })]);
    const shown = await show(world, filed);
    expect(shown.preview).toMatchObject({ target_moved: true, new_conflicts: 1, strategy: 'merge_commit' });
    const before = mainHead(world);
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    await expect(mergeBy(world, world.reviewer, filed.proposal_id)).rejects.toMatchObject({
      code: 'OPEN_CONFLICT',
      data: { conflict_ids: [shown.conflicts[0]?.conflict_id], total: 1 },
    });
    expect(await now(world, filed.proposal_id)).toMatchObject({ status: 'pending', review_state: 'approved' });
    expect(mainHead(world)).toBe(before);
  });

  test('C85 pages of every size are of one look, which asks the store once', async () => {
    const { filed } = await contest(
      world,
      [correct('m', { content: 'left' })],
      [correct('m', { content: 'right' }), addAs('another', 'of theirs')],
    );
    const before = listed;
    const read = await world.charon.charon.openProposal(world.owner, filed.proposal_id);
    const [large, small] = [await read({ limit: 50 }), await read({ limit: 1 })];
    expect([large.diff.memories_added, small.diff.memories_added].map((list) => list.length)).toEqual([1, 0]);
    expect(large.proposal_digest).toBe(small.proposal_digest);
    expect(listed - before).toBe(1);
    expect(await show(world, filed)).toEqual(await read({ limit: 100 }));
  });

  test('C85 a listed conflict names no memory whose id is long, and two at most', async () => {
    const long = `long-${'x'.repeat(128)}`;
    const fact = (at: string) => ({ kind: 'fact', fact_key: 'k', subject: at });
    await land(world, [addAs(long, 'before')]);
    const { filed } = await contest(
      world,
      [correct(long, { content: 'left' }), addAs('f-left', 'one', { ...fact('s') })],
      [correct(long, { content: 'right' }), addAs('f-right', 'two', { ...fact('s') })],
    );
    const of = (type: string) => filed.conflicts.find((conflict) => conflict.conflict_type === type);
    expect(of('concurrent_edit')).not.toHaveProperty('details');
    expect(of('incompatible_fact')).toMatchObject({ details: { memory_ids: ['f-left', 'f-right'] } });
  });

  test('C85 C172 outside its own page a proposal names at most twenty conflicts, of details only the memories; the page gives all, in pages of one state', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
    await land(
      world,
      ids.map((id) => addAs(id, 'before')),
    );
    const { filed } = await contest(
      world,
      ids.map((id) => correct(id, { content: 'left' })),
      ids.map((id) => correct(id, { content: 'right' })),
    );
    expect(filed.conflicts).toHaveLength(conflictsListedMax);
    expect(filed.conflict_ids).toEqual(filed.conflicts.map(({ conflict_id: id }) => id));
    for (const { details } of filed.conflicts)
      expect(details).toEqual({ memory_ids: [expect.stringMatching(/^many-\d\d$/)] });
    expect(filed.conflict_counts.blocking).toBe(25);
    const seen: string[] = [];
    const changed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await world.charon.charon.showProposal(world.owner, filed.proposal_id, { limit: 10, cursor });
      expect(page.conflict_ids).toEqual(page.conflicts.map(({ conflict_id: id }) => id));
      seen.push(...page.conflicts.map(({ details }) => String(details?.memory_id)));
      changed.push(...page.diff.corrections_proposed.map(({ memory_id: id }) => id));
      pages += 1;
      if (cursor === undefined) expect(page.diff.corrections_proposed).toEqual([]);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(ids);
    expect(changed.toSorted()).toEqual(ids);
    expect(pages).toBe(5);
    const first = await world.charon.charon.showProposal(world.owner, filed.proposal_id, { limit: 10 });
    await world.charon.charon.draftResolution(world.owner, filed.proposal_id, {
      conflict_key: first.conflicts[0]?.conflict_key ?? filed.proposal_digest,
      choice: 'ours',
    });
    const again = { limit: 10, cursor: first.next_cursor };
    expect(await codeOf(world.charon.charon.showProposal(world.owner, filed.proposal_id, again))).toBe(
      'CURSOR_INVALID',
    );
  });

  test('C84 what a proposal brings is in an output manifest, with what stands against it', async () => {
    const { filed, theirs } = await edits();
    const manifests = world.temp.db
      .query<[string], { direction: string; unresolved_conflicts: string }>(
        'SELECT direction, unresolved_conflicts FROM memory_manifests WHERE merge_proposal_id = ?',
      )
      .all(filed.proposal_id);
    expect(manifests).toEqual([
      { direction: 'output', unresolved_conflicts: JSON.stringify(filed.conflicts.map(({ conflict_id: id }) => id)) },
    ]);
    expect(theirs.changeset_id).toBe(filed.head_changeset_id);
  });
});

describe('a merge with conflicts', () => {
  test.each([
    ['commitDetached', 'before'],
    ['commitDetached', 'after'],
    ['persistConflicts', 'before'],
    ['persistConflicts', 'after'],
    ['resolveConflict', 'before'],
    ['resolveConflict', 'after'],
    ['advance', 'before'],
  ] as const)(
    'C81 the store fails at %s, %s it answered: pending as it was, and the next merge lands',
    async (name, when) => {
      const { filed } = await edits();
      await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
      await judge(world, world.reviewer, filed.proposal_id, 'approve');
      const before = await now(world, filed.proposal_id);
      broken[name] = when;
      expect(await codeOf(mergeBy(world, world.reviewer, filed.proposal_id))).toBe('STORE_UNAVAILABLE');
      expect(await now(world, filed.proposal_id)).toEqual(before);
      expect(before).toMatchObject({ status: 'pending', review_state: 'approved' });
      await mergeBy(world, world.reviewer, filed.proposal_id);
      expect(acceptedInMain(world).m).toBe('right');
      expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'resolved' }]);
    },
  );

  test('C81 the answer of the move is lost: the merge is completed, with what it wrote', async () => {
    const { filed } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs', note: 'n' });
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    const before = await now(world, filed.proposal_id);
    broken.advance = 'after';
    await mergeBy(world, world.reviewer, filed.proposal_id);
    expect(await show(world, filed)).toMatchObject({
      status: 'completed',
      strategy: 'merge_commit',
      review_state: 'approved',
      proposal_digest: before.proposal_digest,
      conflicts: [{ status: 'resolved' }],
      conflict_counts: { blocking: 1, unresolved: 0 },
      resolutions: [{ choice: 'theirs', note: 'n', ops: [{ op_type: 'correct_memory' }] }],
    });
  });

  test('C81 what a refused merge resolved counts as open again, here and for others', async () => {
    const { filed, theirs } = await edits();
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await judge(world, world.reviewer, filed.proposal_id, 'approve');
    broken.advance = 'before';
    await codeOf(mergeBy(world, world.reviewer, filed.proposal_id));
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'resolved' }]);
    const key = filed.conflicts[0]?.conflict_key ?? filed.proposal_digest;
    await world.charon.charon.dropResolution(filed.proposal_id, key);
    const twin = await proposeHead(world, theirs);
    for (const one of [filed, twin]) {
      expect(await show(world, one)).toMatchObject({
        conflicts: [{ status: 'open' }],
        conflict_counts: { unresolved: 1 },
      });
      expect(await codeOf(approveAndMerge(world, one))).toBe('OPEN_CONFLICT');
    }
  });

  test('C82 what a landed merge resolved stands for another proposal that says the same', async () => {
    const right = await branchWith(world, [correct('m', { content: 'right' })]);
    const same = await branchWith(world, [correct('m', { content: 'right' }), addAs('x', 'more')]);
    await land(world, [correct('m', { content: 'left' })]);
    const filed = await proposeHead(world, right);
    await draft(world, filed, 'concurrent_edit', { choice: 'ours', note: 'settled' });
    await approveAndMerge(world, filed);
    const later = await proposeHead(world, same);
    const shown = await show(world, later);
    expect(shown).toMatchObject({
      conflicts: [
        { conflict_type: 'concurrent_edit', status: 'resolved', conflict_key: filed.conflicts[0]?.conflict_key },
      ],
      conflict_counts: { blocking: 1, unresolved: 0 },
      resolutions: [{ choice: 'ours', note: 'settled' }],
    });
    await approveAndMerge(world, later);
    expect(acceptedInMain(world)).toEqual({ m: 'left', n: 'other', x: 'more' });
  });

  test('C79 a correction by inference of what a person approved is taken back, let through on the record, or edited', async () => {
    const inferred = { target_trust: 'user_approved', source_trust: 'inference' };
    for (const [choice, more, left] of [
      ['ours', {}, 'approved'],
      ['theirs', {}, 'inferred'],
      ['edit', { content: 'edited' }, 'edited'],
    ] as const) {
      const id = `trust-${choice}`;
      await land(world, [addAs(id, 'approved')]);
      const filed = await proposeHead(
        world,
        await branchWith(world, [correct(id, { content: 'inferred', ...inferred })]),
      );
      const { conflict_key: key } = await conflictOf(world, filed, 'trust_downgrade');
      const both = { conflict_key: key, choice: 'both' } as const;
      expect(await codeOf(world.charon.charon.draftResolution(world.owner, filed.proposal_id, both))).toBe(
        'INPUT_INVALID',
      );
      await draft(world, filed, 'trust_downgrade', { choice, ...more });
      expect((await approveAndMerge(world, filed)).strategy).toBe('merge_commit');
      expect(acceptedInMain(world)[id]).toBe(left);
    }
  });
});

describe('what is told late', () => {
  test('C83 what is kept late of a proposal that landed does not open its conflicts again', async () => {
    broken.persistConflicts = 'before';
    const { filed, theirs } = await edits();
    broken.persistConflicts = 'before';
    const twin = await proposeHead(world, theirs);
    await draft(world, filed, 'concurrent_edit', { choice: 'theirs' });
    await approveAndMerge(world, filed);
    await world.charon.charon.expireProposals();
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'resolved' }]);
    expect(keptFor(world, twin.proposal_id)).toEqual([]);
    expect(acceptedInMain(world).m).toBe('right');
    expect(world.charon.withDb((db) => db.query('SELECT * FROM store_chores').all())).toEqual([]);
  });

  test('C81 two proposals of one head at the same moment: one lands, and what the other kept withholds nothing', async () => {
    const { filed, theirs } = await edits();
    const twin = await proposeHead(world, theirs);
    for (const each of [filed, twin]) {
      await draft(world, each, 'concurrent_edit', { choice: 'theirs' });
      await judge(world, world.reviewer, each.proposal_id, 'approve');
    }
    const outcomes = await Promise.allSettled(
      [filed, twin].map((each) => mergeBy(world, world.reviewer, each.proposal_id)),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(acceptedInMain(world)).toEqual({ m: 'right', n: 'other' });
    const kept = [filed, twin].flatMap(({ proposal_id: id }) => keptFor(world, id));
    expect(kept.filter(({ status }) => status === 'open')).toEqual([]);
  });
});

describe('the end of a proposal', () => {
  test.each([
    ['canceled', () => world.charon.charon.cancel(world.author, filedId())],
    ['rejected', () => judge(world, world.reviewer, filedId(), 'reject')],
    [
      'canceled',
      async () => {
        world.charon.clock.advance(proposalLifeMs);
        await world.charon.charon.expireProposals();
      },
    ],
  ] as const)('C83 its conflicts are %s with it', async (status, end) => {
    const { filed } = await edits();
    current = filed.proposal_id;
    await draft(world, filed, 'concurrent_edit', { choice: 'ours' });
    const { proposal_digest: digest } = await now(world, filed.proposal_id);
    await end();
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status }]);
    expect(await now(world, filed.proposal_id)).toMatchObject({
      proposal_digest: digest,
      conflicts: [{ status }],
      conflict_counts: { unresolved: 0 },
    });
  });

  test('C83 a store that could not be told is told by the sweep, or at the next start, in order', async () => {
    broken.persistConflicts = 'before';
    const { filed } = await edits();
    expect(filed.conflicts).toHaveLength(1);
    expect(keptFor(world, filed.proposal_id)).toEqual([]);
    await world.charon.charon.expireProposals();
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'open' }]);

    broken.retireConflicts = 'before';
    await world.charon.charon.cancel(world.author, filed.proposal_id);
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'open' }]);
    world.charon = await world.charon.reopenAfterKill();
    await world.charon.charon.settle();
    expect(keptFor(world, filed.proposal_id)).toMatchObject([{ status: 'canceled' }]);
    expect(world.charon.withDb((db) => db.query('SELECT * FROM store_chores').all())).toEqual([]);
  });

  test('C83 filed anew after it was canceled, the same head is in conflict again and can be resolved', async () => {
    const { filed, theirs } = await edits();
    await world.charon.charon.cancel(world.author, filed.proposal_id);
    const again = await proposeHead(world, theirs);
    expect(await show(world, again)).toMatchObject({ conflicts: [{ status: 'open' }], resolutions: [] });
    await draft(world, again, 'concurrent_edit', { choice: 'theirs' });
    await approveAndMerge(world, again);
    expect(acceptedInMain(world).m).toBe('right');
  });
});

let current: string | undefined;
function filedId() {
  return proposalSchema.shape.proposal_id.parse(current);
}
