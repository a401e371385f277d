import { afterEach, beforeEach, expect, test } from 'vitest';
import { conflictsPerWrite } from '../../src-main/lethe/conflict-verbs.ts';
import type { ConflictStatus } from '../../src-preload/contract/conflict.ts';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { countRowsOf } from '../support/advance-requests.ts';
import { add, addAs, correct, historyBuilder, projectId } from '../support/history-builder.ts';
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

const statuses = (): readonly ConflictStatus[] => stage.list().map(({ status }) => status);
const retire = (number: number, status: 'rejected' | 'canceled' | 'superseded' = 'canceled'): Promise<number> =>
  stage.temp.lethe.retireConflicts({ projectId: stage.history.project, proposalId: proposal(number), status });
const unknown = digestSchema.parse('ab'.repeat(32));

test('L190 what detection finds is kept, open, as it was found', async () => {
  const found = stage.detect();
  expect(found.map(({ conflict_type: type, severity }) => [type, severity])).toEqual([
    ['contradictory_decision', 'blocking'],
  ]);
  stage.temp.clock.advance(1_500);
  const kept = await stage.keep();
  expect(kept).toEqual(
    found.map((one) => ({ ...one, proposal_id: proposal(1), created_at: '2026-11-30T12:00:01.5Z' })),
  );
  expect(first(kept).details?.memory_ids).toEqual(['ours-net', 'theirs-net']);
  expect(stage.list()).toEqual(kept);
});

test('L190 what detection does not find for these sides is refused by name, and nothing is kept', async () => {
  const { lethe } = stage.temp;
  const other = stage.sides({
    rightChangesetId: stage.history.head(ours),
    leftChangesetId: stage.history.head(theirs),
  });
  const foreign = first(stage.detect(other)).conflict_id;
  const [known] = stage.detect().map(idOf);
  for (const wrong of [unknown, foreign]) {
    const conflictIds = [known ?? unknown, wrong];
    await expect(
      lethe.persistConflicts({ sides: stage.sides(), proposalId: proposal(1), conflictIds }),
    ).rejects.toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(wrong) });
  }
  const away = { ...stage.sides(), projectId: projectId('none') };
  await expect(stage.keep(proposal(1), away)).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' });
  const strange = await historyBuilder(stage.temp, 'other').init();
  await expect(stage.keep(proposal(1), stage.sides({ rightChangesetId: strange.changeset_id }))).rejects.toMatchObject({
    code: 'CHANGESET_NOT_FOUND',
  });
  for (const table of ['memory_conflicts', 'memory_conflict_events', 'memory_conflict_bindings'])
    expect(countRowsOf(stage.temp, table)).toBe(0);
});

test('L191 keeping again adds no row, and another proposal is bound to the same one', async () => {
  const [kept] = [await stage.keep(), await stage.keep()];
  await stage.temp.lethe.persistConflicts({
    sides: stage.sides(),
    proposalId: proposal(1),
    conflictIds: [...kept, ...kept].map(idOf),
  });
  expect(countRowsOf(stage.temp, 'memory_conflict_events')).toBe(2);
  const again = await stage.keep(proposal(2));
  expect(again).toEqual(kept.map((one) => ({ ...one, proposal_id: proposal(2) })));
  expect(stage.list()).toEqual(again);
  for (const number of [1, 2])
    expect(
      stage.temp.lethe.listConflicts({ projectId: stage.history.project, proposalId: proposal(number), limit: 10 }),
    ).toEqual({ conflicts: kept.map((one) => ({ ...one, proposal_id: proposal(number) })) });
});

test('L192 a resolution is told with its time and note, and stands however often it is kept or resolved again', async () => {
  const { conflict_id: id } = first(await stage.keep());
  stage.temp.clock.advance(2_000);
  const resolved = await stage.resolve(id, 'one cable it is');
  expect(resolved).toMatchObject({
    conflict_id: id,
    status: 'resolved',
    resolved_at: '2026-11-30T12:00:02Z',
    resolution_note: 'one cable it is',
    proposal_id: proposal(1),
  });
  stage.temp.clock.advance(2_000);
  await expect(stage.resolve(id)).rejects.toMatchObject({ code: 'CONFLICT_NOT_FOUND' });
  for (const number of [1, 2])
    expect(await stage.keep(proposal(number))).toEqual([{ ...resolved, proposal_id: proposal(number) }]);
  expect(await retire(1)).toBe(0);
  expect(await retire(2)).toBe(0);
  expect(stage.list()).toEqual([{ ...resolved, proposal_id: proposal(2) }]);
});

test('L192 what is unknown, of another project or no id is not resolved', async () => {
  const { conflict_id: id } = first(await stage.keep());
  const other = historyBuilder(stage.temp, 'other');
  await other.init();
  const { lethe } = stage.temp;
  await expect(stage.resolve(unknown)).rejects.toMatchObject({ code: 'CONFLICT_NOT_FOUND' });
  await expect(lethe.resolveConflict({ projectId: other.project, conflictId: id, note: '' })).rejects.toMatchObject({
    code: 'CONFLICT_NOT_FOUND',
  });
  expect(statuses()).toEqual(['open']);
});

