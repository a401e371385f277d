import { Fault } from '../base/fault.ts';
import type { Environment } from './home.ts';

/** Fewest bytes of a key that comes from outside; our own have exactly as many. */
export const keyBytesMin = 32;

export interface NamedKey {
  readonly id: string;
  readonly key: Buffer;
}

/** The keys of merge authorizations: one signs, all verify (`charon.md` §2). */
export interface MergeKeys {
  readonly signing: NamedKey;
  readonly verifying: ReadonlyMap<string, Buffer>;
  /** Keys that authorize nothing any more and verify the merges of before. */
  readonly earlier: ReadonlyMap<string, Buffer>;
}

/** A key that the environment names, and the variable that it came from, for messages. */
export interface ExplicitKey {
  readonly variable: string;
  readonly key: Buffer;
}

/** One key from one variable, trimmed; undefined when it is unset. Under 32 bytes it is KEYS_INVALID, unprinted (H7). */
export function readExplicitKey(env: Environment, variable: string): ExplicitKey | undefined {
  const text = (env[variable] ?? '').trim();
  return text === '' ? undefined : { variable, key: longEnough(text, variable) };
}

/**
 * The merge keys that the environment names, in the order in which they are tried: `CHARON_MERGE_HMAC_KEYS`
 * (`keyid=secret,…`), then `CHARON_MERGE_HMAC_KEY` under the empty id, else the deprecated `CHARON_HMAC_KEY` (H8).
 * Empty when none is set. Throws KEYS_INVALID for an entry without an id or a secret, a repeated id, a short secret.
 */
export function readMergeKeys(env: Environment): {
  readonly keys: readonly NamedKey[];
  readonly warnings: readonly string[];
} {
  const keys = [...readKeyList(env)];
  const single = readExplicitKey(env, 'CHARON_MERGE_HMAC_KEY');
  if (single !== undefined) keys.push({ id: '', key: single.key });
  if ((env.CHARON_HMAC_KEY ?? '').trim() === '') return { keys, warnings: [] };
  if (keys.length > 0) {
    return {
      keys,
      warnings: ['CHARON_HMAC_KEY is deprecated and ignored, since a merge key of its own is set. Remove it.'],
    };
  }
  const fallback = readExplicitKey(env, 'CHARON_HMAC_KEY');
  return {
    keys: fallback === undefined ? [] : [{ id: '', key: fallback.key }],
    warnings: ['CHARON_HMAC_KEY is deprecated and used for merges only. Set CHARON_MERGE_HMAC_KEY instead.'],
  };
}

function readKeyList(env: Environment): readonly NamedKey[] {
  const variable = 'CHARON_MERGE_HMAC_KEYS';
  const text = (env[variable] ?? '').trim();
  if (text === '') return [];
  const keys: NamedKey[] = [];
  for (const [index, entry] of text.split(',').entries()) {
    const place = `${variable}, entry ${index + 1}`;
    const at = entry.indexOf('=');
    const id = entry.slice(0, Math.max(at, 0)).trim();
    const secret = entry.slice(at + 1).trim();
    if (at < 0 || secret === '' || !/^[A-Za-z0-9._-]{1,64}$/.test(id)) {
      throw new Fault(
        'KEYS_INVALID',
        `${place} is not keyid=secret. A key id is 1 to 64 letters, digits, dots, dashes or underscores.`,
        { variable, entry: index + 1 },
      );
    }
    if (keys.some((known) => known.id === id)) {
      throw new Fault('KEYS_INVALID', `${place} repeats a key id. Give every key an id of its own.`, {
        variable,
        entry: index + 1,
      });
    }
    keys.push({ id, key: longEnough(secret, place) });
  }
  return keys;
}

/** Refuses two explicit keys that are the same: each purpose has its own (H9). */
export function requireDistinct(keys: readonly ExplicitKey[]): void {
  for (const [index, left] of keys.entries()) {
    const same = keys.slice(index + 1).find((right) => right.key.equals(left.key));
    if (same === undefined) continue;
    throw new Fault(
      'KEYS_INVALID',
      `${left.variable} and ${same.variable} hold the same key. Every purpose needs its own; make another one.`,
      {
        variables: [left.variable, same.variable],
      },
    );
  }
}

function longEnough(secret: string, place: string): Buffer {
  const key = Buffer.from(secret, 'utf8');
  if (key.length >= keyBytesMin) return key;
  throw new Fault('KEYS_INVALID', `${place}: the key is shorter than ${keyBytesMin} bytes. Make a longer one.`, {
    place,
  });
}
