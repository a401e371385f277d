/** A list by number that is never changed: setting a place makes another one, which shares all else with it. */
export type Trie<Value> = Branch<Value> | Leaf<Value> | undefined;

interface Branch<Value> {
  readonly below: readonly Trie<Value>[];
}

interface Leaf<Value> {
  readonly values: readonly (Value | undefined)[];
}

const slotBits = 4;
const width = 1 << slotBits;
/** Levels of nodes: room for 16 777 216 places. */
const levels = 6;

/** The value at a place; undefined when none was set. */
export function trieGet<Value>(trie: Trie<Value>, place: number): Value | undefined {
  let node = trie;
  for (let level = levels - 1; level > 0; level -= 1) node = belowAt(node, slotOf(place, level));
  return valueAt(node, slotOf(place, 0));
}

/** The same list with a value at a place. */
export function trieSet<Value>(trie: Trie<Value>, place: number, value: Value): Trie<Value> {
  return setAt(trie, place, value, levels - 1);
}

/** A place at which two lists do not hold the very same value. */
export interface TrieDifference<Value> {
  readonly place: number;
  readonly one: Value | undefined;
  readonly other: Value | undefined;
}

/** The differences between two lists by place, ascending; what they share is passed over. */
export function trieDifferences<Value>(one: Trie<Value>, other: Trie<Value>): IterableIterator<TrieDifference<Value>> {
  return differencesAt(one, other, levels - 1, 0);
}

function* differencesAt<Value>(
  one: Trie<Value>,
  other: Trie<Value>,
  level: number,
  from: number,
): IterableIterator<TrieDifference<Value>> {
  if (one === other) return;
  for (let slot = 0; slot < width; slot += 1) {
    const place = from + slot * width ** level;
    if (level > 0) yield* differencesAt(belowAt(one, slot), belowAt(other, slot), level - 1, place);
    else if (valueAt(one, slot) !== valueAt(other, slot))
      yield { place, one: valueAt(one, slot), other: valueAt(other, slot) };
  }
}

function setAt<Value>(node: Trie<Value>, place: number, value: Value, level: number): Trie<Value> {
  const slot = slotOf(place, level);
  if (level === 0) return { values: withSlot(node !== undefined && 'values' in node ? node.values : [], slot, value) };
  const below = node !== undefined && 'below' in node ? node.below : [];
  return { below: withSlot(below, slot, setAt(below[slot], place, value, level - 1)) };
}

/** A copy of a list with one of its slots set. */
function withSlot<Item>(items: readonly (Item | undefined)[], slot: number, item: Item): readonly (Item | undefined)[] {
  const copy = items.slice();
  while (copy.length < slot) copy.push(undefined);
  copy[slot] = item;
  return copy;
}

function slotOf(place: number, level: number): number {
  return (place >> (level * slotBits)) & (width - 1);
}

function belowAt<Value>(node: Trie<Value>, slot: number): Trie<Value> {
  return node !== undefined && 'below' in node ? node.below[slot] : undefined;
}

function valueAt<Value>(node: Trie<Value>, slot: number): Value | undefined {
  return node !== undefined && 'values' in node ? node.values[slot] : undefined;
}
