import { attributionBytesMax, requestBytesMax } from '../../../src-preload/contract/limits.ts';

/** A column that is read: its type and, in bytes of UTF-8, the most that one of its values may hold. */
export interface ForeignColumnRule {
  readonly type: 'text' | 'integer' | 'real' | 'time';
  readonly bytesMax: number;
  readonly isNullable: boolean;
  /** Whether an older schema, in which the column is not there yet, is read too. */
  readonly isOptional: boolean;
}

/** A table of a reference database (`lethe.md` §2.11). */
export interface ForeignTable {
  readonly name: string;
  /** Columns of its primary key, in their order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ForeignColumnRule>>;
}

const rule = (type: ForeignColumnRule['type'], bytesMax: number): ForeignColumnRule => ({
  type,
  bytesMax,
  isNullable: false,
  isOptional: false,
});
/** A text of at most so many bytes. */
export const text = (bytesMax: number): ForeignColumnRule => rule('text', bytesMax);
/** A whole number. */
export const integer = rule('integer', 20);
/** A number. */
export const real = rule('real', 32);
/** A moment, in any form of a reference database. */
export const time = rule('time', 128);
/** The column, in which there may be nothing. */
export const nullable = (column: ForeignColumnRule): ForeignColumnRule => ({ ...column, isNullable: true });
/** The column, which an older schema need not have. */
export const later = (column: ForeignColumnRule): ForeignColumnRule => ({ ...column, isOptional: true });

/** An id or a name that there must be. */
export const id = text(attributionBytesMax);
/** An id or a name that there may be. */
export const label = nullable(text(attributionBytesMax));
/** A JSON text of many entries. */
export const jsonList = text(requestBytesMax);
