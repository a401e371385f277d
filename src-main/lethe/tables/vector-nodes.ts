import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { VectorEntry, VectorNode, VectorNodes, WritableVectorNodes } from '../rules/vector.ts';

/** Nodes of one verb: each is read from the database at most once, since nodes never change. */
export function openVectorNodes(db: ReadableDb): VectorNodes {
  const known = new Map<number, VectorNode>();
  return { read: (id) => readNode(db, known, id) };
}

/** The same for a verb that writes: new nodes are appended. */
export function openWritableVectorNodes(db: WritableDb): WritableVectorNodes {
  const known = new Map<number, VectorNode>();
  return {
    read: (id) => readNode(db, known, id),
    write: (node) => {
      const inserted = db
        .command<[Uint8Array]>('INSERT INTO memory_vector_nodes (body) VALUES (?)')
        .run(encodeNode(node));
      known.set(inserted.lastInsertRowid, node);
      return inserted.lastInsertRowid;
    },
  };
}

function readNode(db: ReadableDb, known: Map<number, VectorNode>, id: number): VectorNode {
  const cached = known.get(id);
  if (cached !== undefined) return cached;
  const row = db.query<[number], { body: Uint8Array }>('SELECT body FROM memory_vector_nodes WHERE node = ?').get(id);
  assert(row !== undefined, 'a vector names stored nodes only');
  const node = decodeNode(row.body);
  known.set(id, node);
  return node;
}

/**
 * A node as bytes: the level, then for each entry its slot and its value (and above the leaves its max), all unsigned
 * LEB128, in 20 to 300 bytes.
 */
export function encodeNode(node: VectorNode): Uint8Array {
  const bytes: number[] = [];
  pushNumber(bytes, node.level);
  for (const entry of node.entries) {
    pushNumber(bytes, entry.slot);
    pushNumber(bytes, entry.value);
    if (node.level > 0) pushNumber(bytes, entry.max);
  }
  return Uint8Array.from(bytes);
}

/** Reads what `encodeNode` wrote. */
export function decodeNode(body: Uint8Array): VectorNode {
  const numbers = readNumbers(body);
  const level = numbers[0];
  assert(level !== undefined, 'a stored node has a level');
  const width = level > 0 ? 3 : 2;
  assert((numbers.length - 1) % width === 0, 'a stored node has whole entries');
  const entries: VectorEntry[] = [];
  for (let at = 1; at < numbers.length; at += width) {
    const [slot, value, max] = numbers.slice(at, at + width);
    assert(slot !== undefined && value !== undefined, 'a stored entry has a slot and a value');
    entries.push({ slot, value, max: max ?? value });
  }
  return { level, entries };
}

/** Appends a natural number below 2^53 as unsigned LEB128. */
export function pushNumber(bytes: number[], value: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'only natural numbers are stored');
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** All numbers of a body that `pushNumber` wrote. */
export function readNumbers(body: Uint8Array): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let factor = 1;
  for (const byte of body) {
    value += (byte % 128) * factor;
    factor *= 128;
    if (byte < 128) {
      numbers.push(value);
      value = 0;
      factor = 1;
    }
  }
  assert(factor === 1, 'a stored body ends with a whole number');
  return numbers;
}
