/** Answers that never change, kept so that the same question is not asked of the store again. */
export interface Memo<Value> {
  /** The answer that is kept, or the one that `ask` gives. What is refused is not kept. */
  get(key: string, ask: () => Promise<Value>): Promise<Value>;
}

/**
 * A memo that lets the oldest answers go when there are more than `entriesMax`, or when they weigh more than `weightMax`
 * together. An answer that is heavier than all of that is not kept.
 */
export function createMemo<Value>(entriesMax: number, weightMax: number, weigh: (value: Value) => number): Memo<Value> {
  const kept = new Map<string, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  return {
    get: async (key, ask) => {
      const known = kept.get(key);
      if (known !== undefined) return known.value;
      const value = await ask();
      const weight = weigh(value);
      if (weight > weightMax || kept.has(key)) return value;
      kept.set(key, { value, weight });
      total += weight;
      for (const [oldest, { weight: lighter }] of kept) {
        if (kept.size <= entriesMax && total <= weightMax) break;
        kept.delete(oldest);
        total -= lighter;
      }
      return value;
    },
  };
}
