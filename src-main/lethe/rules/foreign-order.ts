/** A changeset among others of its project, as far as their order needs it. */
export interface ForeignNode {
  readonly changesetId: string;
  readonly parentIds: readonly string[];
  /** Sorts by time as text. */
  readonly order: string;
}

export type ForeignOrder =
  | { readonly kind: 'ordered'; readonly changesetIds: readonly string[] }
  /** A changeset that is its own ancestor, or one whose parent is not there. */
  | { readonly kind: 'cycle' | 'missing_parent'; readonly changesetId: string };

/**
 * Parents before children, else by time and then id: the order in which changesets are numbered here. Linear but for one
 * sort; no recursion, however deep the history is.
 */
export function orderForeign(nodes: ReadonlyMap<string, ForeignNode>): ForeignOrder {
  const sorted = [...nodes.values()].sort(
    (left, right) => compare(left.order, right.order) || compare(left.changesetId, right.changesetId),
  );
  const done = new Set<string>();
  const open = new Set<string>();
  for (const start of sorted) {
    const waiting = [start];
    for (let node = waiting.at(-1); node !== undefined; node = waiting.at(-1)) {
      if (done.has(node.changesetId)) {
        waiting.pop();
        continue;
      }
      const ahead = node.parentIds.filter((parent) => !done.has(parent));
      if (ahead.length === 0) {
        done.add(node.changesetId);
        open.delete(node.changesetId);
        waiting.pop();
        continue;
      }
      if (open.has(node.changesetId)) return { kind: 'cycle', changesetId: node.changesetId };
      open.add(node.changesetId);
      for (const parent of ahead.reverse()) {
        const found = nodes.get(parent);
        if (found === undefined) return { kind: 'missing_parent', changesetId: node.changesetId };
        waiting.push(found);
      }
    }
  }
  return { kind: 'ordered', changesetIds: [...done] };
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
