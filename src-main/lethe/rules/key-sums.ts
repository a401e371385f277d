// One number for any set of the rows by which memories are compared, whatever their order: SQLite adds them up, and what a
// verification expects is added up here in the same way.

/** Moduli below 2^31, so that no product leaves the integers of SQLite. */
export const keyPrimes = { key: 2_147_483_629, place: 2_147_483_587, product: 2_147_483_647 } as const;

/** Sums stay below this, so that they are exact here too. */
const sumBelow = 2 ** 52;

/** How many rows there are and two sums over what they say. */
export interface KeySum {
  readonly count: number;
  readonly product: number;
  readonly plain: number;
}

export const noKeys: KeySum = { count: 0, product: 0, plain: 0 };

/** The sum of two sets of rows that share none. */
export function addKeys(sum: KeySum, more: KeySum): KeySum {
  return {
    count: sum.count + more.count,
    product: (sum.product + (more.product % sumBelow)) % sumBelow,
    plain: (sum.plain + (more.plain % sumBelow)) % sumBelow,
  };
}

/** The sum of one row. */
export function keySumOf(row: { readonly key: number; readonly memory: number; readonly op: number }): KeySum {
  const [key, memory, op] = [BigInt(row.key), BigInt(row.memory), BigInt(row.op)];
  const [ofKey, ofPlace, ofProduct] = [BigInt(keyPrimes.key), BigInt(keyPrimes.place), BigInt(keyPrimes.product)];
  const product = ((key % ofKey) * ((memory * 31n + op * 17n) % ofPlace) + key) % ofProduct;
  return { count: 1, product: Number(product), plain: Number((key % ofKey) + (memory % ofPlace) + (op % ofProduct)) };
}

/** A sum as it is stored. */
export function encodeKeys({ count, product, plain }: KeySum): string {
  return `${count} ${product} ${plain}`;
}

/** Reads what `encodeKeys` wrote; undefined for anything else. */
export function decodeKeys(text: string): KeySum | undefined {
  const [, count, product, plain] = /^(\d{1,15}) (\d{1,16}) (\d{1,16})$/.exec(text) ?? [];
  if (count === undefined || product === undefined || plain === undefined) return undefined;
  return { count: Number(count), product: Number(product), plain: Number(plain) };
}

/** Whether two sets of rows have the same sums. */
export function isSameKeys(one: KeySum, other: KeySum): boolean {
  return encodeKeys(one) === encodeKeys(other);
}
