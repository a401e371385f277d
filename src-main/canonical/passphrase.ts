// A passphrase that a person types: hashed to be compared later, or stretched into key material. Slow on purpose, and in
// the background: other work goes on meanwhile.

import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { assert } from '../base/assert.ts';

/** What scrypt (RFC 7914) costs: `n` a power of two; it needs 128 · n · r bytes of memory. */
export interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** 128 MiB and about half a second for one guess. */
export const passphraseCost: ScryptCost = { n: 2 ** 17, r: 8, p: 1 };

/** Fewest and most characters of a passphrase that is set. */
export const passphraseCharactersMin = 12;
export const passphraseCharactersMax = 1_024;

/** Bytes of salt that go into a hash. */
export const saltBytes = 16;

const hashBytes = 32;
const memoryBytesMax = 2 ** 28;

/** Whether a passphrase may be set: 12 to 1 024 characters of its normal form. */
export function isPassphraseLongEnough(passphrase: string): boolean {
  const characters = [...passphrase.normalize('NFC')].length;
  return characters >= passphraseCharactersMin && characters <= passphraseCharactersMax;
}

/** Whether a cost that was stored is one that we pay: what is read from a file never takes all the memory (K19). */
export function isScryptCost({ n, r, p }: ScryptCost): boolean {
  const isWhole = [n, r, p].every((each) => Number.isSafeInteger(each) && each >= 1);
  if (!isWhole || n < 2 ** 10 || n > 2 ** 20 || r > 32 || p > 4) return false;
  return Number.isInteger(Math.log2(n)) && 128 * n * r <= memoryBytesMax;
}

/** `bytes` bytes of key material from a passphrase (its NFC, in UTF-8) and a salt: the same ones every time. */
export function stretchPassphrase(
  passphrase: string,
  salt: Uint8Array,
  cost: ScryptCost,
  bytes: number,
): Promise<Buffer> {
  assert(isScryptCost(cost), 'the cost of scrypt is within its bounds');
  // Twice what the tables need: the limit is there against costs that nobody checked.
  const options: ScryptOptions = { N: cost.n, r: cost.r, p: cost.p, maxmem: 2 * memoryBytesMax };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, bytes, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

/**
 * The text `scrypt$n$r$p$salt$hash` (salt and hash in base64url) to which a passphrase is compared later. `random` is the salt:
 * 16 bytes that were never used before. Compare with `verifyPassphrase` alone (K19).
 */
export async function hashPassphrase(passphrase: string, random: Buffer, cost = passphraseCost): Promise<string> {
  assert(random.length === saltBytes, 'a salt is 16 bytes');
  const hash = await stretchPassphrase(passphrase, random, cost, hashBytes);
  return ['scrypt', cost.n, cost.r, cost.p, random.toString('base64url'), hash.toString('base64url')].join('$');
}

/** True when the passphrase is the one whose hash was stored; in constant time. What is no hash of ours is false (K19). */
export async function verifyPassphrase(passphrase: string, stored: string): Promise<boolean> {
  const parts = /^scrypt\$(\d{1,8})\$(\d{1,2})\$(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/.exec(stored);
  if (parts === null) return false;
  const [, n, r, p, salt = '', hash = ''] = parts;
  const cost = { n: Number(n), r: Number(r), p: Number(p) };
  if (!isScryptCost(cost)) return false;
  const found = await stretchPassphrase(passphrase, Buffer.from(salt, 'base64url'), cost, hashBytes);
  return timingSafeEqual(found, Buffer.from(hash, 'base64url'));
}
