import { sha256Hex } from '../canonical/digest.ts';
import { type Encodable, encodeCanonical } from '../canonical/json.ts';

/**
 * The digest of a request: SHA-256 over the canonical encoding of its input, keys that are absent left out. Undefined for
 * an input that JSON cannot say, which only a door without JSON can bring in.
 */
export function inputDigest(input: unknown): string | undefined {
  try {
    const encodable = toEncodable(input, 0);
    return encodable === undefined ? undefined : sha256Hex(encodeCanonical(encodable));
  } catch {
    return undefined;
  }
}

/** Deeper than any input that a door lets in. */
const depthMax = 200;

function toEncodable(value: unknown, depth: number): Encodable | undefined {
  if (depth > depthMax) throw new RangeError('nested too deep');
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value)) return value.map((item) => toEncodable(item, depth + 1) ?? null);
  if (typeof value !== 'object') return undefined;
  const fields = Object.entries(value).flatMap(([key, field]): [string, Encodable][] => {
    const encodable = toEncodable(field, depth + 1);
    return encodable === undefined ? [] : [[key, encodable]];
  });
  return Object.fromEntries(fields);
}
