import type { JsonValue } from '../../../src-preload/contract/json.ts';
import type { LedgerChange } from '../../../src-preload/contract/ledger.ts';

type JsonMap = { readonly [name: string]: JsonValue };

/**
 * Where two JSON values differ, by JSON pointer (RFC 6901), in the order of the older value, then what only the newer one
 * has: maps by name, lists by place, all else as a whole. The order of names in a map is no difference.
 */
export function diffJson(before: JsonValue, after: JsonValue): readonly LedgerChange[] {
  const changes: LedgerChange[] = [];
  compare('', before, after, changes);
  return changes;
}

function compare(path: string, before: JsonValue, after: JsonValue, changes: LedgerChange[]): void {
  if (isList(before) && isList(after)) compareLists(path, before, after, changes);
  else if (isMap(before) && isMap(after)) compareMaps(path, before, after, changes);
  else if (before !== after) changes.push({ kind: 'changed', path, before, after });
}

function compareLists(
  path: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  changes: LedgerChange[],
): void {
  for (const [index, value] of before.entries()) {
    const other = after[index];
    const at = `${path}/${index}`;
    if (other === undefined) changes.push({ kind: 'removed', path: at, before: value });
    else compare(at, value, other, changes);
  }
  for (const [index, value] of after.entries())
    if (index >= before.length) changes.push({ kind: 'added', path: `${path}/${index}`, after: value });
}

function compareMaps(path: string, before: JsonMap, after: JsonMap, changes: LedgerChange[]): void {
  for (const [name, value] of Object.entries(before)) {
    const at = `${path}/${escaped(name)}`;
    const other = Object.hasOwn(after, name) ? after[name] : undefined;
    if (other === undefined) changes.push({ kind: 'removed', path: at, before: value });
    else compare(at, value, other, changes);
  }
  for (const [name, value] of Object.entries(after))
    if (!Object.hasOwn(before, name)) changes.push({ kind: 'added', path: `${path}/${escaped(name)}`, after: value });
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isMap(value: JsonValue): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
