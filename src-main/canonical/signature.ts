// Signatures of the protocol: HMAC-SHA256 under merge envelopes and audit entries, Ed25519 under the moves of refs.
// Verification never throws for what is signed or for the signature: a thing that does not verify is `false`.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign as ed25519Sign,
  verify as ed25519Verify,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { assert } from '../base/assert.ts';
import { encodeCanonical, ordered } from './json.ts';

/** HMAC-SHA256 of the text's UTF-8 bytes, in lower-case hex. */
export function hmacSha256Hex(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

/** True when `signatureHex` (either case) is the HMAC-SHA256 of the text under the key; compared in constant time. */
export function verifyHmacSha256Hex(key: Uint8Array, text: string, signatureHex: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signatureHex)) return false;
  return timingSafeEqual(Buffer.from(hmacSha256Hex(key, text), 'hex'), Buffer.from(signatureHex, 'hex'));
}

/** The fourteen fields of a merge authorization (lethe.md §3.4), all present, all text. Other fields are not signed. */
export type MergeEnvelope = {
  readonly version: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly expected_head: string;
  readonly new_head: string;
  readonly proposal_id: string;
  readonly proposal_digest: string;
  readonly reviewer_principal: string;
  readonly merger_principal: string;
  readonly strategy: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly nonce: string;
  readonly key_id: string;
};

/** The bytes under an envelope's signature, as text: canonical, in declared order, whatever order they came in (§3.4). */
export function mergeEnvelopeBytes(envelope: MergeEnvelope): string {
  return encodeCanonical(
    ordered({
      version: envelope.version,
      project_id: envelope.project_id,
      ref_name: envelope.ref_name,
      expected_head: envelope.expected_head,
      new_head: envelope.new_head,
      proposal_id: envelope.proposal_id,
      proposal_digest: envelope.proposal_digest,
      reviewer_principal: envelope.reviewer_principal,
      merger_principal: envelope.merger_principal,
      strategy: envelope.strategy,
      issued_at: envelope.issued_at,
      expires_at: envelope.expires_at,
      nonce: envelope.nonce,
      key_id: envelope.key_id,
    }),
  );
}

/** Signs an envelope with the merge key (lethe.md §3.4): 64 lower-case hex characters. */
export function signMergeEnvelope(key: Uint8Array, envelope: MergeEnvelope): string {
  return hmacSha256Hex(key, mergeEnvelopeBytes(envelope));
}

/** True when the signature (hex of either case) is that of the envelope under the key; constant time (lethe.md §8 e). */
export function verifyMergeEnvelope(key: Uint8Array, envelope: MergeEnvelope, signatureHex: string): boolean {
  return verifyHmacSha256Hex(key, mergeEnvelopeBytes(envelope), signatureHex);
}

/** A move of a ref as it is signed (lethe.md §0.2): every column of its row but the signature. */
export type HeadMove = {
  readonly seq: number;
  readonly project_id: string;
  readonly ref_name: string;
  readonly from_head: string;
  readonly to_head: string;
  readonly moved_at: string;
  readonly principal: string;
  readonly cause: string;
  readonly chain_digest: string;
};

/** The bytes under the signature of a ref move, as text: `lethe/head/v1`, one LF, canonical columns (lethe.md §0.2). */
export function headMoveBytes(move: HeadMove): string {
  // In the order to which a map of these keys is sorted.
  const columns = ordered({
    cause: move.cause,
    chain_digest: move.chain_digest,
    from_head: move.from_head,
    moved_at: move.moved_at,
    principal: move.principal,
    project_id: move.project_id,
    ref_name: move.ref_name,
    seq: move.seq,
    to_head: move.to_head,
  });
  return `lethe/head/v1\n${encodeCanonical(columns)}`;
}

/** Signs with one Ed25519 key. `publicKey` is the raw 32 bytes in base64url, signatures are the raw 64 bytes so. */
export type Signer = {
  readonly publicKey: string;
  readonly sign: (text: string) => string;
};

/** Verifies with one Ed25519 key; a malformed signature is `false`. */
export type Verifier = (text: string, signature: string) => boolean;

/** The same on a thread of the runtime's pool, for many at a time: others work meanwhile. Never rejects. */
export type BackgroundVerifier = (text: string, signature: string) => Promise<boolean>;

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The signer of a 32-byte Ed25519 seed (RFC 8032). The seed is random bytes of the caller's. */
export function createSigner(seed: Uint8Array): Signer {
  assert(seed.length === 32, 'an Ed25519 seed is 32 bytes');
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  return {
    publicKey: rawPublicKey(createPublicKey(key)),
    sign: (text) => ed25519Sign(null, Buffer.from(text), key).toString('base64url'),
  };
}

/** The verifier of a raw 32-byte public key in base64url, as `Signer.publicKey` gives it; undefined if it is not one. */
export function createVerifier(publicKey: string): Verifier | undefined {
  const key = decodePublicKey(publicKey);
  if (key === undefined) return undefined;
  return (text, signature) => {
    const bytes = decodeBase64Url(signature, 64);
    return bytes !== undefined && ed25519Verify(null, Buffer.from(text), key, bytes);
  };
}

/** The verifier of such a key that works in the background; undefined if it is not one. */
export function createBackgroundVerifier(publicKey: string): BackgroundVerifier | undefined {
  const key = decodePublicKey(publicKey);
  if (key === undefined) return undefined;
  return (text, signature) => {
    const bytes = decodeBase64Url(signature, 64);
    if (bytes === undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      ed25519Verify(null, Buffer.from(text), key, bytes, (error, verifies) => resolve(error === null && verifies));
    });
  };
}

function decodePublicKey(publicKey: string): KeyObject | undefined {
  const raw = decodeBase64Url(publicKey, 32);
  if (raw === undefined) return undefined;
  return createPublicKey({ key: Buffer.concat([SPKI_ED25519_PREFIX, raw]), format: 'der', type: 'spki' });
}

function rawPublicKey(key: KeyObject): string {
  const spki = key.export({ format: 'der', type: 'spki' });
  return spki.subarray(SPKI_ED25519_PREFIX.length).toString('base64url');
}

/** The bytes, when the text is the one base64url form of exactly that many. */
function decodeBase64Url(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : undefined;
}
