import { hmacSha256Hex, verifyHmacSha256Hex } from '../canonical/signature.ts';

/** The two random texts of one handshake: one from each side, so that neither can be replayed. 32 hex characters each. */
export interface HandshakeNonces {
  readonly client: string;
  readonly server: string;
}

/** A call that was confirmed by the owner's passphrase brings what that gave in this header. */
export const confirmationHeader = 'x-memory-git-confirmation';

type Side = 'client' | 'server' | 'session';

/** Proof that a side knows the owner's key: HMAC over both nonces, under a label of its own, so that no proof serves as another. */
export function ownerProof(ownerKey: Uint8Array, side: Side, nonces: HandshakeNonces): string {
  return hmacSha256Hex(ownerKey, signedText(side, nonces));
}

/** True when the proof is that side's for these nonces under the key; constant time. */
export function isOwnerProof(ownerKey: Uint8Array, side: Side, nonces: HandshakeNonces, proof: string): boolean {
  return verifyHmacSha256Hex(ownerKey, signedText(side, nonces), proof);
}

function signedText(side: Side, nonces: HandshakeNonces): string {
  return `memory-git/owner-socket/${side}/v1\n${nonces.client}\n${nonces.server}`;
}
