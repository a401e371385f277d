// One number for any set of postings, be it read by token or by state: a posting adds the hash of its token times the weight
// of its state. A single posting more, less or elsewhere changes it, but once in 2^64. Nothing is kept but the number.

import { tokenHashes } from './token-sums.ts';

/** The sum of a set of postings; sums of disjoint sets add up to that of both together. */
export interface PostingSum {
  readonly one: number;
  readonly other: number;
}

export const noPostings: PostingSum = { one: 0, other: 0 };

export function addPostings(sum: PostingSum, more: PostingSum): PostingSum {
  return { one: (sum.one + more.one) | 0, other: (sum.other + more.other) | 0 };
}

/** The postings of one state. The tokens are as the index holds them, without the project in front. */
export function postingsOf(version: number, tokens: Iterable<string>): PostingSum {
  let one = 0;
  let other = 0;
  for (const token of tokens) {
    const hashes = tokenHashes(token);
    one = (one + hashes.one) | 0;
    other = (other + hashes.other) | 0;
  }
  const weight = weightOf(Math.floor(version / 0x1_0000_0000), version | 0);
  return { one: Math.imul(one, weight), other: Math.imul(other, otherWeightOf(weight)) };
}

/**
 * The weight of a state in the first half of a sum; odd, so that no token vanishes under it.
 * @param high the version without its lower 32 bits, divided by 2^32
 * @param low the lower 32 bits, as a signed number
 */
export function weightOf(high: number, low: number): number {
  let value = Math.imul(low ^ 0x9e3779b1, 0xc2b2ae35) ^ Math.imul(high + 1, 0x27d4eb2f);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) | 1;
}

/** The weight of a state in the second half, made of the one in the first. */
export function otherWeightOf(weight: number): number {
  return (Math.imul(weight, 0x297a2d39) ^ (weight >>> 14)) | 1;
}

/** A sum as it is stored: 16 hexadecimal digits. */
export function encodePostings({ one, other }: PostingSum): string {
  const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, '0');
  return hex(one) + hex(other);
}

/** Reads what `encodePostings` wrote; undefined for anything else. */
export function decodePostings(text: string): PostingSum | undefined {
  if (!/^[0-9a-f]{16}$/.test(text)) return undefined;
  return { one: Number.parseInt(text.slice(0, 8), 16) | 0, other: Number.parseInt(text.slice(8), 16) | 0 };
}