test('L193 a finding with the key of one that was resolved last carries its resolution; a changed one is asked anew', async () => {
  const before = first(await stage.keep());
  await stage.resolve(before.conflict_id, 'one cable it is');
  await stage.history.commit(ours, [add('nothing to do with it')]);
  stage.temp.clock.advance(3_000);
  const carried = first(await stage.keep(proposal(2)));
  expect(carried).toMatchObject({
    conflict_key: before.conflict_key,
    status: 'resolved',
    resolution_note: 'one cable it is',
    resolved_at: '2026-11-30T12:00:03Z',
    created_at: '2026-11-30T12:00:03Z',
  });
  expect(carried.conflict_id).not.toBe(before.conflict_id);
  await stage.history.commit(theirs, [correct('theirs-net', { content: 'use two cables' })]);
  const anew = first(await stage.keep(proposal(2)));
  expect(anew.conflict_key).not.toBe(before.conflict_key);
  expect(anew).toMatchObject({ status: 'open' });
  expect(anew).not.toHaveProperty('resolution_note');
});

test('L193 only the newest with the key counts: one that is open or retired carries nothing', async () => {
  const { conflict_id: id } = first(await stage.keep());
  await stage.history.commit(ours, [add('one')]);
  expect(first(await stage.keep())).toMatchObject({ status: 'open' });
  await stage.resolve(id);
  await stage.history.commit(ours, [add('two')]);
  expect(first(await stage.keep())).toMatchObject({ status: 'open' });
});

test('L194 retiring ends the open conflicts of a proposal that no other waiting one is bound to', async () => {
  await stage.keep(proposal(1));
  await stage.keep(proposal(2));
  expect(await retire(1)).toBe(0);
  expect(first(stage.list())).toMatchObject({ status: 'open', proposal_id: proposal(2) });
  stage.temp.clock.advance(1_000);
  expect(await retire(2, 'rejected')).toBe(1);
  expect(first(stage.list())).toMatchObject({ status: 'rejected', resolved_at: '2026-11-30T12:00:01Z' });
  expect(await retire(2)).toBe(0);
  expect(await retire(3)).toBe(0);
});

test('L194 many are kept and retired in short transactions, all of them', async () => {
  const scopes = Array.from({ length: conflictsPerWrite + 20 }, (_, index) => `scope-${index}`);
  for (const ref of [ours, theirs])
    await stage.history.commit(
      ref,
      scopes.map((scope) => addAs(`${ref}/${scope}`, `${ref} ${scope}`, decision(scope))),
    );
  const found = stage.detect().map(idOf);
  expect(found).toHaveLength(scopes.length + 1);
  expect((await stage.keep(proposal(1))).map(idOf)).toEqual(found);
  expect(statuses().filter((status) => status === 'open')).toHaveLength(found.length);
  expect(await retire(1)).toBe(found.length);
  expect(statuses().filter((status) => status === 'canceled')).toHaveLength(found.length);
});

test('L194 what was retired and is found again is open again, and can be resolved', async () => {
  for (const status of ['rejected', 'canceled', 'superseded'] as const) {
    const { conflict_id: id } = first(await stage.keep(proposal(1)));
    expect(await retire(1, status)).toBe(1);
    await expect(stage.resolve(id)).rejects.toMatchObject({ code: 'CONFLICT_NOT_FOUND' });
    const again = first(await stage.keep(proposal(2)));
    expect(again).toMatchObject({ conflict_id: id, status: 'open', proposal_id: proposal(2) });
    expect(again).not.toHaveProperty('resolved_at');
    await retire(2);
  }
  const { conflict_id: id } = first(await stage.keep(proposal(1)));
  expect(await stage.resolve(id)).toMatchObject({ status: 'resolved' });
  expect(countRowsOf(stage.temp, 'memory_conflicts')).toBe(1);
});

test('L195 conflicts are listed newest first, then by id, in pages, by status and by proposal', async () => {
  for (const scope of ['a', 'b', 'c'])
    for (const ref of [ours, theirs])
      await stage.history.commit(ref, [addAs(`${ref}/${scope}`, `${ref} ${scope}`, decision(scope))]);
  const early = await stage.keep(proposal(1));
  expect(early).toHaveLength(4);
  stage.temp.clock.advance(500);
  await stage.history.commit(ours, [add('moved on')]);
  const late = await stage.keep(proposal(2));
  const byId = (one: { conflict_id: string }, other: { conflict_id: string }): number =>
    one.conflict_id < other.conflict_id ? -1 : 1;
  const whole = [...late.toSorted(byId), ...early.toSorted(byId)];
  expect(stage.list()).toEqual(whole);
  const settled = new Set([whole[1], whole[6]].map((one) => one?.conflict_id));
  for (const one of whole) if (settled.has(one.conflict_id)) await stage.resolve(one.conflict_id);
  const { lethe } = stage.temp;
  const project = stage.history.project;
  const open = whole.filter((one) => !settled.has(one.conflict_id)).map(idOf);
  const ids = { all: whole.map(idOf), open, one: whole.slice(4).map(idOf) };
  for (const [filter, wanted] of [
    [{}, ids.all],
    [{ status: 'open' }, ids.open],
    [{ status: 'resolved' }, [...settled]],
    [{ status: 'deferred' }, []],
    [{ proposalId: proposal(1) }, ids.one],
    [{ proposalId: proposal(1), status: 'open' }, ids.one.filter((id) => !settled.has(id))],
    [{ proposalId: proposal(9) }, []],
  ] as const)
    for (const limit of [1, 2, 3, 500]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = lethe.listConflicts({ projectId: project, ...filter, limit, cursor });
        expect(page.conflicts.length).toBeLessThanOrEqual(limit);
        seen.push(...page.conflicts.map(idOf));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect([filter, seen]).toEqual([filter, wanted]);
    }
});

