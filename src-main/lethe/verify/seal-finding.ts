import type { SealedStretch } from '../tables/seals.ts';

/** What there is to do about a seal that does not hold where everything else does. */
export const sealRemedy = 'verify-chain --full seals it anew';

/** How a seal is called in what a verification says. */
export function sealName({ first, last }: SealedStretch, of: 'changesets' | 'ref moves' = 'changesets'): string {
  return `seal of the ${of} numbered ${first} to ${last}`;
}
