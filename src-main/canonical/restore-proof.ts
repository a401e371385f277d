import { sha256Hex } from './digest.ts';
import { hmacSha256Hex, verifyHmacSha256Hex } from './signature.ts';

const domain = 'charon/restore/v1';

/** A merge key and the name that it is known by. */
export interface NamedSecret {
  readonly id: string;
  readonly key: Uint8Array;
}

/**
 * What shows a store in another process that a request which gives memories a former state (`lethe.md` §0.4) comes from the
 * policy engine: `<key id>:<hex>`, the HMAC-SHA256 under a merge key over `charon/restore/v1` LF the SHA-256 of the request's
 * bytes. Bound to those bytes, and so to their idempotency key: sent again by anyone, it changes nothing more.
 */
export function restoreProof({ id, key }: NamedSecret, request: Uint8Array): string {
  return `${id}:${hmacSha256Hex(key, signedText(request))}`;
}

/** Whether a proof holds for the bytes under the key that it names. Never throws. */
export function verifyRestoreProof(keys: ReadonlyMap<string, Uint8Array>, proof: string, request: Uint8Array): boolean {
  const at = proof.lastIndexOf(':');
  const key = at < 0 ? undefined : keys.get(proof.slice(0, at));
  return key !== undefined && verifyHmacSha256Hex(key, signedText(request), proof.slice(at + 1));
}

function signedText(request: Uint8Array): string {
  return `${domain}\n${sha256Hex(request)}`;
}
