// Whether two sides give the same versions the same tokens, told without keeping any token: each is hashed, one side adds
// what the other takes away. Equal sets leave nothing; others leave something but once in 2^64.

/** Versions with the sums of their tokens. 24 bytes a version. */
export interface TokenSums {
  /** Adds a version, which ascends, with the tokens that it should have. */
  expect(version: number, tokens: Iterable<string>): void;
  /** Takes one token away from each of the versions, which ascend; answers those that were never added. */
  take(token: string, versions: readonly number[]): readonly number[];
  /** The versions of which something is left, ascending. */
  unequal(): readonly number[];
}

/** No versions yet. */
export function openTokenSums(): TokenSums {
  const versions: number[] = [];
  const ones: number[] = [];
  const others: number[] = [];
  return {
    expect: (version, tokens) => {
      let one = 0;
      let other = 0;
      for (const token of tokens) {
        const hashes = tokenHashes(token);
        one = (one + hashes.one) | 0;
        other = (other + hashes.other) | 0;
      }
      versions.push(version);
      ones.push(one);
      others.push(other);
    },
    take: (token, taken) => {
      const { one, other } = tokenHashes(token);
      const unknown: number[] = [];
      let from = 0;
      for (const version of taken) {
        from = findFrom(versions, version, from);
        if (versions[from] === version) {
          ones[from] = ((ones[from] ?? 0) - one) | 0;
          others[from] = ((others[from] ?? 0) - other) | 0;
        } else {
          unknown.push(version);
        }
      }
      return unknown;
    },
    unequal: () => versions.filter((_, at) => ones[at] !== 0 || others[at] !== 0),
  };
}

const seeds = { one: 0x811c9dc5, other: 0x2f0b4c47 } as const;

/** The two hashes of a token. */
export interface TokenHashes {
  readonly one: number;
  readonly other: number;
}

/** The two hashes of a token. */
export function tokenHashes(token: string): TokenHashes {
  return { one: hash(token, seeds.one), other: hash(token, seeds.other) };
}

/** The same of a token that is there as UTF-8, most of which is ASCII and need not become a text. */
export function tokenHashesOfBytes(
  bytes: Uint8Array,
  from: number,
  below: number,
  decode: (bytes: Uint8Array) => string,
): TokenHashes {
  let one: number = seeds.one;
  let other: number = seeds.other;
  for (let at = from; at < below; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) return tokenHashes(decode(bytes.subarray(from, below)));
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x01000193);
  }
  return { one: mixed(one), other: mixed(other) };
}

/** Where the version stands among ascending ones, or would: at `from` or after it. */
function findFrom(versions: readonly number[], version: number, from: number): number {
  let low = from;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((versions[middle] ?? 0) < version) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** FNV-1a over the UTF-16 units, then mixed, so that sums of similar tokens differ in every bit. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return mixed(value);
}

function mixed(hashed: number): number {
  let value = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
