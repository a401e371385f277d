import { expect, test } from 'vitest';
import { attachmentWords, listAttached } from '../../../src-renderer/ui/attachments.ts';
import { memory } from '../fixtures.ts';

test('an attachment is one line, its summary first', () => {
  expect(attachmentWords({ kind: 'log', summary: 'it ran', status: 7 })).toBe('it ran · kind: log · status: 7');
});

test('what is attached is listed, equal ones once, and how many older ones are not', () => {
  const carried = memory('m', 'x', {
    evidence: [{ note: 'a' }, { note: 'a' }, { note: 'b' }],
    evidence_total: 12,
    verification: [{ status: 'passed' }],
  });
  expect(listAttached(carried)).toEqual({
    lines: [
      { list: 'evidence', line: 'note: a', change: undefined },
      { list: 'evidence', line: 'note: b', change: undefined },
      { list: 'verification', line: 'status: passed', change: undefined },
    ],
    older: 9,
  });
  expect(listAttached(null)).toEqual({ lines: [], older: 0 });
});

test('compared with an earlier state, what came is new and what went is gone', () => {
  const before = memory('m', 'x', { evidence: [{ note: 'a' }, { note: 'b' }] });
  const after = memory('m', 'x', { evidence: [{ note: 'b' }, { note: 'c' }] });
  const changes = listAttached(after, before).lines.map(({ line, change }) => [line, change]);
  expect(changes).toEqual([
    ['note: b', undefined],
    ['note: c', 'new'],
    ['note: a', 'gone'],
  ]);
  const none = listAttached(memory('m', 'x'), before).lines.map(({ change }) => change);
  expect(none).toEqual(['gone', 'gone']);
});

test('what is no longer among the newest is not called gone, and a new memory has nothing to compare with', () => {
  const before = memory('m', 'x', { evidence: [{ note: 'a' }] });
  const after = memory('m', 'x', { evidence: [{ note: 'b' }], evidence_total: 2 });
  expect(listAttached(after, before).lines.map(({ line, change }) => [line, change])).toEqual([['note: b', 'new']]);
  expect(listAttached(after, null).lines.map(({ change }) => change)).toEqual([undefined]);
});
