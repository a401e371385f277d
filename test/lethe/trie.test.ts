import { expect, test } from 'vitest';
import { type Trie, trieDifferences, trieGet, trieSet } from '../../src-main/lethe/rules/trie.ts';
import { seededRandom } from '../fuzz/random.ts';

interface Item {
  readonly name: string;
}

test('a list by number holds what was set, and what was before stays as it was', () => {
  const random = seededRandom(7);
  const versions: { readonly trie: Trie<Item>; readonly items: ReadonlyMap<number, Item> }[] = [
    { trie: undefined, items: new Map() },
  ];
  for (let step = 0; step < 400; step += 1) {
    const before = random.pick(versions);
    const place = random.below(random.pick([4, 40, 4_000, 16_777_216]));
    const item = { name: `item ${step}` };
    versions.push({ trie: trieSet(before.trie, place, item), items: new Map([...before.items, [place, item]]) });
  }
  for (let pair = 0; pair < 200; pair += 1) {
    const [one, other] = [random.pick(versions), random.pick(versions)];
    const places = [...new Set([...one.items.keys(), ...other.items.keys()])].toSorted((left, right) => left - right);
    for (const place of places) expect(trieGet(one.trie, place)).toBe(one.items.get(place));
    expect([...trieDifferences(one.trie, other.trie)]).toEqual(
      places
        .filter((place) => one.items.get(place) !== other.items.get(place))
        .map((place) => ({ place, one: one.items.get(place), other: other.items.get(place) })),
    );
  }
  expect(trieGet(versions[0]?.trie, 3)).toBeUndefined();
});
