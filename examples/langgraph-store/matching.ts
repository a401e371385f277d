import type { MatchCondition } from '@langchain/langgraph-checkpoint';

/**
 * Whether a value has what a filter asks for, field by field, as InMemoryStore decides it: the very same text, number,
 * boolean or null, or an object of operators (`$eq $ne $gt $gte $lt $lte $in $nin`) that all hold.
 */
export function matchesFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const held = value[field];
    return isOperators(wanted)
      ? Object.entries(wanted).every(([operator, operand]) => operators.get(operator)?.(held, operand))
      : held === wanted;
  });
}

/** Whether a namespace begins or ends as a condition says; `*` in the condition stands for any label. */
export function matchesCondition({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return path.every((label, index) => label === '*' || label === namespace[start + index]);
}

/** The labels with which every namespace begins that matches all the conditions. */
export function sharedLabels(conditions: readonly MatchCondition[]): readonly string[] {
  const path = conditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
  const wildcard = path.indexOf('*');
  return wildcard === -1 ? path : path.slice(0, wildcard);
}

const operators: ReadonlyMap<string, (held: unknown, operand: unknown) => boolean> = new Map([
  ['$eq', (held, operand) => held === operand],
  ['$ne', (held, operand) => held !== operand],
  ['$gt', (held, operand) => Number(held) > Number(operand)],
  ['$gte', (held, operand) => Number(held) >= Number(operand)],
  ['$lt', (held, operand) => Number(held) < Number(operand)],
  ['$lte', (held, operand) => Number(held) <= Number(operand)],
  ['$in', (held, operand) => Array.isArray(operand) && operand.includes(held)],
  ['$nin', (held, operand) => !Array.isArray(operand) || !operand.includes(held)],
]);

function isOperators(wanted: unknown): wanted is Readonly<Record<string, unknown>> {
  return typeof wanted === 'object' && wanted !== null && Object.keys(wanted).every((name) => operators.has(name));
}
