import { describe, expect, test } from 'vitest';
import { combinePlans } from '../../src-main/charon/rules/combine-plans.ts';
import { proposalOfNote, resolutionNote } from '../../src-main/charon/rules/resolution-note.ts';
import { planResolution } from '../../src-main/charon/rules/resolution-plan.ts';
import type { MemorySides, PlanFacts, ResolutionPlan } from '../../src-main/charon/rules/resolution-writing.ts';
import {
  type Conflict,
  conflictSchema,
  type ResolutionChoice,
  resolutionChoices,
} from '../../src-preload/contract/conflict.ts';
import { memoryIdBytesMax, summaryBytesMax } from '../../src-preload/contract/limits.ts';
import { type AcceptedMemory, acceptedMemorySchema } from '../../src-preload/contract/memory.ts';

const conflict = (type: Conflict['conflict_type']): Conflict =>
  conflictSchema.parse({
    conflict_id: 'a'.repeat(64),
    conflict_key: 'b'.repeat(64),
    project_id: 'demo',
    left_changeset_id: 'l',
    right_changeset_id: 'r',
    conflict_type: type,
    severity: 'blocking',
    summary: 's',
    status: 'open',
    created_at: '2026-11-30T12:00:00Z',
  });

const memory = (id: string, status: AcceptedMemory['status'] = 'active'): AcceptedMemory =>
  acceptedMemorySchema.parse({ memory_id: id, content: `the ${id}`, status, source: 'memory_git' });

const nothing = { rivals: [], kin: [] };
const sides = (id: string, more: Partial<MemorySides> = {}): MemorySides => ({
  memoryId: id,
  left: memory(id),
  right: memory(id),
  leftSuccession: nothing,
  rightSuccession: nothing,
  liveAt: undefined,
  ...more,
});

const facts = (memories: readonly MemorySides[], isPick = false): PlanFacts => ({
  proposalId: 'p',
  targetHead: 'target',
  proposalHead: '00000000-0000-7000-8000-0000deadbeef',
  isPick,
  memories,
});

const plan = (type: Conflict['conflict_type'], choice: ResolutionChoice, of: PlanFacts): ResolutionPlan =>
  planResolution(conflict(type), { conflict_key: conflict(type).conflict_key, choice, content: 'edited' }, of);

const opsOf = (made: ResolutionPlan): readonly string[] => {
  if (made.kind === 'impossible') throw new Error(made.reason);
  return made.ops.map(
    ({ op_type: type, target_event_id: target, payload }) =>
      `${type} ${target ?? ''}${payload?.restores === undefined ? '' : ` ${String(payload.restores)}`}`,
  );
};

