import type { SealedStretch } from '../tables/seals.ts';

/** How a seal is called in what a verification says. */
export function sealName({ first, last }: SealedStretch, of: 'changesets' | 'ref moves' = 'changesets'): string {
  return `seal of the ${of} numbered ${first} to ${last}`;
}
