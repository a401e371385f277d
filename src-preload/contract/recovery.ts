import { z } from 'zod';

const base64url = (characters: number) => z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}$`));

/** Most characters of what is sealed: keys that were replaced some thousand times. */
const sealedCharactersMax = 1_048_576;

/**
 * The keys of one home, sealed so that the owner's recovery passphrase alone opens them (`charon.md` §7): scrypt → X25519, an
 * ephemeral key → HKDF-SHA256 → AES-256-GCM. Every other field is bound to what is sealed. Binary fields are base64url.
 */
export const recoveryEnvelopeSchema = z.strictObject({
  kind: z.literal('memory-git/keys'),
  version: z.literal(1),
  home_id: z.uuidv4(),
  /** What the passphrase is stretched with. */
  stretch: z.strictObject({ n: z.int(), r: z.int(), p: z.int(), salt: base64url(22) }),
  public_key: base64url(43),
  ephemeral_key: base64url(43),
  nonce: base64url(16),
  /** The ciphertext with its tag of 16 bytes at the end. */
  sealed: z
    .string()
    .max(sealedCharactersMax)
    .regex(/^[A-Za-z0-9_-]{24,}$/),
});
export type RecoveryEnvelope = z.infer<typeof recoveryEnvelopeSchema>;
