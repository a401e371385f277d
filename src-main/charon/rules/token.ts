import { type ObolId, obolIdSchema } from '../../../src-preload/contract/ids.ts';
import { obolLifeMaxMs } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { hmacSha256Hex, verifyHmacSha256Hex } from '../../canonical/signature.ts';

const tokenPattern = /^obol_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

/** Bytes of randomness in the public and the secret half of a token (`charon.md` §2). */
export const obolIdBytes = 8;
export const obolSecretBytes = 32;

/** The shortest life that a token can be given. */
const obolLifeMinMs = 1_000;

/** The whole token, `obol_<id>_<secret>`: id in hex, secret in base64url (`charon.md` §2). */
export function formatToken(obolId: ObolId, secret: Buffer): string {
  return `obol_${obolId}_${secret.toString('base64url')}`;
}

/** The public half of a token, or undefined for text that is none. */
export function parseToken(token: string): ObolId | undefined {
  const id = tokenPattern.exec(token)?.[1];
  return id === undefined ? undefined : obolIdSchema.parse(id);
}

/** The audience of a home's tokens: never a port, so that a token works on whatever port the door listens on. */
export function audienceOf(homeId: string): string {
  return `urn:memory-git:${homeId}`;
}

/** HMAC-SHA256 over the whole token and the audience: all that is stored of a token (`charon.md` §2). */
export function tokenMac(key: Buffer, token: string, audience: string): string {
  return hmacSha256Hex(key, `${token}${audience}`);
}

/** True when that is the MAC of the token for the audience; compared in constant time. */
export function provesToken(key: Buffer, token: string, audience: string, mac: string): boolean {
  return verifyHmacSha256Hex(key, `${token}${audience}`, mac);
}

/** When a token made at `nowMs` ends; null never. Throws `INPUT_INVALID` for a life under a second or over 90 days. */
export function decideExpiry(nowMs: number, lifeMs: number | null): number | null {
  if (lifeMs === null) return null;
  if (Number.isSafeInteger(lifeMs) && lifeMs >= obolLifeMinMs && lifeMs <= obolLifeMaxMs) return nowMs + lifeMs;
  throw new Fault('INPUT_INVALID', 'expires_ms must be 1 second to 90 days in milliseconds, or null for never.', {
    field: 'expires_ms',
    min: obolLifeMinMs,
    max: obolLifeMaxMs,
  });
}
