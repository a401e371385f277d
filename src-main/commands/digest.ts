import type { CommandContract } from '../../src-preload/contract/command.ts';
import { assert } from '../base/assert.ts';
import { sha256Hex } from '../canonical/digest.ts';
import { type Encodable, encodeCanonical } from '../canonical/json.ts';

type Secretive = Pick<CommandContract, 'secrets'>;

const hidden = '(not shown)';

/**
 * The digest of a request: SHA-256 over the canonical encoding of its input as it may be shown, keys that are absent left
 * out. Undefined for an input that JSON cannot say, which only a door without JSON can bring in.
 */
export function inputDigest(input: unknown, contract?: Secretive): string | undefined {
  try {
    const json = canonicalInput(contract === undefined ? input : withoutSecrets(contract, input));
    return json === undefined ? undefined : sha256Hex(json);
  } catch {
    return undefined;
  }
}

/** An input that was parsed, with what is secret in it replaced: nobody could guess that from a digest of the rest. */
export function shownInput(contract: Secretive, input: unknown): Readonly<Record<string, unknown>> {
  const shown = withoutSecrets(contract, input);
  return typeof shown === 'object' ? { ...shown } : {};
}

/** The same as canonical JSON: what the digest of the request is taken over. */
export function shownJson(contract: Secretive, input: unknown): string {
  const json = canonicalInput(withoutSecrets(contract, input));
  assert(json !== undefined, 'an input that was parsed has a canonical form');
  return json;
}

function withoutSecrets({ secrets }: Secretive, input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  if (!secrets.some((key) => Object.hasOwn(input, key))) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, secrets.includes(key) ? hidden : value]));
}

function canonicalInput(input: unknown): string | undefined {
  const encodable = toEncodable(input, 0);
  return encodable === undefined ? undefined : encodeCanonical(encodable);
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
