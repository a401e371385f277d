// The leaf pages of a full-text segment (FTS5, `detail=none`, one column), read as they are stored: a pass over them costs a tenth of what
// asking FTS5 for every row does. The format is that of SQLite's `fts5_index.c`: two 16-bit numbers (where the first row number
// stands, if a list of the page before goes on; where the content ends), terms with their lists of row numbers, and behind the content the
// offsets of the terms. Anything that does not read so throws: the caller asks FTS5 instead.

import { assert } from '../../base/assert.ts';
import { otherWeightOf, type PostingSum, weightOf } from './posting-sums.ts';
import { tokenHashesOfBytes } from './token-sums.ts';

const headerBytes = 4;
/** FTS5 puts this before each term of its main index. */
const mainPrefix = 0x30;
/** Row numbers are ops, which fit in 53 bits. */
const varintBytesMax = 8;

/** One pass over the leaves of the index that sums up the postings of one project. */
export interface PostingPass {
  /** The leaves of another segment begin. */
  beginSegment(): void;
  /** Takes the next leaf of the segment. */
  take(leaf: Uint8Array): void;
  /** The sum of all postings so far. */
  sum(): PostingSum;
}

/** Starts a pass. @param projectKey the number that the project's tokens begin with */
export function openPostingPass(projectKey: number): PostingPass {
  const own = new TextEncoder().encode(`${String.fromCharCode(mainPrefix)}${projectKey}`);
  const decoder = new TextDecoder();
  const decode = (bytes: Uint8Array): string => decoder.decode(bytes);
  let term: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  let termBytes = 0;
  /** The hashes of the term whose list goes on; undefined for one of another project. */
  let current: PostingSum | undefined;
  let isInList = false;
  let one = 0;
  let other = 0;

  const readTerm = (leaf: Uint8Array, from: number, below: number, isFirst: boolean): number => {
    let cursor = from;
    let kept = 0;
    if (!isFirst) {
      kept = readVarint(leaf, cursor, below);
      cursor += varintLength(leaf, cursor);
    }
    const added = readVarint(leaf, cursor, below);
    cursor += varintLength(leaf, cursor);
    assert(kept <= termBytes && cursor + added <= below, 'a term of a leaf lies within it');
    if (kept + added > term.length) {
      const longer = new Uint8Array(2 * (kept + added));
      longer.set(term.subarray(0, kept));
      term = longer;
    }
    for (let at = 0; at < added; at += 1) term[kept + at] = leaf[cursor + at] ?? 0;
    termBytes = kept + added;
    const isOwn = startsWith(term, termBytes, own);
    current = isOwn ? tokenHashesOfBytes(term, own.length, termBytes, decode) : undefined;
    return cursor + added;
  };

  const readList = (leaf: Uint8Array, from: number, below: number): void => {
    if (current === undefined) return;
    let high = 0;
    let low = 0;
    let weights = 0;
    let otherWeights = 0;
    for (let cursor = from; cursor < below; ) {
      const end = cursor + varintBytesMax;
      let byte = leaf[cursor] ?? 0;
      cursor += 1;
      let step = byte & 0x7f;
      let stepHigh = 0;
      while (byte >= 0x80) {
        assert(cursor < below && cursor < end, 'a row number of a leaf ends within it');
        byte = leaf[cursor] ?? 0;
        cursor += 1;
        stepHigh = (stepHigh << 7) | (step >>> 25);
        step = (step << 7) | (byte & 0x7f);
      }
      assert((step | stepHigh) !== 0, 'row numbers of a leaf ascend and none is deleted');
      const before = low >>> 0;
      low = (low + step) | 0;
      high += stepHigh + (low >>> 0 < before ? 1 : 0);
      const weight = weightOf(high, low);
      weights = (weights + weight) | 0;
      otherWeights = (otherWeights + otherWeightOf(weight)) | 0;
    }
    one = (one + Math.imul(current.one, weights)) | 0;
    other = (other + Math.imul(current.other, otherWeights)) | 0;
  };

  return {
    beginSegment: () => {
      isInList = false;
      current = undefined;
      termBytes = 0;
    },
    take: (leaf) => {
      const firstRow = readShort(leaf, 0);
      const below = readShort(leaf, 2);
      assert(below >= headerBytes && below <= leaf.length, 'a leaf says where its content ends');
      const terms = readOffsets(leaf, below);
      const begun = terms[0] ?? below;
      if (begun > headerBytes) {
        assert(isInList && firstRow === headerBytes, 'a leaf begins with a term or goes on with a list');
        readList(leaf, headerBytes, begun);
      }
      for (let index = 0; index < terms.length; index += 1) {
        const next = terms[index + 1] ?? below;
        const listed = readTerm(leaf, terms[index] ?? below, next, index === 0);
        readList(leaf, listed, next);
        isInList = true;
      }
    },
    sum: () => ({ one, other }),
  };
}

/** Whether a term is of the project: its number, and no further digit. */
function startsWith(term: Uint8Array, bytes: number, own: Uint8Array): boolean {
  if (bytes <= own.length) return false;
  for (let at = 0; at < own.length; at += 1) if (term[at] !== own[at]) return false;
  const next = term[own.length] ?? 0;
  return next < 0x30 || next > 0x39;
}

function readShort(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Where the terms of a leaf begin. */
function readOffsets(leaf: Uint8Array, from: number): readonly number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (let cursor = from; cursor < leaf.length; cursor += varintLength(leaf, cursor)) {
    offset += readVarint(leaf, cursor, leaf.length);
    assert(offset >= headerBytes && offset < from, 'the terms of a leaf lie within it');
    offsets.push(offset);
  }
  return offsets;
}

/** A number of SQLite's variable length: seven bits a byte, the highest first. */
function readVarint(bytes: Uint8Array, from: number, below: number): number {
  let value = 0;
  for (let at = from; at < below && at < from + varintBytesMax; at += 1) {
    const byte = bytes[at] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  throw new RangeError('a number of a leaf does not end');
}

function varintLength(bytes: Uint8Array, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0) >= 0x80) at += 1;
  return at - from + 1;
}

/** One segment of the index: its leaves have the numbers from `first` to `last`. */
export interface TextSegment {
  readonly segment: number;
  readonly first: number;
  readonly last: number;
}

/** The segments that a structure record of FTS5 lists. Throws for a record of another form. */
export function readStructure(record: Uint8Array): readonly TextSegment[] {
  // Behind the cookie an index that can forget rows has 0xff where this one has the number of its levels.
  let cursor = 4;
  const next = (): number => {
    const value = readVarint(record, cursor, record.length);
    cursor += varintLength(record, cursor);
    return value;
  };
  assert(record[cursor] !== 0xff, 'the index keeps no record of deleted rows');
  const levels = next();
  const total = next();
  next();
  const segments: TextSegment[] = [];
  for (let level = 0; level < levels; level += 1) {
    next();
    const count = next();
    for (let at = 0; at < count; at += 1) {
      const [segment, first, last] = [next(), next(), next()];
      // Without leaves: the output of a merge that has written none yet.
      if (last >= first && last > 0) segments.push({ segment, first, last });
    }
  }
  assert(cursor === record.length && segments.length <= total, 'a structure record holds its segments and no more');
  return segments;
}
