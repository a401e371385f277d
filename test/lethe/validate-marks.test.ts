import { describe, expect, test } from 'vitest';
import { opTypes } from '../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import {
  addAs,
  attachEvidence,
  attachVerification,
  correct,
  deprecate,
  duplicate,
  type OpDraft,
  relate,
  supersede,
} from '../support/history-builder.ts';
import { judge, refusal } from './judge-ops.ts';

const common: JsonObject = {
  summary: 's',
  project_id: 'p',
  topic_id: 't',
  actor_id: 'a',
  from_visibility: 'private',
  to_visibility: 'shared',
  reviewer: 'r',
  proposal_id: 'p',
  source_changeset_id: 'c',
  rejected_from: 'x',
  cherrypicked_from: 'y',
  left_branch: 'l',
  right_branch: 'r',
};
const notActive = 'is not active in the parent state: read it at the parents and target a memory that is';

/** Each op in a form that is taken where `a` and `b` are active, with more keys in its payload. */
const whole: Readonly<Record<string, (more?: JsonObject) => OpDraft>> = {
  mark_duplicate: (more = {}) => duplicate('a', 'b', more),
  add_relationship: (more = {}) => relate('a', 'supports', 'b', more),
  propose_deprecation: (more = {}) => ({
    op_type: 'propose_deprecation',
    target_event_id: 'a',
    payload: { reason: 'r', ...more },
  }),
  attach_evidence: (more = {}) => attachEvidence('a', { kind: 'log', ...more }),
  attach_verification: (more = {}) => attachVerification('a', { kind: 'log', ...more }),
};
const own: Readonly<Record<string, JsonObject>> = {
  mark_duplicate: { duplicate_id: 'a', duplicate_of: 'b' },
  add_relationship: { kind: 'k', from_memory_id: 'a', to_memory_id: 'b' },
  propose_deprecation: { reason: 'r' },
  attach_evidence: { kind: 'k', source: 's', note: 'n', status: 's' },
  attach_verification: { kind: 'k', source: 's', note: 'n', status: 's' },
};
const both = ['a', 'b'];

describe('keys', () => {
  test.each(Object.entries(whole))('L120 %s takes its own keys and the common ones', (opType, make) => {
    expect(judge([make()], both)).toBe('taken');
    expect(judge([make({ ...common, ...own[opType] })], both)).toBe('taken');
  });

  test.each(Object.entries(whole))('L120 %s refuses the keys of the others by name', (opType, make) => {
    const known = new Set(Object.keys({ ...common, ...own[opType] }));
    const others = ['content', 'tags', 'confidence', 'memory_id', 'event_id', 'target_trust', 'restores', '__proto__'];
    for (const key of [...others, ...Object.values(own).flatMap((keys) => Object.keys(keys))]) {
      if (known.has(key)) continue;
      const more: JsonObject = JSON.parse(`{${JSON.stringify(key)}:"x"}`);
      expect(judge([make(more)], both)).toBe(
        refusal(opType, `payload field ${JSON.stringify(key)} is not supported for ${opType}`),
      );
    }
  });

  test('L120 there is one closed set of keys for each of the eight ops', () => {
    for (const op_type of opTypes) {
      expect(judge([{ op_type, target_event_id: 'a', payload: { nonsense: 1 } }], both)).toBe(
        refusal(op_type, `payload field "nonsense" is not supported for ${op_type}`),
      );
    }
  });

  test.each([
    ['reason', 4_096, (text: string) => deprecate('a', text)],
    ['note', 4_096, (text: string) => attachEvidence('a', { note: text })],
    ['summary', 4_096, (text: string) => attachVerification('a', { summary: text })],
    ['source', 1_024, (text: string) => attachEvidence('a', { source: text })],
    ['status', 1_024, (text: string) => attachVerification('a', { status: text })],
    ['kind', 1_024, (text: string) => relate('a', text, 'b')],
    ['left_branch', 1_024, (text: string) => duplicate('a', 'b', { left_branch: text })],
  ])('L31 %s of %i bytes is taken and one byte more is refused', (field, max, make) => {
    expect(judge([make('é'.repeat(max / 2))], both)).toBe('taken');
    expect(judge([make(`${'é'.repeat(max / 2)}a`)], both)).toContain(`: payload field ${field} is over ${max} bytes`);
  });

  test.each([
    ['target_event_id', (id: string) => duplicate(id, 'b')],
    ['resulting_event_id', (id: string) => duplicate('b', id)],
    ['payload field duplicate_id', (id: string) => duplicate('', 'b', { duplicate_id: id })],
    ['payload field duplicate_of', (id: string) => duplicate('b', '', { duplicate_of: id })],
    ['payload field from_memory_id', (id: string) => relate('', 'k', 'b', { from_memory_id: id })],
    ['payload field to_memory_id', (id: string) => relate('b', 'k', '', { to_memory_id: id })],
    ['target_event_id', (id: string) => deprecate(id)],
    ['target_event_id', (id: string) => attachEvidence(id, { note: 'n' })],
  ])('L31 an id in %s has 1 024 bytes at most', (field, make) => {
    const id = 'x'.repeat(1_024);
    expect(judge([make(id)], [id, 'b'])).toBe('taken');
    expect(judge([make(`${id}x`)], [`${id}x`, 'b'])).toContain(`: ${field} is over 1024 bytes`);
  });

  test('L31 a whole payload of 65 536 bytes is taken, one byte more is refused', () => {
    const filled = (bytes: number): OpDraft => {
      const empty = JSON.stringify({ source: [''] }).length;
      return attachEvidence('a', { source: ['y'.repeat(bytes - empty)] });
    };
    expect(judge([filled(65_536)], both)).toBe('taken');
    expect(judge([filled(65_537)], both)).toBe(refusal('attach_evidence', 'payload is over 65536 bytes'));
  });
});

