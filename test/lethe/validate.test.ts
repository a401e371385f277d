import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeOps, validateStateless } from '../../src-main/lethe/rules/validate-ops.ts';
import { opTypes } from '../../src-preload/contract/changeset.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { add, addAs, correct, type OpDraft, supersede } from '../support/history-builder.ts';
import { judge, refusal } from './judge-ops.ts';

const attach = (payload: JsonObject, target?: string): OpDraft => ({
  op_type: 'attach_evidence',
  ...(target === undefined ? {} : { target_event_id: target }),
  payload,
});

const full: JsonObject = {
  content: 'text',
  kind: 'fact',
  event_type: 'log',
  scope: 'net',
  visibility: 'shared',
  tags: ['a', 'b'],
  confidence: 1,
  fact_key: 'k',
  subject: 's',
  valid_from: '2026',
  valid_to: '2027',
  protected: true,
  approval: 'user_approved',
  summary: 'sum',
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

describe('the form of ops', () => {
  test('L27 a refusal names index, op type and reason, and its data says the same', () => {
    const ops = normalizeOps([add('fine'), add(' ')].map((draft, ordinal) => ({ ordinal, ...draft })));
    expect(() => validateStateless(ops)).toThrow(
      expect.objectContaining({
        message: refusal('add_memory', 'content must be a string that is not blank', 1),
        data: { op_index: 1, op_type: 'add_memory', reason: 'content must be a string that is not blank' },
      }),
    );
  });

  test('L27 the same input is refused the same, in whatever order its keys come', () => {
    const wrong = { zeta: 1, content: '', alpha: 2, kind: 'nonsense' };
    const turned = Object.fromEntries(Object.entries(wrong).reverse());
    const first = judge([{ op_type: 'add_memory', payload: wrong }]);
    expect(first).toBe(refusal('add_memory', 'payload field "alpha" is not supported for add_memory'));
    expect(judge([{ op_type: 'add_memory', payload: turned }])).toBe(first);
  });

  test('L27 ordinals are the places in the list, empty ids and payloads are absent', () => {
    const ops = normalizeOps([
      { ordinal: 7, op_type: 'supersede_memory', target_event_id: 'x', resulting_event_id: '', payload: {} },
      { ordinal: 7, op_type: 'add_memory', payload: { content: 'a\ud800b' } },
    ]);
    expect(ops).toEqual([
      { ordinal: 0, op_type: 'supersede_memory', target_event_id: 'x' },
      { ordinal: 1, op_type: 'add_memory', payload: { content: 'a\ufffdb' } },
    ]);
  });

  test('L26 no ops and too many ops are refused as input', () => {
    expect(() => normalizeOps([])).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', data: { field: 'ops' } }));
    const many = Array.from({ length: 10_001 }, (_, ordinal) => ({ ordinal, ...add('x') }));
    expect(() => normalizeOps(many)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
    expect(normalizeOps(many.slice(1))).toHaveLength(10_000);
  });

  test('L26 a payload nested too deep is refused', () => {
    const nested = (levels: number): JsonValue => (levels === 0 ? 1 : { in: nested(levels - 1) });
    expect(judge([add('x', { subject: nested(63) })])).toBe('taken');
    expect(judge([add('x', { subject: nested(64) })])).toContain('nested deeper than 64 levels');
  });
});

describe('fields of a memory', () => {
  test('L28 content must be there and not blank', () => {
    for (const payload of [
      {},
      { kind: 'fact' },
      { content: '' },
      { content: ' \u0085\u2003' },
      { content: 5 },
      { content: null },
    ]) {
      expect(judge([{ op_type: 'add_memory', payload }])).toBe(
        refusal('add_memory', 'content must be a string that is not blank'),
      );
    }
    expect(judge([add('\ufeff')])).toBe('taken');
  });

  test('L28 every documented key is taken', () => {
    expect(judge([add('text', { ...full, memory_id: 'm', event_id: 'm' })])).toBe('taken');
    const change = { ...full, target_trust: 'inference', source_trust: 'user_approved' };
    expect(judge([correct('x', change)], ['x'])).toBe('taken');
    expect(judge([supersede('x', { ...change, memory_id: 'm', event_id: 'm' })], ['x'])).toBe('taken');
    expect(judge([attach({ summary: 's', reviewer: 'r', kind: 'k', source: 's', note: 'n', status: 's' })])).toBe(
      'taken',
    );
  });

  const wrong: readonly [JsonObject, string][] = [
    [{ kind: 'nonsense' }, 'kind must be one of'],
    [{ kind: 1 }, 'kind must be one of'],
    [{ scope: '' }, 'scope must be a non-empty string'],
    [{ scope: 1 }, 'scope must be a non-empty string'],
    [{ visibility: 'secret' }, 'visibility must be one of'],
    [{ confidence: 1.01 }, 'confidence must be a number from 0 to 1'],
    [{ confidence: -0.01 }, 'confidence must be a number from 0 to 1'],
    [{ confidence: '1' }, 'confidence must be a number from 0 to 1'],
    [{ tags: 'a' }, 'tags must be an array of strings'],
    [{ tags: ['a', 1] }, 'tags[1] must be a non-empty string'],
    [{ tags: [''] }, 'tags[0] must be a non-empty string'],
    [{ content: 123 }, 'content must be a string that is not blank'],
  ];
  test.each(wrong)('L29 add, correct and supersede all refuse %j', (payload, reason) => {
    expect(judge([add('x', payload)])).toContain(`ops[0] (add_memory): ${reason}`);
    expect(judge([correct('x', payload)], ['x'])).toContain(`ops[0] (correct_memory): ${reason}`);
    expect(judge([supersede('x', { content: 'y', ...payload })], ['x'])).toContain(
      `ops[0] (supersede_memory): ${reason}`,
    );
  });

  test('L29 the bounds of confidence are taken', () => {
    for (const confidence of [0, -0, 1]) expect(judge([add('x', { confidence })])).toBe('taken');
  });

  test('L30 an unknown key is refused by name, restores among them', () => {
    expect(judge([add('x', { colour: 'red' })])).toBe(
      refusal('add_memory', 'payload field "colour" is not supported for add_memory'),
    );
    expect(judge([correct('x', { restores: 'c' })], ['x'])).toBe(
      refusal('correct_memory', 'payload field "restores" is not supported for correct_memory'),
    );
    expect(judge([correct('x', { memory_id: 'y' })], ['x'])).toContain('payload field "memory_id" is not supported');
    expect(judge([add('x', { target_trust: 'inference' })])).toContain(
      '"target_trust" is not supported for add_memory',
    );
    expect(judge([attach({ summary: 's', reviewer: 'r', content: 'c' })])).toContain(
      '"content" is not supported for attach_evidence',
    );
    expect(judge([{ op_type: 'add_memory', payload: JSON.parse('{"content":"x","__proto__":1}') }])).toContain(
      '"__proto__" is not supported',
    );
  });

  test('L31 sizes at the bound are taken, one byte more is refused by name', () => {
    const sized: readonly [string, (text: string) => OpDraft, number][] = [
      ['content', (text) => add(text), 16_384],
      ['summary', (text) => add('x', { summary: text }), 4_096],
      ['scope', (text) => add('x', { scope: text }), 1_024],
      ['fact_key', (text) => add('x', { fact_key: text }), 1_024],
      ['memory_id', (text) => add('x', { memory_id: text }), 1_024],
      ['event_id', (text) => add('x', { event_id: text }), 1_024],
      ['resulting_event_id', (text) => addAs(text, 'x'), 1_024],
      ['note', (text) => attach({ summary: 's', reviewer: 'r', note: text }), 4_096],
    ];
    for (const [field, make, max] of sized) {
      expect([field, judge([make('é'.repeat(max / 2))])]).toEqual([field, 'taken']);
      expect(judge([make(`${'é'.repeat(max / 2)}a`)])).toContain(`${field} is over ${max} bytes`);
    }
    expect(judge([correct('y'.repeat(1_025), { content: 'x' })])).toContain('target_event_id is over 1024 bytes');
  });

  test('L31 tags: 64 of 128 bytes are taken, one more or one longer is refused', () => {
    const tag = 'x'.repeat(128);
    expect(judge([add('x', { tags: Array.from({ length: 64 }, () => tag) })])).toBe('taken');
    expect(judge([add('x', { tags: Array.from({ length: 65 }, () => 'x') })])).toContain(
      'tags has more than 64 entries',
    );
    expect(judge([add('x', { tags: [`${tag}x`] })])).toContain('tags[0] is over 128 bytes');
  });

  test('L31 a whole payload of 65 536 bytes is taken, one byte more is refused', () => {
    const filled = (bytes: number): OpDraft => {
      const empty = JSON.stringify({ content: 'x', subject: [''] }).length;
      return add('x', { subject: ['y'.repeat(bytes - empty)] });
    };
    expect(judge([filled(65_536)])).toBe('taken');
    expect(judge([filled(65_537)])).toBe(refusal('add_memory', 'payload is over 65536 bytes'));
  });
});

describe('identities and targets', () => {
  test('L32 the names of the resulting memory agree', () => {
    expect(judge([{ ...addAs('a', 'x'), payload: { content: 'x', memory_id: 'a', event_id: 'a' } }])).toBe('taken');
    for (const payload of [{ memory_id: 'b' }, { event_id: 'b' }]) {
      expect(judge([{ ...addAs('a', 'x'), payload: { content: 'x', ...payload } }])).toContain(
        'disagrees with another name',
      );
      expect(judge([supersede('t', { content: 'x', ...payload }, 'a')], ['t'])).toContain(
        'disagrees with another name',
      );
    }
    expect(judge([add('x', { memory_id: 'a', event_id: 'b' })])).toContain('event_id disagrees');
    expect(judge([add('x', { memory_id: 7 })])).toContain('memory_id must be a string');
  });

  test('L32 a memory is not corrected or superseded into itself', () => {
    expect(judge([correct('x', { content: 'y' }, 'x')], ['x'])).toContain('must be another than target_event_id');
    expect(judge([supersede('x', { content: 'y' }, 'x')], ['x'])).toContain('must be another than target_event_id');
    expect(judge([supersede('x', { content: 'y', memory_id: 'x' })], ['x'])).toContain(
      'must be another than target_event_id',
    );
    expect(judge([supersede('x', { content: 'y', event_id: 'x' })], ['x'])).toContain(
      'must be another than target_event_id',
    );
  });

  test('L33 a user_approved memory is not superseded by inference', () => {
    for (const source_trust of ['inference', 'model_inference']) {
      expect(judge([supersede('x', { target_trust: 'user_approved', source_trust })], ['x'])).toContain(
        'not superseded by inference',
      );
    }
    expect(judge([supersede('x', { target_trust: 'user_approved', source_trust: 'user_approved' })], ['x'])).toBe(
      'taken',
    );
    expect(
      judge([correct('x', { content: 'y', target_trust: 'user_approved', source_trust: 'inference' })], ['x']),
    ).toBe('taken');
  });

  test('L34 a target must be active in the parent state', () => {
    expect(judge([correct('x', { content: 'y' })])).toContain('target "x" is not active in the parent state');
    expect(judge([supersede('x')])).toContain('target "x" is not active in the parent state');
    expect(judge([{ op_type: 'correct_memory', payload: { content: 'y' } }])).toContain('target_event_id is required');
    expect(judge([correct('x', {})], ['x'])).toContain('payload must say what is corrected');
  });

  test('L34 a new id must not be active yet', () => {
    expect(judge([addAs('x', 'y')], ['x'])).toContain('memory "x" is already active');
    expect(judge([add('y', { memory_id: 'x' })], ['x'])).toContain('memory "x" is already active');
    expect(judge([correct('t', { content: 'y' }, 'x')], ['t', 'x'])).toContain('memory "x" is already active');
    expect(judge([supersede('t', { content: 'y', event_id: 'x' })], ['t', 'x'])).toContain(
      'memory "x" is already active',
    );
    expect(judge([supersede('t', { event_id: 'x' })], ['t', 'x'])).toBe('taken');
  });

  test('L35 ops see what those before them did', () => {
    expect(
      judge([
        addAs('a', 'x'),
        correct('a', { content: 'y' }),
        supersede('a', { content: 'z' }, 'b'),
        correct('b', { content: 'w' }, 'c'),
      ]),
    ).toBe('taken');
    expect(judge([addAs('a', 'x'), addAs('a', 'y')])).toContain('ops[1] (add_memory): memory "a" is already active');
    expect(judge([supersede('a'), correct('a', { content: 'y' })], ['a'])).toContain(
      'ops[1] (correct_memory): target "a" is not active',
    );
    expect(judge([correct('a', { content: 'y' }, 'b'), correct('a', { content: 'z' })], ['a'])).toContain(
      'ops[1] (correct_memory): target "a" is not active',
    );
    expect(judge([supersede('a'), addAs('a', 'again')], ['a'])).toBe('taken');
    expect(judge([correct('a', { content: 'y' }), correct('a', { content: 'z' })], ['a'])).toBe('taken');
    expect(judge([correct('b', { content: 'y' }), addAs('b', 'late')])).toContain('ops[0] (correct_memory)');
  });

  test('L36 an attestation without a target says what and whence', () => {
    expect(judge([attach({})])).toContain('payload must not be empty');
    expect(judge([attach({ reviewer: 'r' })])).toContain('summary must be a non-empty string');
    expect(judge([attach({ summary: 5, reviewer: 'r' })])).toContain('summary must be a non-empty string');
    expect(judge([attach({ summary: 's' })])).toContain('one of reviewer, proposal_id');
    expect(judge([attach({ summary: 's', reviewer: '' })])).toContain('one of reviewer, proposal_id');
    expect(
      judge([
        {
          op_type: 'attach_verification',
          payload: { kind: 'reviewed_merge', summary: 's', proposal_id: 'p', source_changeset_id: 'c' },
        },
      ]),
    ).toBe('taken');
  });

  test('L37 an op type that is none of the eight is refused by name', () => {
    expect(judge([JSON.parse('{"op_type":"drop_table"}')])).toBe(
      refusal('"drop_table"', 'op_type is not one of the known ones'),
    );
  });

  test('L27 whatever comes, the answer is a refusal in that form or the ops are taken', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true }),
      fc.constant(null),
      fc.boolean(),
      fc.array(fc.string()),
    );
    const key = fc.oneof(
      fc.constantFrom(
        ...Object.keys(full),
        'memory_id',
        'restores',
        'reason',
        'duplicate_of',
        'from_memory_id',
        'note',
      ),
      fc.string(),
    );
    const draft = fc.record(
      {
        op_type: fc.constantFrom(...opTypes),
        target_event_id: fc.constantFrom('', 'a', 'b'),
        resulting_event_id: fc.constantFrom('', 'a', 'c'),
        payload: fc.dictionary(key, value),
      },
      { requiredKeys: ['op_type'] },
    );
    fc.assert(
      fc.property(fc.array(draft, { minLength: 1, maxLength: 4 }), (drafts) => {
        const answer = judge(JSON.parse(JSON.stringify(drafts)), ['a']);
        expect(answer === 'taken' || answer.startsWith('invalid semantic operation: ops[')).toBe(true);
        expect(judge(JSON.parse(JSON.stringify(drafts)), ['a'])).toBe(answer);
      }),
      { numRuns: 400 },
    );
  });
});
