// The keys of a home, sealed so that the owner's recovery passphrase alone opens them. The passphrase is typed twice in the
// life of a home: when it is set, and when it is needed. In between everything is sealed to a public key made from it.

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { type RecoveryEnvelope, recoveryEnvelopeSchema } from '../../src-preload/contract/recovery.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import { encodeCanonical, ordered } from '../canonical/json.ts';
import { isScryptCost, passphraseCost, saltBytes, stretchPassphrase } from '../canonical/passphrase.ts';
import { type KeysFile, parseJson, parseKeysFile, type RecoveryLock } from './keys-file.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const domain = 'memory-git/recovery/v1';

type Stretch = RecoveryLock['stretch'];

/** What a recovery passphrase becomes before it is forgotten (H40). `setAt` is the moment, in UTC. */
export async function makeRecoveryLock(
  passphrase: string,
  ids: Ids,
  setAt: RecoveryLock['set_at'],
  cost = passphraseCost,
): Promise<RecoveryLock> {
  const stretch = { ...cost, salt: ids.randomBytes(saltBytes).toString('base64url') };
  const { privateKey, sealingKey } = await stretched(passphrase, stretch);
  return { public_key: rawPublicKey(privateKey), sealing_key: toText(sealingKey), stretch, set_at: setAt };
}

/**
 * Seals keys to the recovery passphrase that was set in them, without asking for it (`charon.md` §7, H40); undefined when none
 * was set. The envelope is of the home `homeId` (a UUIDv4) and safe to keep beside a backup: guessing the passphrase is what
 * opens it.
 */
export function sealKeysForRecovery(file: KeysFile, homeId: string, ids: Ids): RecoveryEnvelope | undefined {
  const lock = file.recovery;
  if (lock === undefined) return undefined;
  const ephemeral = x25519Private(ids.randomBytes(keyBytes));
  const header = {
    kind: 'memory-git/keys',
    version: 1,
    home_id: homeId,
    stretch: lock.stretch,
    public_key: lock.public_key,
    ephemeral_key: rawPublicKey(ephemeral),
    nonce: toText(ids.randomBytes(nonceBytes)),
  } as const;
  const shared = diffieHellman({ privateKey: ephemeral, publicKey: x25519Public(lock.public_key) });
  const key = contentKey(shared, fromText(lock.sealing_key), header);
  const cipher = createCipheriv('aes-256-gcm', key, fromText(header.nonce), { authTagLength: tagBytes });
  cipher.setAAD(boundBytes(header));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(file), 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return { ...header, sealed: toText(sealed) };
}

/** The envelope in a file. Throws KEYS_INVALID, naming the field. */
export function parseRecoveryEnvelope(text: string): RecoveryEnvelope {
  const parsed = recoveryEnvelopeSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new Fault(
    'KEYS_INVALID',
    `This is no recovery export of keys, or it is damaged${field === '' ? '' : ` (${field})`}. Choose the file that charon keys export wrote, or the one of a backup.`,
    { field },
  );
}

/**
 * The keys in an envelope. `homeId` is the home that they must be of, when that is known. Throws KEYS_INVALID with the field
 * `home_id`, `stretch`, `passphrase` or `sealed`, and prints nothing of either (H41).
 */
export async function openRecoveryEnvelope(
  envelope: RecoveryEnvelope,
  passphrase: string,
  homeId?: string,
): Promise<KeysFile> {
  if (homeId !== undefined && envelope.home_id !== homeId)
    throw refused('home_id', 'these are the keys of another home. Choose the export of this one.');
  if (!isScryptCost(envelope.stretch))
    throw refused('stretch', 'the cost of the passphrase is out of bounds. Choose another copy of the export.');
  const { privateKey, sealingKey } = await stretched(passphrase, envelope.stretch);
  if (rawPublicKey(privateKey) !== envelope.public_key)
    throw refused('passphrase', 'it does not open these keys. Type the one that was set before they were exported.');
  const text = opened(envelope, privateKey, sealingKey);
  if (text !== undefined) return parseKeysFile(text, 'The recovery export');
  throw refused('sealed', 'the export was changed or is damaged. Choose another copy of it.');
}

function opened(envelope: RecoveryEnvelope, privateKey: KeyObject, sealingKey: Buffer): string | undefined {
  const { sealed, ...header } = envelope;
  const bytes = fromText(sealed);
  // The same bytes have one text: what was changed is never taken, not even where it says nothing else.
  if (toText(bytes) !== sealed) return undefined;
  try {
    const shared = diffieHellman({ privateKey, publicKey: x25519Public(header.ephemeral_key) });
    const key = contentKey(shared, sealingKey, header);
    const cipher = createDecipheriv('aes-256-gcm', key, fromText(header.nonce), { authTagLength: tagBytes });
    cipher.setAAD(boundBytes(header));
    cipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const text = Buffer.concat([cipher.update(bytes.subarray(0, bytes.length - tagBytes)), cipher.final()]);
    return text.toString('utf8');
  } catch {
    // A public key that is none, or bytes that nobody sealed so: neither says more than that it was not opened.
    return undefined;
  }
}

type Header = Omit<RecoveryEnvelope, 'sealed'>;

/** The bytes that are authenticated with what is sealed: every field of the header. */
function boundBytes(header: Header): Buffer {
  const { n, r, p, salt } = header.stretch;
  const fields = ordered({
    kind: header.kind,
    version: header.version,
    home_id: header.home_id,
    stretch: ordered({ n, r, p, salt }),
    public_key: header.public_key,
    ephemeral_key: header.ephemeral_key,
    nonce: header.nonce,
  });
  return Buffer.from(`${domain}\n${encodeCanonical(fields)}`, 'utf8');
}

/** HKDF-SHA256 (RFC 5869) over what the two sides share and the sealing key: a public key alone makes no envelope. */
function contentKey(shared: Buffer, sealingKey: Buffer, header: Header): Buffer {
  const salt = Buffer.concat([fromText(header.ephemeral_key), fromText(header.public_key)]);
  return Buffer.from(hkdfSync('sha256', Buffer.concat([shared, sealingKey]), salt, domain, keyBytes));
}

async function stretched(passphrase: string, { salt, ...cost }: Stretch) {
  const bytes = await stretchPassphrase(passphrase, fromText(salt), cost, 2 * keyBytes);
  return { privateKey: x25519Private(bytes.subarray(0, keyBytes)), sealingKey: bytes.subarray(keyBytes) };
}

// RFC 8410: the fixed beginnings of X25519 keys in DER.
const PKCS8_X25519_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI_X25519_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

function x25519Private(bytes: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_X25519_PREFIX, bytes]), format: 'der', type: 'pkcs8' });
}

function x25519Public(raw: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_X25519_PREFIX, fromText(raw)]), format: 'der', type: 'spki' });
}

function rawPublicKey(privateKey: KeyObject): string {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return toText(spki.subarray(SPKI_X25519_PREFIX.length));
}

function refused(field: string, problem: string): Fault {
  return new Fault('KEYS_INVALID', `${field}: ${problem}`, { field });
}

function toText(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function fromText(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
