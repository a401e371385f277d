import type { LtxKeyKind } from '../../../src-preload/contract/ltx.ts';

/** What a token of the memory ledger is for: a key, a session of an hour, or the asking after a registration. */
export type LtxTokenUse = 'root' | 'sub' | 'session' | 'poll';

const tokenPattern = /^ltx_(?:(sub|session|poll)_)?([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

/** Bytes of randomness in the public and the secret half. */
export const ltxIdBytes = 8;
export const ltxSecretBytes = 32;

/** Sessions and registrations live this long. Milliseconds (`ledger.md` §1). */
export const ltxSessionLifeMs = 3_600_000;
export const registrationLifeMs = 86_400_000;

/** Which prefix the token of a key has: `ltx_` for the root key, `ltx_sub_` for the others (`ledger.md` §1). */
export function tokenUseOf(kind: LtxKeyKind): LtxTokenUse {
  return kind === 'root' ? 'root' : 'sub';
}

/** The whole token: `ltx_[<use>_]<id>_<secret>`, id in hex, secret in base64url. */
export function formatLtxToken(use: LtxTokenUse, id: string, secret: Buffer): string {
  return `ltx_${use === 'root' ? '' : `${use}_`}${id}_${secret.toString('base64url')}`;
}

/** What a token is for and its public half; undefined for text that is none. */
export function parseLtxToken(token: string): { readonly use: LtxTokenUse; readonly id: string } | undefined {
  const [, use, id] = tokenPattern.exec(token) ?? [];
  if (id === undefined) return undefined;
  return { use: use === 'sub' || use === 'session' || use === 'poll' ? use : 'root', id };
}
