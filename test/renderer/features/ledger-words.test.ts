import { expect, test } from 'vitest';
import { type LedgerVersion, ledgerVersionSchema } from '../../../src-preload/contract/ledger.ts';
import {
  changeSides,
  derivedWords,
  drawVersions,
  pathWords,
  pretty,
  versionWords,
} from '../../../src-renderer/features/ledger/ledger-words.ts';
import { sizeWords } from '../../../src-renderer/ui/words.ts';
import { noon } from '../fixtures.ts';

const digest = 'a'.repeat(64);
const put = (version: number, rest: Record<string, unknown> = {}): LedgerVersion =>
  ledgerVersionSchema.parse({
    ...{ kind: 'put', version, written_at: noon, created_at: noon, importance: 'normal', source: null, confidence: 1 },
    ...{ expires_at: null, size_bytes: 2, ttl: null, value_digest: digest, redacted: false, digest },
    ...rest,
  });
const gone = (version: number): LedgerVersion =>
  ledgerVersionSchema.parse({ kind: 'delete', version, written_at: noon, digest });

test('versions say how they came about and what they declare', () => {
  expect([put(1), put(2, { redacted: true }), gone(3)].map((one) => versionWords(one).text)).toEqual([
    ...['put', 'put, redacted', 'deleted'],
  ]);
  expect(derivedWords(put(6, { derived_from: { start_version: 2, end_version: 5 } }))).toBe('derived from v2 to v5');
  expect(derivedWords(put(6, { derived_from: { start_version: 2, end_version: 2 } }))).toBe('derived from v2');
  expect([derivedWords(put(1)), derivedWords(gone(2))]).toEqual([undefined, undefined]);
});

test('versions are drawn oldest first, with the range that each was derived from', () => {
  const versions = [put(4, { derived_from: { start_version: 1, end_version: 2 } }), gone(3), put(2), put(1)];
  expect(drawVersions(versions, 20)).toEqual([
    { version: 1, x: 10, kind: 'put', from: undefined },
    { version: 2, x: 30, kind: 'put', from: undefined },
    { version: 3, x: 50, kind: 'delete', from: undefined },
    { version: 4, x: 70, kind: 'put', from: { x1: 10, x2: 30 } },
  ]);
});

test('a range is cut to what is drawn, and is not drawn when nothing of it is', () => {
  const wide = { derived_from: { start_version: 1, end_version: 90 } };
  expect(drawVersions([put(91, wide), put(90)], 20).at(-1)?.from).toEqual({ x1: 10, x2: 10 });
  expect(drawVersions([put(91, { derived_from: { start_version: 1, end_version: 2 } })], 20)[0]?.from).toBeUndefined();
});

test('sizes, paths and values read as people read them', () => {
  expect([sizeWords(812), sizeWords(1_400), sizeWords(2_500_000)]).toEqual(['812 B', '1.4 kB', '2.5 MB']);
  expect([pathWords(''), pathWords('/theme/a~1b~0c')]).toEqual(['the whole value', 'theme / a/b~c']);
  expect([pretty('text'), pretty({ a: 1 }), pretty(null)]).toEqual(['text', '{\n  "a": 1\n}', 'null']);
  expect(changeSides({ kind: 'added', path: '/a', after: 'x' })).toEqual({ before: '', after: 'x' });
  expect(changeSides({ kind: 'changed', path: '/a', before: 1, after: [2] })).toEqual({
    before: '1',
    after: '[\n  2\n]',
  });
});
