import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  diffVectors,
  lookupVector,
  newestCommon,
  raiseVector,
  uniteVectors,
  type VectorNode,
  type VectorRoot,
  type WritableVectorNodes,
} from '../../src-main/lethe/rules/vector.ts';
import { decodeNode, encodeNode } from '../../src-main/lethe/tables/vector-nodes.ts';

/** Nodes in memory that count what is read and written; each is taken to its stored form and back, unless they are very many. */
function memoryNodes(isCoded = true): WritableVectorNodes & { reads: number; writes: number } {
  const stored: VectorNode[] = [];
  const nodes = {
    reads: 0,
    writes: 0,
    read: (id: number): VectorNode => {
      nodes.reads += 1;
      const node = stored[id - 1];
      if (node === undefined) throw new Error(`no node ${id}`);
      return node;
    },
    write: (node: VectorNode): number => {
      nodes.writes += 1;
      if (isCoded) expect(decodeNode(encodeNode(node))).toEqual(node);
      return stored.push(node);
    },
  };
  return nodes;
}

type Plain = ReadonlyMap<number, number>;

const entries = fc.array(
  fc.tuple(fc.oneof(fc.nat(40), fc.nat(3_000), fc.nat(5_000_000)), fc.integer({ min: 1, max: 2 ** 40 })),
  { maxLength: 60 },
);

function build(
  nodes: WritableVectorNodes,
  from: VectorRoot,
  raises: readonly (readonly [number, number])[],
): VectorRoot {
  return raises.reduce<VectorRoot>((root, [chain, seq]) => raiseVector(nodes, root, chain, seq), from);
}

function plain(raises: readonly (readonly [number, number])[]): Plain {
  const map = new Map<number, number>();
  for (const [chain, seq] of raises) map.set(chain, Math.max(seq, map.get(chain) ?? 0));
  return map;
}

function united(one: Plain, other: Plain): Plain {
  return plain([...one, ...other]);
}

describe('vectors against plain maps', () => {
  test('L81 a vector answers what a map does', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.nat(6_000_000)), (raises, others) => {
        const nodes = memoryNodes();
        const root = build(nodes, undefined, raises);
        const map = plain(raises);
        for (const chain of [...map.keys(), ...others])
          expect(lookupVector(nodes, root, chain)).toBe(map.get(chain) ?? 0);
      }),
    );
  });

  test('L81 raising to what is seen already changes nothing and writes nothing', () => {
    const nodes = memoryNodes();
    const root = build(nodes, undefined, [
      [5, 10],
      [700, 20],
    ]);
    const before = nodes.writes;
    expect(raiseVector(nodes, root, 5, 9)).toBe(root);
    expect(raiseVector(nodes, root, 700, 20)).toBe(root);
    expect(nodes.writes).toBe(before);
  });

  test('L82 the union is the greater of both, and is one of them when it equals it', () => {
    fc.assert(
      fc.property(entries, entries, entries, (shared, left, right) => {
        const nodes = memoryNodes();
        const base = build(nodes, undefined, shared);
        const one = build(nodes, base, left);
        const other = build(nodes, base, right);
        const both = uniteVectors(nodes, one, other);
        const wanted = united(plain([...shared, ...left]), plain([...shared, ...right]));
        expect(diffVectors(nodes, both, undefined).map(({ chain, left: seq }) => [chain, seq])).toEqual(
          [...wanted].toSorted(([a], [b]) => a - b),
        );
        expect(uniteVectors(nodes, both, one)).toBe(both);
        expect(uniteVectors(nodes, other, both)).toBe(both);
      }),
    );
  });

  test('L82 the difference names exactly the chains that differ', () => {
    fc.assert(
      fc.property(entries, entries, entries, (shared, left, right) => {
        const nodes = memoryNodes();
        const base = build(nodes, undefined, shared);
        const [one, other] = [build(nodes, base, left), build(nodes, base, right)];
        const [oneMap, otherMap] = [plain([...shared, ...left]), plain([...shared, ...right])];
        const wanted = [...united(oneMap, otherMap).keys()]
          .map((chain) => ({ chain, left: oneMap.get(chain) ?? 0, right: otherMap.get(chain) ?? 0 }))
          .filter((entry) => entry.left !== entry.right)
          .toSorted((a, b) => a.chain - b.chain);
        expect(diffVectors(nodes, one, other)).toEqual(wanted);
      }),
    );
  });

  test('L83 the newest common one is the greatest of the lesser', () => {
    fc.assert(
      fc.property(entries, entries, entries, fc.nat(2 ** 38), (shared, left, right, atLeast) => {
        const nodes = memoryNodes();
        const base = build(nodes, undefined, shared);
        const [one, other] = [build(nodes, base, left), build(nodes, base, right)];
        const [oneMap, otherMap] = [plain([...shared, ...left]), plain([...shared, ...right])];
        const common = [...oneMap].map(([chain, seq]) => Math.min(seq, otherMap.get(chain) ?? 0));
        expect(newestCommon(nodes, one, other, atLeast)).toBe(Math.max(atLeast, ...common));
      }),
    );
  });

  test('L82 two vectors that differ in one of 30 000 chains are compared and united over a handful of nodes', () => {
    const nodes = memoryNodes(false);
    const base = build(
      nodes,
      undefined,
      Array.from({ length: 30_000 }, (_, chain) => [chain, chain + 1] as const),
    );
    const one = raiseVector(nodes, base, 12_345, 1_000_000);
    const other = raiseVector(nodes, base, 29_999, 2_000_000);
    nodes.reads = 0;
    nodes.writes = 0;
    expect(diffVectors(nodes, one, other)).toHaveLength(2);
    uniteVectors(nodes, one, other);
    expect(nodes.reads).toBeLessThan(40);
    expect(nodes.writes).toBeLessThan(5);
  });
});
