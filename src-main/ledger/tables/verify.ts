// What only verification reads.

import type { ReadableDb } from '../../sqlite/driver.ts';

/** Which version a stored value is of, not what it says; `kind` is null where there is none. */
export interface ValueMarkRow {
  readonly seq: number;
  readonly kind: string | null;
}

/** Values with numbers above `after`, in order. */
export function listValueMarks(db: ReadableDb, after: number, limit: number): readonly ValueMarkRow[] {
  return db
    .query<[number, number], ValueMarkRow>(
      'SELECT b.seq AS seq, v.kind AS kind FROM ledger_values b LEFT JOIN ledger_versions v ON v.seq = b.seq WHERE b.seq > +? ORDER BY b.seq LIMIT +?',
    )
    .all(after, limit);
}

/** Agents above a number that have totals, in order. */
export function listTotalsAfter(db: ReadableDb, after: number, limit: number): readonly { readonly agent: number }[] {
  return db
    .query<[number, number], { agent: number }>(
      'SELECT agent FROM ledger_totals WHERE agent > +? ORDER BY agent LIMIT +?',
    )
    .all(after, limit);
}
