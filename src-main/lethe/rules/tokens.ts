// How the query of a context is read. Nothing in it is an operator: quotes, stars, colons and words like AND are text.

import { lowerSimple, utf8Length } from '../../canonical/text.ts';

/**
 * The tokens of a context query (lethe.md §5.10): lower-cased, split at everything that is no Unicode letter or number,
 * of at least 3 bytes, each once, in the order of the query.
 */
export function contextTokens(query: string): readonly string[] {
  const tokens = new Set<string>();
  for (const [token] of lowerSimple(query.toWellFormed()).matchAll(/[\p{L}\p{N}]+/gu)) {
    if (utf8Length(token) >= 3) tokens.add(token);
  }
  return [...tokens];
}
