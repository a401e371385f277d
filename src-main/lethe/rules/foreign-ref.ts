import { protectedRefPrefix, type RefName, refNameSchema } from '../../../src-preload/contract/ids.ts';
import { sha256Hex } from '../../canonical/digest.ts';

/** The prefix under which refs of a file land: `refs/imported/` and the first eight digits of its content digest. */
export function importedPrefix(contentDigest: string): string {
  return `refs/imported/${contentDigest.slice(0, 8)}/`;
}

/** The name that a ref of a file has in a project that is imported whole: its own, or one below the file's prefix where ours allow it not. */
export function landingWhole(refName: string, contentDigest: string): RefName {
  const same = refNameSchema.safeParse(refName);
  return same.success ? same.data : landingBeside(refName, contentDigest);
}

/**
 * The name that a ref of a file has beside a project that was here before: what follows `refs/`, below the file's prefix.
 * A name that does not fit there is spelled in allowed characters and told apart from others by a digest of it.
 */
export function landingBeside(refName: string, contentDigest: string): RefName {
  const prefix = importedPrefix(contentDigest);
  const plain = refNameSchema.safeParse(`${prefix}${refName.replace(/^refs\//, '')}`);
  if (plain.success && refName.startsWith('refs/')) return plain.data;
  const spelled = refName
    .replace(/^refs\//, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 96);
  return refNameSchema.parse(`${prefix}renamed/${spelled}-${sha256Hex(refName).slice(0, 16)}`);
}

/** Whether a ref is protected here, which its name alone decides. */
export function isProtectedHere(refName: string): boolean {
  return refName.startsWith(protectedRefPrefix);
}
