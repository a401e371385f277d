import { openHistoryStore } from '../fuzz/history-store.ts';
import { detectionCosts } from './cost-of-detection.ts';
import { mergeCosts } from './cost-of-merges.ts';
import { readCosts } from './cost-of-reads.ts';
import type { Grow } from './long-histories.ts';

/** Rows read by each kind of work at the end of a history. */
export interface Costs {
  readonly reads: Readonly<Record<string, number>>;
  readonly detection: Readonly<Record<string, number>>;
  readonly merges: Readonly<Record<string, number>>;
}

/** Makes a history of a size once, and takes the cost of each kind of work at its end, of each as if the others were not. */
function costsBehind(grow: Grow, size: number): Costs {
  const store = openHistoryStore();
  try {
    const { head, middle } = grow(store, size);
    return {
      reads: store.undoing(() => readCosts(store, head, middle)),
      detection: store.undoing(() => detectionCosts(store, head)),
      merges: store.undoing(() => mergeCosts(store, head)),
    };
  } finally {
    store.close();
  }
}

/** The costs of a history after 1 000 and after 20 000 changesets. */
export function costsAtBothSizes(grow: Grow): { readonly small: Costs; readonly large: Costs } {
  return { small: costsBehind(grow, 1_000), large: costsBehind(grow, 20_000) };
}
