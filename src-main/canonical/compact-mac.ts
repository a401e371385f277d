import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 of the text's UTF-8 bytes, in base64url: the signature of a JWT under HS256 (RFC 7515 §3.5). */
export function hmacSha256Compact(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** True when `signature` is exactly that; compared in constant time. */
export function verifyHmacSha256Compact(key: Uint8Array, text: string, signature: string): boolean {
  return sameText(hmacSha256Compact(key, text), signature);
}

/** True when the challenge is the S256 one of that text (RFC 7636 §4.6); compared in constant time. */
export function isS256Of(text: string, challenge: string): boolean {
  return sameText(createHash('sha256').update(text).digest('base64url'), challenge);
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, 'utf8'), Buffer.from(other, 'utf8')];
  return a.length === b.length && timingSafeEqual(a, b);
}