describe('what an op must say', () => {
  test('L121 a duplicate names itself and the memory that stays, in any of the places', () => {
    const pairs: readonly OpDraft[] = [
      { op_type: 'mark_duplicate', target_event_id: 'a', resulting_event_id: 'b' },
      { op_type: 'mark_duplicate', target_event_id: 'a', payload: { duplicate_of: 'b' } },
      { op_type: 'mark_duplicate', resulting_event_id: 'b', payload: { duplicate_id: 'a' } },
      duplicate('a', 'b', { duplicate_id: 'a', duplicate_of: 'b' }),
      duplicate('a', 'b', { duplicate_id: '', duplicate_of: '' }),
    ];
    for (const pair of pairs) expect(judge([pair], both)).toBe('taken');
  });

  const wrongDuplicates: readonly [OpDraft, string][] = [
    [{ op_type: 'mark_duplicate' }, 'target_event_id or duplicate_id must name the duplicate'],
    [duplicate('a', ''), 'duplicate_of or resulting_event_id must name the memory that stays'],
    [duplicate('', 'b'), 'target_event_id or duplicate_id must name the duplicate'],
    [duplicate('a', 'b', { duplicate_id: 'c' }), 'target_event_id and duplicate_id disagree about the duplicate'],
    [
      duplicate('a', 'b', { duplicate_of: 'c' }),
      'duplicate_of and resulting_event_id disagree about the memory that stays',
    ],
    [duplicate('a', 'a'), 'the duplicate and the memory that stays must be two different memories'],
    [duplicate('a', 'b', { duplicate_id: 7 }), 'duplicate_id must be a string'],
    [duplicate('a', 'b', { duplicate_of: null }), 'duplicate_of must be a string'],
  ];
  test.each(wrongDuplicates)('L121 the duplicate %j is refused', (op, reason) => {
    expect(judge([op], ['a', 'b', 'c'])).toContain(`ops[0] (mark_duplicate): ${reason}`);
  });

  const wrongRelationships: readonly [OpDraft, string][] = [
    [relate('', 'k', 'b'), 'target_event_id or from_memory_id must name the memory that it starts at'],
    [relate('a', 'k', ''), 'resulting_event_id or to_memory_id must name the memory that it leads to'],
    [relate('a', 'k', 'b', { from_memory_id: 'c' }), 'target_event_id and from_memory_id disagree'],
    [relate('a', 'k', 'b', { to_memory_id: 'c' }), 'resulting_event_id and to_memory_id disagree'],
    [relate('a', 'k', 'a'), 'the memory that it starts at and the memory that it leads to must be two different'],
    [relate('a', 'k', 'b', { to_memory_id: [] }), 'to_memory_id must be a string'],
  ];
  test.each(wrongRelationships)('L121 the relationship %j is refused', (op, reason) => {
    expect(judge([op], ['a', 'b', 'c'])).toContain(`ops[0] (add_relationship): ${reason}`);
  });

  test('L122 a relationship has a kind', () => {
    for (const payload of [{}, { kind: '' }, { kind: 5 }, { kind: null }]) {
      const op: OpDraft = { ...relate('a', '', 'b'), payload };
      expect(judge([op], both)).toBe(refusal('add_relationship', 'kind must be a non-empty string'));
    }
  });

  test('L122 a proposed deprecation has a target and a reason', () => {
    for (const payload of [{}, { reason: '' }, { reason: 5 }, { summary: 's' }]) {
      expect(judge([{ op_type: 'propose_deprecation', target_event_id: 'a', payload }], both)).toBe(
        refusal('propose_deprecation', 'reason must be a non-empty string'),
      );
    }
    expect(judge([deprecate('')])).toBe(refusal('propose_deprecation', 'target_event_id is required'));
  });

  test('L122 an attachment has a payload; with a target it needs nothing more', () => {
    for (const op_type of ['attach_evidence', 'attach_verification'] as const) {
      expect(judge([{ op_type, target_event_id: 'a' }], both)).toBe(refusal(op_type, 'payload must not be empty'));
      expect(judge([{ op_type, target_event_id: 'a', payload: { status: 'passed' } }], both)).toBe('taken');
      expect(judge([{ op_type, payload: { status: 'passed' } }], both)).toContain('when there is no target');
    }
  });
});