test('L195 a cursor is good for its own question; an unknown project has no list', async () => {
  await stage.keep();
  await stage.history.commit(ours, [add('moved on')]);
  await stage.keep();
  const { lethe } = stage.temp;
  const { nextCursor: cursor } = lethe.listConflicts({ projectId: stage.history.project, limit: 1 });
  expect(cursor).toBeDefined();
  const other = historyBuilder(stage.temp, 'other');
  await other.init();
  for (const [input, code] of [
    [{ projectId: stage.history.project, status: 'open', cursor }, 'CURSOR_INVALID'],
    [{ projectId: stage.history.project, proposalId: proposal(1), cursor }, 'CURSOR_INVALID'],
    [{ projectId: other.project, cursor }, 'CURSOR_INVALID'],
    [{ projectId: stage.history.project, cursor: 'x' }, 'CURSOR_INVALID'],
    [{ projectId: projectId('none') }, 'PROJECT_NOT_FOUND'],
  ] as const)
    expect(() => lethe.listConflicts({ limit: 1, ...input })).toThrow(expect.objectContaining({ code }));
  expect(lethe.listConflicts({ projectId: other.project, limit: 1 })).toEqual({ conflicts: [] });
});

test('L204 texts are kept well-formed and in their bounds', async () => {
  const { conflict_id: id } = first(await stage.keep());
  const { lethe } = stage.temp;
  const input = { projectId: stage.history.project, conflictId: id };
  await expect(lethe.resolveConflict({ ...input, note: 'é'.repeat(2_049) })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    data: { field: 'resolution_note' },
  });
  await expect(lethe.resolveConflict({ ...input, note: '', principal: 'p'.repeat(1_025) })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
  });
  const resolved = await lethe.resolveConflict({ ...input, note: `${'é'.repeat(2_046)}\ud800` });
  expect(resolved.resolution_note).toBe(`${'é'.repeat(2_046)}\ufffd`);
});

test('L205 what becomes of conflicts is told once it is durable', async () => {
  const { events } = stage.temp;
  const told = { kind: 'conflicts_changed', project_id: stage.history.project };
  events.length = 0;
  const { conflict_id: id } = first(await stage.keep());
  expect(events).toEqual([told]);
  await retire(1);
  await stage.keep();
  await stage.resolve(id);
  expect(events).toEqual([told, told, told, told]);
  await retire(1);
  await expect(stage.resolve(id)).rejects.toMatchObject({ code: 'CONFLICT_NOT_FOUND' });
  expect(events).toHaveLength(4);
});

test('L205 every status and every binding is on record with when, who, why and what was said', async () => {
  const { conflict_id: id } = first(await stage.keep(proposal(1)));
  await retire(1);
  await stage.keep(proposal(2));
  stage.temp.clock.advance(1_000);
  await stage.temp.lethe.resolveConflict({
    projectId: stage.history.project,
    conflictId: id,
    note: 'settled',
    principal: 'principal_00000000000000b1',
  });
  await stage.history.commit(ours, [add('moved on')]);
  await stage.keep(proposal(2));
  const [early, late] = ['2026-11-30T12:00:00Z', '2026-11-30T12:00:01Z'];
  const events = stage.temp.db
    .query<[], Record<string, string | number>>(
      'SELECT conflict, kind, status, proposal_id, at, principal, cause, note FROM memory_conflict_events ORDER BY event',
    )
    .all()
    .map((row) => Object.values(row));
  expect(events).toEqual([
    [1, 'status', 'open', '', early, '', 'persist', ''],
    [1, 'bound', '', proposal(1), early, '', 'persist', ''],
    [1, 'released', '', proposal(1), early, '', 'retire', ''],
    [1, 'status', 'canceled', '', early, '', 'retire', ''],
    [1, 'status', 'open', '', early, '', 'persist', ''],
    [1, 'bound', '', proposal(2), early, '', 'persist', ''],
    [1, 'status', 'resolved', '', late, 'principal_00000000000000b1', 'resolve', 'settled'],
    [2, 'status', 'open', '', late, '', 'persist', ''],
    [2, 'status', 'resolved', '', late, '', `carried:${id}`, 'settled'],
    [2, 'bound', '', proposal(2), late, '', 'persist', ''],
  ]);
});
