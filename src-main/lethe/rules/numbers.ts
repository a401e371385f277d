/** An op's number is its changeset's number times this, plus its ordinal (`L80`). */
export const opsPerChangeset = 65_536;

/** The number of an op: ascending through the whole history (`L80`). */
export function opNumber(seq: number, ordinal: number): number {
  return seq * opsPerChangeset + ordinal;
}

/** The changeset number of an op number. */
export function seqOf(op: number): number {
  return Math.floor(op / opsPerChangeset);
}

/** The place of an op number within its changeset. */
export function ordinalOf(op: number): number {
  return op % opsPerChangeset;
}

/** The greatest op number that a changeset can have: touches up to here are its own or older. */
export function lastOpOf(seq: number): number {
  return seq * opsPerChangeset + opsPerChangeset - 1;
}
