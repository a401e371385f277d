import { encodeCanonical } from '../../canonical/json.ts';

/**
 * The text under the signature of a seal (`L301`): what kind it is with the version of what its digests are taken over, and every
 * column but the signature. A seal of another version does not verify: what it covers is verified from scratch.
 */
export function sealText(
  kind: 'changesets' | 'moves',
  columns: { readonly [column: string]: string | number },
): string {
  const { signature: _, ...signed } = columns;
  return `lethe/seal/${kind}/v1\n${encodeCanonical(signed)}`;
}
