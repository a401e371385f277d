/** Whether a JSON value has at most `levels` objects and lists inside each other. */
export function isShallowerThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallowerThan(inner, levels - 1));
}
