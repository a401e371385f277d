// A key of the ledger is the labels of a namespace and the key of an item, joined with `:`. It has 1 to 128 letters, digits,
// `-`, `_`, `.` and `:`. What does not fit is escaped: `..` + the code point in hex + `.`, so `user@example.com` is
// `user..40.example.com`. Every ordinary name stays as it is, and each pair of a namespace and a key has one form.

import { validateNamespace } from '@langchain/langgraph-checkpoint';

/** Where an item is: its namespace and its key in it. */
export interface Place {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** Characters of a ledger key at most. */
export const ledgerKeyLengthMax = 128;

/** Anything that a part may not hold, and a period after which something escaped or another period could be meant. */
const ESCAPED = /\.(?![A-Za-z0-9_-]|$)|[^A-Za-z0-9_.-]/gu;
const ESCAPE = /\.\.([0-9a-f]{1,6})\./g;

/** The ledger's key of a place; undefined when it is longer than a ledger key may be: then nothing can be there. */
export function toLedgerKey({ namespace, key }: Place): string | undefined {
  return withinBounds([...namespace, key].map(escapePart).join(':'));
}

/**
 * What the ledger's keys of all items in and below a namespace begin with, and no others; empty for the empty namespace,
 * undefined when it is longer than a ledger key may be.
 */
export function toLedgerPrefix(namespace: readonly string[]): string | undefined {
  return withinBounds(namespace.map((label) => `${escapePart(label)}:`).join(''));
}

/**
 * The place that a ledger key stands for; undefined for a key that no place has: one without a namespace, with a label that
 * a namespace cannot have, or with something escaped that need not be.
 */
export function findPlace(ledgerKey: string): Place | undefined {
  const parts = ledgerKey.split(':').map(unescapePart);
  const namespace = parts.slice(0, -1);
  const place = { namespace, key: parts.at(-1) ?? '' };
  return isNamespace(namespace) && toLedgerKey(place) === ledgerKey ? place : undefined;
}

function withinBounds(text: string): string | undefined {
  return text.length > ledgerKeyLengthMax ? undefined : text;
}

function escapePart(part: string): string {
  return part.replace(ESCAPED, (character) => `..${(character.codePointAt(0) ?? 0).toString(16)}.`);
}

function unescapePart(part: string): string {
  return part.replace(ESCAPE, (whole, hex: string) => {
    const codePoint = Number.parseInt(hex, 16);
    return codePoint > 0x10ffff ? whole : String.fromCodePoint(codePoint);
  });
}

function isNamespace(labels: string[]): boolean {
  try {
    validateNamespace(labels, { allowReservedRoot: true });
    return true;
  } catch {
    return false;
  }
}
