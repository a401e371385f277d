import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { findWithheld, unresolvedListedMax } from '../../src-main/lethe/projection/withheld.ts';
import { findChangesetRow } from '../../src-main/lethe/tables/changesets.ts';
import type { ChangesetId, MemoryId } from '../../src-preload/contract/ids.ts';
import { add, addAs, refName } from '../support/history-builder.ts';
import {
  type ConflictStage,
  decision,
  first,
  idOf,
  openConflictStage,
  ours,
  proposal,
  theirs,
} from './conflict-stage.ts';

let stage: ConflictStage;
beforeEach(async () => {
  stage = await openConflictStage();
});
afterEach(() => stage.temp.remove());

const both = 'refs/topics/both';
const main = 'refs/shared/main';

/** What is kept back at a ref's head: conflict ids listed, and ids of memories with the conflict of each. */
function at(ref: string): { readonly listed: readonly string[]; readonly withheld: Record<string, string> } {
  const { db } = stage.temp;
  const sight = openSight(db);
  const head = sight.places.get(findChangesetRow(db, stage.history.head(ref))?.seq ?? 0);
  const { conflictIds, memories } = findWithheld(sight, head, stage.history.project);
  const named = [...memories].map(([number, conflict]) => {
    const row = db
      .query<[number], { memory_id: string }>('SELECT memory_id FROM memory_ids WHERE number = ?')
      .get(number);
    return [row?.memory_id ?? 'none', conflict] as const;
  });
  return { listed: conflictIds, withheld: Object.fromEntries(named) };
}

/** A branch that has both sides. */
async function join(): Promise<void> {
  await stage.history.branch(both, ours);
  await stage.history.mergeInto(both, theirs);
}

const nothing = { listed: [], withheld: {} };

describe('at a head', () => {
  test('L197 an open blocking conflict withholds exactly the memories that it names where both its sides are seen', async () => {
    const { conflict_id: id } = first(await stage.keep());
    await join();
    expect(at(both)).toEqual({ listed: [id], withheld: { 'ours-net': id, 'theirs-net': id } });
    for (const ref of [ours, theirs]) expect(at(ref)).toEqual({ listed: [id], withheld: {} });
    await stage.resolve(id);
    expect(at(both)).toEqual(nothing);
  });

  test('L197 one that is retired withholds nothing any more', async () => {
    await stage.keep();
    await join();
    await stage.temp.lethe.retireConflicts({
      projectId: stage.history.project,
      proposalId: proposal(1),
      status: 'canceled',
    });
    expect(at(both)).toEqual(nothing);
  });

  test('L197 a conflict that does not block withholds nothing, but is listed', async () => {
    await stage.history.commit(ours, [addAs('ours-same', 'the same words')]);
    await stage.history.commit(theirs, [addAs('theirs-same', 'the same words')]);
    const [blocking, info, ...others] = await stage.keep();
    expect([blocking?.severity, info?.severity, others]).toEqual(['blocking', 'info', []]);
    await join();
    const { listed, withheld } = at(both);
    expect(new Set(listed)).toEqual(new Set([blocking, info].map((one) => one?.conflict_id)));
    expect(Object.keys(withheld).sort()).toEqual(['ours-net', 'theirs-net']);
  });

  test('L197 of two conflicts that withhold a memory the older one is told', async () => {
    const older = first(await stage.keep());
    await stage.history.commit(ours, [add('moved on')]);
    const younger = first(await stage.keep());
    await join();
    expect(at(both)).toEqual({
      listed: [older.conflict_id, younger.conflict_id],
      withheld: { 'ours-net': older.conflict_id, 'theirs-net': older.conflict_id },
    });
    await stage.resolve(older.conflict_id);
    expect(at(both).withheld).toEqual({ 'ours-net': younger.conflict_id, 'theirs-net': younger.conflict_id });
  });

  test('L198 an open conflict is listed where one of its sides is seen, and not on other branches or before', async () => {
    await stage.history.branch('refs/topics/else', main);
    await stage.history.commit('refs/topics/else', [add('else')]);
    await stage.keep();
    for (const ref of ['refs/topics/else', main]) expect(at(ref)).toEqual(nothing);
    const { listed } = at(theirs);
    expect(listed).toHaveLength(1);
  });

  test('L198 the oldest are listed, a hundred at most, and all of them withhold', async () => {
    const scopes = Array.from({ length: unresolvedListedMax + 4 }, (_, index) => `scope-${index}`);
    await stage.history.commit(
      ours,
      scopes.map((scope) => addAs(`ours/${scope}`, `yes to ${scope}`, decision(scope))),
    );
    await stage.history.commit(
      theirs,
      scopes.map((scope) => addAs(`theirs/${scope}`, `no to ${scope}`, decision(scope))),
    );
    const kept = await stage.keep();
    expect(kept).toHaveLength(scopes.length + 1);
    await join();
    const { listed, withheld } = at(both);
    expect(listed).toEqual(kept.slice(0, unresolvedListedMax).map(idOf));
    expect(Object.keys(withheld)).toHaveLength(2 * kept.length);
  });

  test('L199 what is kept back costs by the pairs with open conflicts, not by the conflicts or the history', async () => {
    const scopes = Array.from({ length: 30 }, (_, index) => `scope-${index}`);
    const statementsAt = (ref: string): number => {
      const before = stage.temp.db.counters.statements;
      at(ref);
      return stage.temp.db.counters.statements - before;
    };
    await stage.history.branch('refs/topics/else', main);
    const rowsAt = (ref: string): number => {
      const before = stage.temp.db.counters.rowsRead;
      at(ref);
      return stage.temp.db.counters.rowsRead - before;
    };
    await stage.keep();
    const few = [statementsAt(ours), rowsAt('refs/topics/else')];
    for (const [ref, word] of [
      [ours, 'yes'],
      [theirs, 'no'],
    ] as const) {
      await stage.history.commit(
        ref,
        scopes.map((scope) => addAs(`${ref}/${scope}`, `${word} to ${scope}`, decision(scope))),
      );
      for (let index = 0; index < 50; index += 1) await stage.history.commit(ref, [add(`${ref} ${index}`)]);
    }
    await stage.temp.lethe.retireConflicts({
      projectId: stage.history.project,
      proposalId: proposal(1),
      status: 'canceled',
    });
    expect(await stage.keep(proposal(2))).toHaveLength(31);
    expect([statementsAt(ours), rowsAt('refs/topics/else')]).toEqual(few);
  });
});

