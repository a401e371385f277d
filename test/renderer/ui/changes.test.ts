import { expect, test } from 'vitest';
import {
  changeVerb,
  fieldChanges,
  findOther,
  groupChanges,
  measureChanges,
  summariseChanges,
} from '../../../src-renderer/ui/changes.ts';
import { diff, memory } from '../fixtures.ts';

test('a change is shown once, under its first category, and names the others', () => {
  const decision = { memory_id: 'd', op_ordinal: 0 };
  const groups = groupChanges([diff({ memories_added: [decision], decisions_changed: [decision] })]);
  expect(groups.map((group) => group.category)).toEqual(['memories_added']);
  expect(groups[0]?.changes.map((change) => change.also)).toEqual([['decisions_changed']]);
});

test('two memories changed by one op are two changes', () => {
  const groups = groupChanges([
    diff({
      records_superseded: [
        { memory_id: 'old', op_ordinal: 3 },
        { memory_id: 'new', op_ordinal: 3 },
      ],
    }),
  ]);
  expect(groups[0]?.changes).toHaveLength(2);
});

test('pages of one diff are put together, in order, without repeating what both list', () => {
  const groups = groupChanges([
    diff({ memories_added: [{ memory_id: 'a' }] }),
    diff({ memories_added: [{ memory_id: 'a' }, { memory_id: 'b' }], evidence_added_or_removed: [{ memory_id: 'c' }] }),
  ]);
  expect(groups.map((group) => [group.category, group.changes.map((change) => change.item.memory_id)])).toEqual([
    ['memories_added', ['a', 'b']],
    ['evidence_added_or_removed', ['c']],
  ]);
});

test('a diff is summed up in words', () => {
  const groups = groupChanges([
    diff({ memories_added: [{}, {}, {}], corrections_proposed: [{ memory_id: 'm0', op_ordinal: 9 }] }),
  ]);
  expect(summariseChanges(groups)).toBe('3 added, 1 corrected');
  expect(measureChanges(groups)).toBe('4 changes to 3 memories');
  expect(summariseChanges([])).toBe('no changes');
});

test('fields that differ beside the text are named, before and after', () => {
  const [group] = groupChanges([
    diff({
      corrections_proposed: [
        {
          before: memory('m', 'a', { visibility: 'internal', confidence: 0.5, tags: ['x', 'y'] }),
          after: memory('m', 'b', { visibility: 'public', confidence: 0.5, tags: ['y', 'x', 'z'], kind: 'fact' }),
        },
      ],
    }),
  ]);
  const item = group?.changes[0]?.item;
  expect(item === undefined ? [] : fieldChanges(item)).toEqual([
    'kind none → fact',
    'visibility internal → public',
    'tags x and y → x, y and z',
  ]);
});

test('an added memory has no field changes', () => {
  const item = groupChanges([diff({ memories_added: [{ after: memory('m', 'a') }] })])[0]?.changes[0]?.item;
  expect(item === undefined ? ['missing'] : fieldChanges(item)).toEqual([]);
});

test('a memory that came into being between the two states says so, whatever op touched it last', () => {
  const verbs = groupChanges([
    diff({
      memories_added: [
        { op_ordinal: 0, after: memory('a', 'x') },
        { op_ordinal: 1, op_type: 'correct_memory', after: memory('b', 'x') },
        { op_ordinal: 2, op_type: 'supersede_memory', after: memory('c', 'x') },
      ],
      corrections_proposed: [
        { op_ordinal: 3, op_type: 'correct_memory', before: memory('d', 'x'), after: memory('d', 'y') },
      ],
    }),
  ]).flatMap((group) => group.changes.map(changeVerb));
  expect(verbs).toEqual(['Added', 'Added, then corrected', 'Added in place of another', 'Corrected']);
});

test('a memory that was marked after it changed is named for the change', () => {
  const states = { before: memory('m', 'x'), after: memory('m', 'y') };
  const verbs = groupChanges([
    diff({
      memories_added: [{ memory_id: 'a', op_type: 'attach_evidence', after: memory('a', 'x') }],
      corrections_proposed: [{ memory_id: 'b', op_ordinal: 1, op_type: 'attach_verification', ...states }],
      records_superseded: [{ memory_id: 'c', op_ordinal: 2, op_type: 'propose_deprecation', ...states }],
      decisions_changed: [
        { memory_id: 'd', op_ordinal: 3, op_type: 'propose_deprecation', ...states },
        { memory_id: 'e', op_ordinal: 4, op_type: 'attach_evidence', ...states },
      ],
      duplicates_detected: [{ memory_id: 'f', op_ordinal: 5, op_type: 'mark_duplicate', before: memory('f', 'x') }],
      evidence_added_or_removed: [{ memory_id: 'g', op_ordinal: 6, op_type: 'attach_verification', ...states }],
    }),
  ]).flatMap((group) => group.changes.map(changeVerb));
  expect(verbs).toEqual([
    'Added',
    'Corrected',
    'Superseded',
    'Deprecation proposed',
    'Deprecation proposed',
    'Marked duplicate',
    'Verification attached',
  ]);
});

test('the other memory of a relationship and of a duplicate is named, wherever the op names it', () => {
  const items = groupChanges([
    diff({
      relationships_added: [
        { memory_id: 'a', op_type: 'add_relationship', resulting_event_id: 'b', payload: { kind: 'supports' } },
        { memory_id: 'a', op_ordinal: 1, op_type: 'add_relationship', payload: { kind: 'k', to_memory_id: 'c' } },
      ],
      duplicates_detected: [
        { memory_id: 'd', op_ordinal: 2, op_type: 'mark_duplicate', payload: { duplicate_of: 'e' } },
      ],
      memories_added: [{ memory_id: 'f', op_ordinal: 3 }],
    }),
  ]).flatMap((group) => group.changes.map((change) => change.item));
  expect(items.map(findOther)).toEqual([
    undefined,
    { words: 'supports', memoryId: 'b' },
    { words: 'k', memoryId: 'c' },
    { words: 'duplicate of', memoryId: 'e' },
  ]);
});

test('a relationship says nothing of what else became of the memory that it starts at', () => {
  const states = { before: memory('m', 'a'), after: memory('m', 'b', { kind: 'fact' }) };
  const [change] = groupChanges([diff({ relationships_added: [{ op_type: 'add_relationship', ...states }] })]).flatMap(
    (group) => group.changes,
  );
  expect(change === undefined ? ['missing'] : fieldChanges(change.item)).toEqual([]);
});

test('a proposed deprecation is a field that differs', () => {
  const [change] = groupChanges([
    diff({
      decisions_changed: [{ before: memory('m', 'a'), after: memory('m', 'a', { status: 'deprecation_proposed' }) }],
    }),
  ]).flatMap((group) => group.changes);
  expect(change === undefined ? [] : fieldChanges(change.item)).toEqual(['status active → deprecation proposed']);
});
