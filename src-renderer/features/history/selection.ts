/** Adds or removes an id; of three, the one chosen first goes. Newest choice last. */
export function toggleSelected(selected: readonly string[], id: string): readonly string[] {
  if (selected.includes(id)) return selected.filter((other) => other !== id);
  return [...selected, id].slice(-2);
}

/** The two selected changesets as base and target: the older one, which is further down, is the base. */
export function pairOf(
  selected: readonly string[],
  newestFirst: readonly string[],
): { readonly base: string; readonly target: string } | undefined {
  const [first, second] = selected;
  if (first === undefined || second === undefined) return undefined;
  return newestFirst.indexOf(first) > newestFirst.indexOf(second)
    ? { base: first, target: second }
    : { base: second, target: first };
}