describe('in an answer', () => {
  const project = () => stage.history.project;
  const contextAt = (ref: string) =>
    stage.temp.lethe.context({ projectId: project(), refName: refName(ref), limit: 50 });

  test('L197 a context leaves out what is withheld, says why, and has it again when the conflict is resolved', async () => {
    await join();
    const before = contextAt(both);
    const { conflict_id: id } = first(await stage.keep());
    const ids = (ref: string): readonly MemoryId[] => contextAt(ref).memories.map((memory) => memory.memory_id);
    // The merge has both sides, and the heads of the branches have not moved since.
    expect(ids(both)).not.toContain('ours-net');
    expect(ids(both)).not.toContain('theirs-net');
    expect(contextAt(both)).toMatchObject({
      total_active: before.total_active - 2,
      unresolved_conflicts: [id],
      exclusion_reasons: {
        'ours-net': `withheld by unresolved conflict ${id}`,
        'theirs-net': `withheld by unresolved conflict ${id}`,
      },
    });
    expect(ids(ours)).toContain('ours-net');
    await stage.resolve(id);
    expect(contextAt(both)).toEqual(before);
  });

  test('L202 a diff lists the open conflicts between its two states', async () => {
    const { conflict_id: id } = first(await stage.keep());
    const unresolved = (base: ChangesetId, target: ChangesetId): readonly string[] =>
      stage.temp.lethe.diff({ baseChangesetId: base, targetChangesetId: target, side: 'both', limit: 50 })
        .unresolved_conflicts;
    const [left, right] = [stage.history.head(ours), stage.history.head(theirs)];
    await join();
    const joined = stage.history.head(both);
    await stage.history.commit(both, [add('later')]);
    const later = stage.history.head(both);
    expect(unresolved(left, right)).toEqual([id]);
    expect(unresolved(right, left)).toEqual([id]);
    expect(unresolved(stage.root, joined)).toEqual([id]);
    // One side alone, what both share, and what the base has by itself are no conflict between the two.
    expect(unresolved(stage.root, right)).toEqual([]);
    expect(unresolved(joined, later)).toEqual([]);
    expect(unresolved(joined, stage.root)).toEqual([]);
    await stage.resolve(id);
    expect(unresolved(left, right)).toEqual([]);
  });
});
