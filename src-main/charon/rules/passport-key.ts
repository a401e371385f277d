import { Fault } from '../../base/fault.ts';

/** What stands before the 32 bytes of an Ed25519 key in its SPKI form (RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');
/** The same for multiformats: `ed25519-pub`. */
const multicodecPrefix = Buffer.from([0xed, 0x01]);
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * A passport's public key out of PEM SPKI, or the base64 of the SPKI or of the raw 32 bytes, as base64 of the raw 32 bytes
 * (`ledger.md` §5). Throws INPUT_INVALID for anything else.
 */
export function readPublicKey(text: string): string {
  const pem = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/.exec(text)?.[1];
  const bytes = decodeBase64(pem === undefined ? text.trim() : pem.replaceAll(/\s/g, ''));
  const raw = bytes?.subarray(0, 12).equals(spkiPrefix) === true ? bytes.subarray(12) : bytes;
  if (raw?.length === 32) return Buffer.from(raw).toString('base64');
  throw new Fault(
    'INPUT_INVALID',
    'passport_public_key must be an Ed25519 public key: PEM (SPKI), or base64 of its raw 32 bytes.',
    { field: 'passport_public_key' },
  );
}

/** The bytes, when the text is standard base64 of them, padded. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined;
}

/** The `did:key` of a public key given as base64 of its raw 32 bytes. */
export function didOf(publicKey: string): string {
  return `did:key:z${encodeBase58(Buffer.concat([multicodecPrefix, Buffer.from(publicKey, 'base64')]))}`;
}

/** Base58 with Bitcoin's alphabet. The input never begins with a zero byte here, so none is counted. */
function encodeBase58(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (rest > 0n) {
    text = `${base58.charAt(Number(rest % 58n))}${text}`;
    rest /= 58n;
  }
  return text;
}

/** The same key in base64url, as signatures are verified with it. */
export function inBase64Url(publicKey: string): string {
  return Buffer.from(publicKey, 'base64').toString('base64url');
}