describe('against the state of the parents', () => {
  test.each([
    ['mark_duplicate', duplicate('x', 'a'), 'the duplicate "x"'],
    ['mark_duplicate', duplicate('a', 'x'), 'the memory that stays "x"'],
    ['mark_duplicate', duplicate('a', '', { duplicate_of: 'x' }), 'the memory that stays "x"'],
    ['add_relationship', relate('x', 'k', 'a'), 'the memory that it starts at "x"'],
    ['add_relationship', relate('a', 'k', 'x'), 'the memory that it leads to "x"'],
    ['add_relationship', relate('', 'k', 'a', { from_memory_id: 'x' }), 'the memory that it starts at "x"'],
    ['propose_deprecation', deprecate('x'), 'target "x"'],
    ['attach_evidence', attachEvidence('x', { note: 'n' }), 'target "x"'],
    ['attach_verification', attachVerification('x', { note: 'n' }), 'target "x"'],
  ])('L123 %s of a memory that is not active is refused: %j', (opType, op, name) => {
    expect(judge([op], ['a'])).toBe(refusal(opType, `${name} ${notActive}`));
  });

  test('L35 L124 ops see what those before them did', () => {
    const made = [addAs('a', 'one'), addAs('b', 'two')];
    expect(
      judge([...made, relate('a', 'k', 'b'), attachEvidence('a', { note: 'n' }), deprecate('a'), duplicate('a', 'b')]),
    ).toBe('taken');
    expect(judge([supersede('a', { content: 'new' }, 'c'), addAs('d', 'x'), duplicate('d', 'c')], both)).toBe('taken');
  });

  test.each([
    [correct('a', { content: 'x' }), 'target "a"'],
    [supersede('a'), 'target "a"'],
    [duplicate('a', 'b'), 'the duplicate "a"'],
    [duplicate('b', 'a'), 'the memory that stays "a"'],
    [deprecate('a'), 'target "a"'],
    [attachEvidence('a', { note: 'n' }), 'target "a"'],
    [relate('a', 'k', 'b'), 'the memory that it starts at "a"'],
    [relate('b', 'k', 'a'), 'the memory that it leads to "a"'],
  ])('L124 after a duplicate of "a" the op %j is refused', (op, name) => {
    expect(judge([duplicate('', 'b', { duplicate_id: 'a' }), op], both)).toBe(
      refusal(op.op_type, `${name} ${notActive}`, 1),
    );
  });

  test('L124 its id is free again, and other ops take no memory away', () => {
    expect(judge([duplicate('a', 'b'), addAs('a', 'again')], both)).toBe('taken');
    const marks = [deprecate('a'), attachEvidence('a', { note: 'n' }), relate('a', 'k', 'b')];
    expect(judge([...marks, ...marks, correct('a', { content: 'x' })], both)).toBe('taken');
  });
});
