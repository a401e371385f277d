import { z } from 'zod';
import { keyNames } from '../../src-preload/contract/commands/operations.ts';
import { timestampSchema } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { HomePaths } from './home.ts';
import { readTextIfThere, writePrivateFile } from './private-file.ts';

/** 32 bytes in base64url. */
export const secretText = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
/** 16 bytes in base64url. */
const saltText = z.string().regex(/^[A-Za-z0-9_-]{22}$/);
const keyId = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/);

/** How a passphrase was stretched: cost and salt. */
const stretchSchema = z.strictObject({ n: z.int(), r: z.int(), p: z.int(), salt: saltText });

/**
 * What a recovery passphrase was turned into: it closes envelopes, and only the passphrase opens them. `sealing_key` proves that
 * an envelope comes from this home; both come from the passphrase, which stands nowhere.
 */
const recoverySchema = z.strictObject({
  public_key: secretText,
  sealing_key: secretText,
  stretch: stretchSchema,
  set_at: timestampSchema,
});
export type RecoveryLock = z.infer<typeof recoverySchema>;

const keysFileSchema = z.strictObject({
  version: z.literal(1),
  obol: secretText,
  oauth: secretText,
  merges: z.array(z.strictObject({ id: keyId, secret: secretText })).min(1),
  ledger: z.strictObject({ id: keyId, secret: secretText }),
  head: z.strictObject({ id: keyId, seed: secretText }),
  /** What was replaced, oldest first; with its secret where that still verifies something. Merge secrets stay in `merges`. */
  earlier: z
    .array(
      z.strictObject({
        name: z.enum(keyNames),
        id: keyId.nullable(),
        secret: secretText.optional(),
        replaced_at: timestampSchema,
      }),
    )
    .optional(),
  /** The shared key of the store's own HTTP protocol; made when that is first served beside a policy engine. */
  lethe_api: secretText.optional(),
  /** Set when the owner chose a recovery passphrase. */
  recovery: recoverySchema.optional(),
});
/** The keys of a home as they are stored. */
export type KeysFile = z.infer<typeof keysFileSchema>;

/** keys.json while the keys are sealed. */
const sealedFileSchema = z.strictObject({
  version: z.literal(2),
  sealed: z.strictObject({
    by: z.literal('keychain'),
    /** The home that the keys are of: keys of another one are not unsealed for it. */
    home_id: z.uuidv4(),
    blob: z
      .string()
      .max(4_194_304)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/),
  }),
});
export type SealedKeys = z.infer<typeof sealedFileSchema>['sealed'];

/** What keys.json holds: the keys, or the keys sealed. */
export type StoredKeys =
  | { readonly kind: 'plain'; readonly file: KeysFile }
  | { readonly kind: 'sealed'; readonly sealed: SealedKeys };

/** keys.json, or undefined when there is none. Throws KEYS_INVALID for a damaged one, naming the field alone (H6). */
export function readStoredKeys(paths: HomePaths): StoredKeys | undefined {
  const text = readTextIfThere(paths.keys);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!isSealedForm(value)) return { kind: 'plain', file: parseKeysFile(text, 'keys.json') };
  const parsed = sealedFileSchema.safeParse(value);
  if (parsed.success) return { kind: 'sealed', sealed: parsed.data.sealed };
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new Fault(
    'KEYS_INVALID',
    `keys.json is damaged (${field}). Put it back from a recovery export (charon keys restore FILE --replace) or from a backup; it is never made anew.`,
    { field },
  );
}

/** Whether what a text says is keys in their sealed form, whole or damaged. */
export function isSealedForm(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 2;
}

/** The keys in a text, which `where` names in the refusal: KEYS_INVALID, with the name of the field and never a value. */
export function parseKeysFile(text: string, where: string): KeysFile {
  const parsed = keysFileSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  // Only the name of the field may be said: the values are keys.
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new Fault(
    'KEYS_INVALID',
    `${where} is damaged${field === '' ? '' : ` (${field})`}. Put back the file of this home from a backup; it is never made anew.`,
    { field },
  );
}

/** Writes keys.json, 0600, whole or not at all. */
export function writeKeysFile(paths: HomePaths, file: KeysFile): void {
  writePrivateFile(paths.keys, `${JSON.stringify(file, null, 2)}\n`);
}

/** Writes keys.json with the keys sealed, 0600, whole or not at all. */
export function writeSealedKeys(paths: HomePaths, sealed: SealedKeys): void {
  writePrivateFile(paths.keys, `${JSON.stringify({ version: 2, sealed }, null, 2)}\n`);
}

/** What a text says as JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
