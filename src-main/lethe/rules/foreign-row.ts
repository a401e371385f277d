import { type JsonValue, jsonValueSchema } from '../../../src-preload/contract/json.ts';
import type { ForeignColumnRule, ForeignTable } from './foreign-columns.ts';
import { parseForeignTime } from './foreign-time.ts';
import { quoted } from './op-refusal.ts';

/** A value of a foreign row that is of its column's type: times are wire text, absent columns are null. */
export type ForeignValue = string | number | null;
export type ForeignRow = Readonly<Record<string, ForeignValue>>;

/** What a foreign row has wrong, by its name: a value of another type, or one that a nullable column may not lack. */
export class ForeignRowRefused extends Error {
  override readonly name = 'ForeignRowRefused';
  /** Table and key of the row, then what is wrong with it. */
  readonly reason: string;

  constructor(where: string, reason: string) {
    super(`${where}: ${reason}`);
    this.reason = this.message;
  }
}

/** What a foreign row is called in a refusal: its table and its key. */
export function nameForeignRow(table: ForeignTable, row: Readonly<Record<string, unknown>>): string {
  const key = table.key.map((name) => {
    const value = row[name];
    return typeof value === 'string' ? quoted(value) : String(value);
  });
  return `${table.name} ${key.join(', ')}`;
}

/** Checks the types of a raw row and brings its times into wire form. Throws ForeignRowRefused. */
export function decodeForeignRow(table: ForeignTable, raw: Readonly<Record<string, unknown>>): ForeignRow {
  const row: Record<string, ForeignValue> = {};
  for (const [name, column] of Object.entries(table.columns)) {
    const value = raw[name] ?? null;
    const decoded = decodeValue(column, value);
    if (decoded === undefined)
      throw new ForeignRowRefused(nameForeignRow(table, raw), `${name} is not ${wanted[column.type]}`);
    row[name] = decoded;
  }
  return row;
}

const wanted = { text: 'a text', integer: 'a whole number', real: 'a number', time: 'a moment' } as const;

function decodeValue(column: ForeignColumnRule, value: unknown): ForeignValue | undefined {
  if (value === null) return column.isNullable || column.isOptional ? null : undefined;
  switch (column.type) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
    case 'real':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'time':
      return typeof value === 'string' ? parseForeignTime(value)?.wire : undefined;
  }
}

/** The text of a column, empty where it is null. */
export function textOf(row: ForeignRow, name: string): string {
  const value = row[name] ?? '';
  return typeof value === 'string' ? value : String(value);
}

/** A JSON text of a column, nested no deeper than everywhere else; undefined when it is none. */
export function parseForeignJson(text: string): JsonValue | undefined {
  try {
    const parsed = jsonValueSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
