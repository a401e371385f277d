/** The keys that begin with a prefix, as bounds: `from` included, `below` not. Every character of a key is below `~`. */
export function keysWithPrefix(prefix: string): { readonly from: string; readonly below: string } {
  return { from: prefix, below: `${prefix}~` };
}
