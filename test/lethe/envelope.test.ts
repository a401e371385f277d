import { describe, expect, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import { type AdvanceClaims, type EnvelopeJudgement, judgeEnvelope } from '../../src-main/lethe/rules/envelope.ts';
import {
  findSeparationFault,
  findShapeFault,
  listPicked,
  type ShapeFacts,
} from '../../src-main/lethe/rules/merge-shape.ts';
import type { Op } from '../../src-preload/contract/changeset.ts';
import { changesetId, fakeClock, fakeEpochMs, projectId, seededIds, testMergeKey } from '../support/history-builder.ts';
import { authorize, mergeEnvelope } from '../support/merge-envelope.ts';

const expected = changesetId('00000000-0000-7000-8000-000000000001');
const next = changesetId('00000000-0000-7000-8000-000000000002');
const move = { project: projectId('demo'), expected, next };
const steer = { clock: fakeClock(), ids: seededIds('envelope') };
const keys = new Map([
  ['k1', testMergeKey],
  ['old', Buffer.from('ffffffffffffffffffffffffffffffff')],
]);

function claims(envelope: MergeEnvelope, more: Partial<AdvanceClaims> = {}): AdvanceClaims {
  const { project_id, ref_name, expected_head, new_head, proposal_id, reviewer_principal } = envelope;
  return { project_id, ref_name, expected_head, new_head, proposal_id, reviewer_principal, ...more };
}

/** Kind and reason of a judgement of a signed envelope, changed where a test says so. */
function judge(more: Partial<MergeEnvelope> = {}, request: Partial<AdvanceClaims> = {}, nowMs = fakeEpochMs): string {
  const envelope = mergeEnvelope(steer, move, more);
  const own = mergeEnvelope(steer, move);
  return told(judgeEnvelope(authorize(envelope), claims(own, request), keys, nowMs));
}

function told(judgement: EnvelopeJudgement): string {
  if (judgement.kind === 'accepted') return 'accepted';
  return `${judgement.kind} ${judgement.fault.code}: ${String(judgement.fault.data.reason)}`;
}

const at = (ms: number): string => toTimestamp(fakeEpochMs + ms);

describe('the signature', () => {
  test('L44 an envelope that fits is accepted, in any spelling of its JSON', () => {
    const envelope = mergeEnvelope(steer, move);
    const { signature } = JSON.parse(authorize(envelope));
    const spelled = {
      Signature: signature.toUpperCase(),
      ENVELOPE: {
        more: 'unsigned',
        ...Object.fromEntries(
          Object.entries(envelope)
            .reverse()
            .map(([name, value]) => [name.toUpperCase(), value]),
        ),
      },
    };
    expect(told(judgeEnvelope(authorize(envelope), claims(envelope), keys, fakeEpochMs))).toBe('accepted');
    expect(told(judgeEnvelope(JSON.stringify(spelled, null, 2), claims(envelope), keys, fakeEpochMs))).toBe('accepted');
  });

  test('L44 any configured key verifies, under its own id only', () => {
    const envelope = mergeEnvelope(steer, move, { key_id: 'old' });
    const other = keys.get('old') ?? testMergeKey;
    expect(told(judgeEnvelope(authorize(envelope, other), claims(envelope), keys, fakeEpochMs))).toBe('accepted');
    expect(told(judgeEnvelope(authorize(envelope), claims(envelope), keys, fakeEpochMs))).toBe(
      'unverified MERGE_AUTHORIZATION_REFUSED: the signature does not verify',
    );
    expect(judge({ key_id: '' })).toBe(
      'unverified MERGE_AUTHORIZATION_REFUSED: key_id names no merge key of this store',
    );
    expect(judge({ key_id: 'k2' })).toBe(
      'unverified MERGE_AUTHORIZATION_REFUSED: key_id names no merge key of this store',
    );
  });

  test('L43 what is no authorization is malformed before any key is looked at', () => {
    const own = claims(mergeEnvelope(steer, move));
    for (const text of [
      '',
      'x',
      '[]',
      'null',
      '{}',
      '{"envelope":null}',
      '{"envelope":[],"signature":""}',
      '{"envelope":{"version":2},"signature":"x"}',
      `"${'x'.repeat(40_000)}"`,
    ]) {
      expect(told(judgeEnvelope(text, own, keys, fakeEpochMs))).toContain(
        'unverified MERGE_AUTHORIZATION_MALFORMED: it is not',
      );
    }
  });

  test('L43 another version is malformed, also with a good signature', () => {
    for (const version of ['memory-git-merge/v1', '', 'memory-git-merge/v2 '])
      expect(judge({ version })).toContain('unverified MERGE_AUTHORIZATION_MALFORMED: version');
  });

  test('L43 a signature of another form is malformed, one of another text is refused', () => {
    const envelope = mergeEnvelope(steer, move);
    for (const signature of ['', 'ab', 'g'.repeat(64), 'a'.repeat(65)]) {
      expect(
        told(judgeEnvelope(JSON.stringify({ envelope, signature }), claims(envelope), keys, fakeEpochMs)),
      ).toContain('unverified MERGE_AUTHORIZATION_MALFORMED: signature');
    }
    expect(
      told(judgeEnvelope(JSON.stringify({ envelope, signature: 'a'.repeat(64) }), claims(envelope), keys, fakeEpochMs)),
    ).toContain('unverified MERGE_AUTHORIZATION_REFUSED');
  });

  test('L43 every signed field is covered: changing any one breaks the signature', () => {
    const envelope = mergeEnvelope(steer, move);
    const { signature } = JSON.parse(authorize(envelope));
    for (const field of Object.keys(envelope).filter((name) => name !== 'version' && name !== 'key_id')) {
      const tampered = JSON.stringify({ envelope: { ...envelope, [field]: 'x' }, signature });
      expect([field, told(judgeEnvelope(tampered, claims(envelope), keys, fakeEpochMs))]).toEqual([
        field,
        'unverified MERGE_AUTHORIZATION_REFUSED: the signature does not verify',
      ]);
    }
  });
});

describe('the fields', () => {
  const claimed = ['project_id', 'ref_name', 'expected_head', 'new_head', 'proposal_id', 'reviewer_principal'] as const;
  test.each(claimed)('L45 %s must be that of the request', (field) => {
    expect(judge({}, { [field]: 'other' })).toBe(
      `refused MERGE_AUTHORIZATION_MALFORMED: ${field} differs from the request`,
    );
    expect(judge({ [field]: 'other' })).toBe(
      `refused MERGE_AUTHORIZATION_MALFORMED: ${field} differs from the request`,
    );
  });

  test('L45 the others must be well-formed', () => {
    expect(judge({ merger_principal: '' })).toContain('merger_principal is missing');
    for (const strategy of ['', 'squash', 'FAST_FORWARD']) expect(judge({ strategy })).toContain('strategy must be');
    for (const nonce of ['', 'a'.repeat(31), 'A'.repeat(32), 'g'.repeat(32), 'a'.repeat(33)])
      expect(judge({ nonce })).toContain('nonce must be');
    for (const proposal_digest of ['', 'a'.repeat(63), 'A'.repeat(64)])
      expect(judge({ proposal_digest })).toContain('proposal_digest must be');
  });
});

describe('the time', () => {
  test('L46 the last moments at which an envelope is good', () => {
    expect(judge({ issued_at: at(60_000), expires_at: at(60_001) })).toBe('accepted');
    expect(judge({ issued_at: at(0), expires_at: at(900_000) })).toBe('accepted');
    expect(judge({ issued_at: at(-120_000), expires_at: at(-59_999) })).toBe('accepted');
    expect(judge({ issued_at: '2026-11-30T13:00:00.123456789+01:00', expires_at: at(1_000) })).toBe('accepted');
  });

  test('L46 a moment later or earlier it is not', () => {
    expect(judge({ issued_at: at(60_001), expires_at: at(120_000) })).toContain('issued_at lies in the future');
    expect(judge({ issued_at: at(0), expires_at: at(900_001) })).toContain('15 minutes at most');
    expect(judge({ issued_at: at(-120_000), expires_at: at(-60_000) })).toContain('it has expired');
    expect(judge({ issued_at: at(0), expires_at: at(0) })).toContain('expires_at must be after issued_at');
    expect(judge({ issued_at: at(0), expires_at: at(-1) })).toContain('expires_at must be after issued_at');
  });

  test('L46 times that are none are malformed', () => {
    for (const text of ['', 'now', '2026-11-30', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '1796040000']) {
      expect(judge({ issued_at: text })).toContain('issued_at must be an RFC 3339 time');
      expect(judge({ expires_at: text })).toContain('expires_at must be an RFC 3339 time');
    }
  });
});

describe('the shape', () => {
  /** A line a ← b ← c with x beside it, and merges of x into a. */
  const history: Record<string, string[]> = {
    a: [],
    b: ['a'],
    c: ['b'],
    x: [],
    m: ['a', 'x'],
    wrong: ['x', 'a'],
    three: ['a', 'x', 'b'],
    back: ['b', 'a'],
    picked: ['a'],
    unpicked: ['a'],
    foreign: ['a'],
    two: ['a', 'x'],
  };
  const picked = (ordinal: number, from?: string): Op => ({
    ordinal,
    op_type: 'add_memory',
    payload: { content: 'one', ...(from === undefined ? {} : { cherrypicked_from: from }) },
  });
  const ops: Record<string, Op[]> = {
    picked: [picked(0, 'x'), picked(1, 'b')],
    unpicked: [picked(0, 'x'), picked(1)],
    foreign: [picked(0, 'nowhere')],
    two: [picked(0, 'x')],
  };
  const contains = (head: string, changeset: string): boolean =>
    head === changeset || (history[head] ?? []).some((parent) => contains(parent, changeset));
  const shape = (strategy: ShapeFacts['strategy'], from: string, to: string, author = 'merger'): string => {
    const newHead = { changesetId: to, parentIds: history[to] ?? [], author, ops: ops[to] ?? [] };
    const exists = (changeset: string): boolean => changeset in history;
    const fault = findShapeFault({ strategy, expectedHead: from, newHead, merger: 'merger', exists, contains });
    return fault === undefined ? 'fits' : fault.code;
  };

  test('L49 fast_forward', () => {
    expect(shape('fast_forward', 'a', 'b')).toBe('fits');
    expect(shape('fast_forward', 'a', 'c')).toBe('fits');
    expect(shape('fast_forward', 'a', 'a')).toBe('NOTHING_TO_MERGE');
    expect(shape('fast_forward', 'b', 'a')).toBe('MERGE_SHAPE');
    expect(shape('fast_forward', 'a', 'x')).toBe('MERGE_SHAPE');
  });

  test('L50 merge_commit', () => {
    expect(shape('merge_commit', 'a', 'm')).toBe('fits');
    expect(shape('merge_commit', 'a', 'm', 'someone else')).toBe('MERGE_SHAPE');
    expect(shape('merge_commit', 'a', 'wrong')).toBe('MERGE_SHAPE');
    expect(shape('merge_commit', 'a', 'three')).toBe('MERGE_SHAPE');
    expect(shape('merge_commit', 'a', 'b')).toBe('MERGE_SHAPE');
    expect(shape('merge_commit', 'b', 'back')).toBe('NOTHING_TO_MERGE');
  });

  test('L51 cherry_pick', () => {
    expect(shape('cherry_pick', 'a', 'picked')).toBe('fits');
    expect(shape('cherry_pick', 'a', 'picked', 'someone else')).toBe('MERGE_SHAPE');
    expect(shape('cherry_pick', 'b', 'picked')).toBe('MERGE_SHAPE');
    expect(shape('cherry_pick', 'a', 'two')).toBe('MERGE_SHAPE');
    expect(shape('cherry_pick', 'a', 'unpicked')).toBe('MERGE_SHAPE');
    expect(shape('cherry_pick', 'a', 'foreign')).toBe('MERGE_SHAPE');
    expect(listPicked([...(ops.picked ?? []), picked(2, 'x')])).toEqual(['x', 'b']);
  });

  test('L52 separation of duties', () => {
    const judgeDuties = (reviewer: string, merger: string, owner?: string): unknown =>
      findSeparationFault({ originators: ['ann', 'bob'], reviewer, merger, owner })?.data;
    expect(judgeDuties('carl', 'dora')).toBeUndefined();
    expect(judgeDuties('ann', 'dora')).toEqual({ role: 'reviewer' });
    expect(judgeDuties('carl', 'bob')).toEqual({ role: 'merger' });
    expect(judgeDuties('ann', 'ann', 'ann')).toBeUndefined();
    expect(judgeDuties('ann', 'ann')).toEqual({ role: 'reviewer' });
    expect(judgeDuties('ann', 'carl', 'ann')).toEqual({ role: 'reviewer' });
    expect(judgeDuties('carl', 'ann', 'ann')).toEqual({ role: 'merger' });
    expect(judgeDuties('bob', 'bob', 'ann')).toEqual({ role: 'reviewer' });
  });
});
