import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { parseDuration } from '../../src-main/shells/cli-duration.ts';
import { exitCodeOf } from '../../src-main/shells/cli-exit.ts';
import { nodeProblem } from '../../src-main/shells/cli-node.ts';
import { jsonLine, shortId, table, visible, visibleLines } from '../../src-main/shells/cli-text.ts';
import { faultKindByCode } from '../../src-preload/contract/faults.ts';

const hostile = 'a\u001b[31mred\u0007\u202egnp\u200b.\ufeff\u2028\ud800\u{e0041}\u009b';

test('X1 what a terminal would obey, hide or reorder by is written out', () => {
  expect(visible(hostile)).toBe('a\\u{1b}[31mred\\u{7}\\u{202e}gnp\\u{200b}.\\u{feff}\\u{2028}\ufffd\\u{e0041}\\u{9b}');
  expect(visible('größer 東京 🙂')).toBe('größer 東京 🙂');
  expect(visible('two\nlines')).toBe('two\\u{a}lines');
  expect(visibleLines('two\nlines\u0000', '> ')).toBe('> two\n> lines\\u{0}');
});

test('X1 JSON stays the same JSON and holds nothing that a terminal would obey', () => {
  const line = jsonLine({ text: hostile.toWellFormed(), fine: 'größer' });
  expect(JSON.parse(line)).toEqual({ text: hostile.toWellFormed(), fine: 'größer' });
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
  expect(line).toContain('größer');
});

test('X1 columns are aligned and their cells visible', () => {
  expect(
    table(
      ['ID', 'NAME'],
      [
        ['1', 'a\tb'],
        ['12345', 'c'],
      ],
    ),
  ).toBe('ID     NAME\n1      a\\u{9}b\n12345  c');
  expect(table(['ID'], [])).toBe('ID');
  expect(shortId('principal_0123456789abcdef')).toBe('principa…cdef');
  expect(shortId('short')).toBe('short');
});

test('X2 every refusal has its exit code', () => {
  const codes = Object.keys(faultKindByCode).map((code) => [
    code,
    exitCodeOf(new Fault(code as keyof typeof faultKindByCode, '')),
  ]);
  const byCode = Object.fromEntries(codes);
  expect(byCode).toMatchObject({
    SCOPE_MISSING: 1,
    REF_MOVED: 1,
    OP_INVALID: 1,
    PROJECT_NOT_FOUND: 1,
    READ_ONLY: 1,
    INPUT_INVALID: 2,
    HOME_LOCKED: 3,
    KEYS_INVALID: 3,
    PORT_TAKEN: 3,
    INTERNAL: 3,
  });
  expect(new Set(Object.values(byCode))).toEqual(new Set([1, 2, 3]));
});

test('X3 a life is days, hours or never', () => {
  expect(parseDuration('7d')).toBe(604_800_000);
  expect(parseDuration('12h')).toBe(43_200_000);
  expect(parseDuration('90d')).toBe(7_776_000_000);
  expect(parseDuration('never')).toBeNull();
  for (const text of ['', '7', 'd', '0h', '91d', '2161h', '-1d', '1.5d', '7 d', 'forever']) {
    expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  }
});

test('X4 an old Node is one clear line, a new one nothing', () => {
  for (const version of ['20.20.2', 'v18.0.0', '22.11.9'])
    expect(nodeProblem(version)).toMatch(/is too old: Memory Git needs Node 22\.12 or later/);
  for (const version of ['22.12.0', 'v24.9.0', '30.0.0']) expect(nodeProblem(version)).toBeUndefined();
});