describe('what a choice writes', () => {
  test('C79 of more than could be compared nothing can be chosen but to let it through on the record', () => {
    for (const type of ['contradictory_decision', 'incompatible_fact', 'boundary_violation'] as const) {
      const kinds = resolutionChoices.map((choice) => plan(type, choice, facts([])).kind);
      expect(kinds).toEqual(resolutionChoices.map((choice) => (choice === 'theirs' ? 'ops' : 'impossible')));
      expect(opsOf(plan(type, 'theirs', facts([])))).toEqual(['attach_verification ']);
    }
  });

  test('C79 what one side wrote is taken back where the target had it, and retired where it had not', () => {
    const both = facts([sides('known'), sides('new', { left: null })]);
    expect(opsOf(plan('boundary_violation', 'ours', both))).toEqual([
      'correct_memory known target',
      'supersede_memory new',
    ]);
    expect(opsOf(plan('boundary_violation', 'theirs', both))).toEqual([
      'attach_verification known',
      'attach_verification new',
    ]);
    expect(plan('boundary_violation', 'edit', both).kind).toBe('impossible');
  });

  test('C76 C77 both and edit are refused where nothing stands on a side, both also for an id that has no room', () => {
    const retired = { right: memory('m', 'superseded') };
    expect(plan('delete_modify', 'both', facts([sides('m', retired)])).kind).toBe('impossible');
    expect(
      plan('concurrent_edit', 'edit', facts([sides('m', { ...retired, left: memory('m', 'duplicate') })])).kind,
    ).toBe('impossible');
    const long = 'é'.repeat((memoryIdBytesMax - 8) / 2);
    expect(plan('concurrent_edit', 'both', facts([sides(long)])).kind).toBe('impossible');
    expect(plan('concurrent_edit', 'both', facts([sides(long.slice(1))])).kind).toBe('ops');
  });

  test('C77 what came in the place of a memory goes with the side that was not chosen, and comes back with the one that was', () => {
    const successions = {
      left: memory('m', 'duplicate'),
      right: memory('m', 'superseded'),
      leftSuccession: { rivals: [], kin: ['stays'] },
      rightSuccession: { rivals: ['r'], kin: [] },
    };
    expect(opsOf(plan('concurrent_edit', 'ours', facts([sides('m', successions)])))).toEqual([
      'correct_memory m target',
      'correct_memory stays target',
      'supersede_memory r',
    ]);
    expect(opsOf(plan('concurrent_edit', 'theirs', facts([sides('m', successions)])))).toEqual([
      'correct_memory m 00000000-0000-7000-8000-0000deadbeef',
    ]);
  });

  test('C89 of a memory that the target retired a pick is brought back where it was live, or refused', () => {
    const gone = { left: memory('m', 'superseded'), leftSuccession: { rivals: ['l'], kin: [] } };
    for (const choice of ['theirs', 'edit'] as const) {
      expect(plan('delete_modify', choice, facts([sides('m', gone)], true)).kind).toBe('impossible');
      const made = opsOf(plan('delete_modify', choice, facts([sides('m', { ...gone, liveAt: 'base' })], true)));
      expect(made.slice(0, 2)).toEqual(['correct_memory m base', 'supersede_memory l']);
      expect(made).toHaveLength(choice === 'edit' ? 3 : 2);
    }
  });
});

describe('resolutions beside each other', () => {
  const made = (choice: ResolutionChoice, ...ids: readonly [string, string]) =>
    plan('contradictory_decision', choice, facts([sides(ids[0]), sides(ids[1])]));

  test('C80 the same memory is retired once, and what one keeps another may not retire', () => {
    const [first, second, third] = combinePlans([
      made('ours', 'a', 'x'),
      made('ours', 'b', 'x'),
      made('theirs', 'a', 'c'),
    ]);
    if (first === undefined || second === undefined) throw new Error('three plans');
    expect([opsOf(first), opsOf(second)]).toEqual([['supersede_memory x'], []]);
    expect(third).toMatchObject({ kind: 'impossible', reason: expect.stringContaining('another resolution') });
  });

  test('C80 two texts for one memory contradict each other; a text and a choice that needs it live do not', () => {
    const kinds = (...plans: readonly ResolutionPlan[]) => combinePlans(plans).map(({ kind }) => kind);
    expect(kinds(made('edit', 'a', 'x'), made('edit', 'a', 'y'))).toEqual(['ops', 'impossible']);
    expect(kinds(made('edit', 'a', 'x'), made('ours', 'a', 'y'))).toEqual(['ops', 'ops']);
    expect(kinds(made('ours', 'a', 'y'), made('edit', 'a', 'x'))).toEqual(['ops', 'ops']);
  });
});

test('C81 the note of a resolved conflict says whose merge it was, and fits whatever the reviewer wrote', () => {
  const id = '00000000-0000-7000-8000-000000000001';
  for (const note of [undefined, '', 'why', '€'.repeat(2_000), '\ud800', 'By the merge of proposal x: ']) {
    const made = resolutionNote(id, 'ours', note);
    expect(proposalOfNote(made)).toBe(id);
    expect(Buffer.byteLength(made)).toBeLessThanOrEqual(summaryBytesMax);
    expect(made.isWellFormed()).toBe(true);
  }
  expect(resolutionNote(id, 'ours', 'why')).toBe(`By the merge of proposal ${id}: ours. why`);
  expect(proposalOfNote('settled elsewhere')).toBeUndefined();
});
