import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPlace,
  ledgerKeyLengthMax,
  type Place,
  toLedgerKey,
  toLedgerPrefix,
} from '../../examples/langgraph-store/ledger-key.ts';
import { matchesCondition, sharedLabels } from '../../examples/langgraph-store/matching.ts';
import { ledgerKeySchema } from '../../src-preload/contract/ledger.ts';

/** Texts of periods, hex digits and all else that could be taken for something escaped, beside any text at all. */
const text = (minLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({
      minLength,
      maxLength: 8,
      unit: fc.constantFrom('.', '.', '.', '4', '1', 'e', 'z', 'é', ' ', '日', '😀'),
    }),
    fc.string({ minLength, maxLength: 6, unit: 'binary' }),
  );
const label = text(1).filter((name) => !/[.:\0]/.test(name));
const place = fc.record({ namespace: fc.array(label, { minLength: 1, maxLength: 3 }), key: text(0) });

function keyOf(at: Place): string {
  const key = toLedgerKey(at);
  if (key === undefined) throw new Error('the place has a ledger key');
  return key;
}

describe('a place in a ledger key', () => {
  test.each([
    [['users', '42'], 'prefs', 'users:42:prefs'],
    [['users', 'me@example'], 'v1.2', 'users:me..40.example:v1.2'],
    [['a'], 'b:c', 'a:b..3a.c'],
    [['a'], '', 'a:'],
    [['日本'], 'é😀', '..65e5...672c.:..e9...1f600.'],
    [['a'], '..41.', 'a:..2e..41.'],
    [['a'], '...', 'a:..2e...2e..'],
  ])('%j %j is %s', (namespace, key, expected) => {
    expect(toLedgerKey({ namespace, key })).toBe(expected);
  });

  test('every place comes back from its key, and no two places share one', () => {
    fc.assert(
      fc.property(place, place, (one, other) => {
        const [key, otherKey] = [toLedgerKey(one), toLedgerKey(other)];
        fc.pre(key !== undefined && otherKey !== undefined);
        expect(findPlace(key)).toEqual(one);
        expect(key === otherKey).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 2_000 },
    );
  });

  test('every key that is made is one that the ledger takes', () => {
    fc.assert(
      fc.property(place, (at) => {
        const key = toLedgerKey(at);
        fc.pre(key !== undefined);
        expect(ledgerKeySchema.safeParse(key).success).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a key that is found to be a place is the key of that place, and any other is of none', () => {
    const characters = fc.constantFrom('.', '.', ':', '4', '1', 'e', 'z', '-');
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 20, unit: characters }), (key) => {
        const at = findPlace(key);
        if (at !== undefined) expect(keyOf(at)).toBe(key);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['plain', ':a', 'a::b', 'a.b:c', '..41.:b', 'a:..41.', 'a:..041.', 'a:..110000.', 'a:b..c', '..2e.:b'])(
    '%s is the key of no place',
    (key) => {
      expect(findPlace(key)).toBeUndefined();
    },
  );

  test('a prefix is that of the items in and below its namespace, and of no other', () => {
    fc.assert(
      fc.property(place, fc.array(label, { maxLength: 2 }), (at, namespace) => {
        const [key, prefix] = [toLedgerKey(at), toLedgerPrefix(namespace)];
        fc.pre(key !== undefined && prefix !== undefined);
        const isBelow = namespace.every((name, index) => at.namespace[index] === name);
        expect(key.startsWith(prefix)).toBe(isBelow);
      }),
    );
    expect(keyOf({ namespace: ['ab'], key: 'c' }).startsWith(toLedgerPrefix(['a']) ?? '')).toBe(false);
  });

  test('what is too long has no key', () => {
    const full = 'k'.repeat(ledgerKeyLengthMax - 2);
    expect(toLedgerKey({ namespace: ['a'], key: full })).toHaveLength(ledgerKeyLengthMax);
    expect(toLedgerKey({ namespace: ['a'], key: `${full}k` })).toBeUndefined();
    expect(toLedgerPrefix(['日'.repeat(30)])).toBeUndefined();
  });
});

describe('conditions on namespaces', () => {
  test('a prefix and a suffix match label by label, and a star any label', () => {
    const namespace = ['users', '42', 'notes'];
    expect(matchesCondition({ matchType: 'prefix', path: ['users', '*'] }, namespace)).toBe(true);
    expect(matchesCondition({ matchType: 'prefix', path: ['42'] }, namespace)).toBe(false);
    expect(matchesCondition({ matchType: 'suffix', path: ['*', 'notes'] }, namespace)).toBe(true);
    expect(matchesCondition({ matchType: 'suffix', path: ['42'] }, namespace)).toBe(false);
    expect(matchesCondition({ matchType: 'suffix', path: ['*', '*', '*', '*'] }, namespace)).toBe(false);
  });

  test('what all matches begin with is the prefix up to its first star', () => {
    expect(sharedLabels([])).toEqual([]);
    expect(sharedLabels([{ matchType: 'suffix', path: ['a'] }])).toEqual([]);
    expect(sharedLabels([{ matchType: 'prefix', path: ['a', '*', 'b'] }])).toEqual(['a']);
    expect(
      sharedLabels([
        { matchType: 'suffix', path: ['x'] },
        { matchType: 'prefix', path: ['a', 'b'] },
      ]),
    ).toEqual(['a', 'b']);
  });
});
