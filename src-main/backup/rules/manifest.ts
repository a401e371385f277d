import { z } from 'zod';
import {
  changesetIdSchema,
  digestSchema,
  projectIdSchema,
  refNameSchema,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import { sha256Hex } from '../../canonical/digest.ts';
import { encodeCanonical } from '../../canonical/json.ts';
import { createVerifier, type Signer } from '../../canonical/signature.ts';

/** The files that a backup may hold beside its manifest; the first three are always there. */
export const backupFileNames = [
  'lethe.db',
  'charon.db',
  'ledger.anchor',
  'settings.json',
  'keys.recovery.json',
] as const;
export type BackupFileName = (typeof backupFileNames)[number];
export const manifestName = 'manifest.json';

const count = z.int().min(0);
const fileSchema = z.strictObject({
  name: z.enum(backupFileNames),
  bytes: count,
  sha256: digestSchema,
  /** The last migration of a database; null for other files. */
  schema: z.string().nullable(),
});
/** One file of a backup as its manifest has it. */
export type BackupFile = z.infer<typeof fileSchema>;

const projectSchema = z.strictObject({
  project_id: projectIdSchema,
  changesets: count,
  refs: z.array(
    z.strictObject({ ref_name: refNameSchema, head_changeset_id: changesetIdSchema, chain_digest: digestSchema }),
  ),
});

const manifestSchema = z.strictObject({
  format: z.literal(1),
  kind: z.enum(['backup', 'safety']),
  created_at: timestampSchema,
  product_version: z.string().max(64),
  home_id: z.uuidv4(),
  files: z.array(fileSchema).max(backupFileNames.length),
  projects: z.array(projectSchema),
  counts: z.record(z.string().max(64), count),
  audit: z.strictObject({ seq: count, hash: digestSchema }),
  head_key: z.strictObject({ id: z.string().max(64), public_key: z.string().length(43) }),
});
/** What a backup says of itself (`charon.md` §7). */
export type BackupManifest = z.infer<typeof manifestSchema>;

const signedSchema = z.strictObject({ manifest: manifestSchema, signature: z.string().length(86) });

/** A longer manifest is not read: half a million branches have room in it. */
export const manifestBytesMax = 134_217_728;

/** The bytes under the signature of a manifest, as text: a line of its own, then the canonical encoding. */
function manifestBytes(manifest: BackupManifest): string {
  return `memory-git/backup-manifest/v1\n${encodeCanonical(manifest)}`;
}

/** What names a backup wherever it lies: the digest of what was signed. */
export function manifestDigest(manifest: BackupManifest): string {
  return sha256Hex(manifestBytes(manifest));
}

/** The text of `manifest.json`: the one text of that manifest and that signature. */
export function formatManifest(manifest: BackupManifest, signer: Signer): string {
  return textOf({ manifest, signature: signer.sign(manifestBytes(manifest)) });
}

/**
 * Reads the text of `manifest.json`, in which every byte counts. A sentence says what is wrong with it: that it is none, that
 * it is of a newer version, or that its own key did not sign it. Whose key that is, is for the caller to know.
 */
export function parseManifest(
  text: string,
):
  | { readonly kind: 'manifest'; readonly manifest: BackupManifest }
  | { readonly kind: 'bad'; readonly problem: string } {
  const json = parseJson(text);
  const parsed = signedSchema.safeParse(json);
  if (!parsed.success) return { kind: 'bad', problem: isNewer(json) ? newer : 'it is not the manifest of a backup' };
  const { manifest, signature } = parsed.data;
  if (textOf(parsed.data) !== text) return { kind: 'bad', problem: 'it is not written as a backup writes it' };
  const names = manifest.files.map(({ name }) => name);
  const isWhole = backupFileNames.slice(0, 3).every((name) => names.includes(name));
  if (!isWhole || new Set(names).size !== names.length)
    return { kind: 'bad', problem: 'it names no whole backup, or one file twice' };
  const verify = createVerifier(manifest.head_key.public_key);
  if (verify?.(manifestBytes(manifest), signature) !== true)
    return { kind: 'bad', problem: 'its signature does not verify' };
  return { kind: 'manifest', manifest };
}

const newer = 'it is of a newer version of Memory Git: update Memory Git to read it';

function isNewer(json: unknown): boolean {
  const format = z.object({ manifest: z.object({ format: z.int().min(2) }) }).safeParse(json);
  return format.success;
}

function textOf(signed: z.infer<typeof signedSchema>): string {
  return `${encodeCanonical(signed)}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
