import type { CharonKeys } from './context.ts';
import { provesToken } from './rules/token.ts';

/**
 * True when that is the MAC of the token under the obol key or one of those before it (`charon.md` §2: rotation with overlap).
 * Every key is tried whatever comes of the others, so that a bad token costs what a good one costs.
 */
export function provesUnderAny(keys: CharonKeys, token: string, audience: string, mac: string): boolean {
  return [keys.obol, ...(keys.earlierObols ?? [])]
    .map((key) => provesToken(key, token, audience, mac))
    .some((proven) => proven);
}
