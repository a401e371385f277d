import type { Profile, Scope } from '../../../src-preload/contract/principal.ts';
import { scopes } from '../../../src-preload/contract/principal.ts';

const reading = ['memory.read', 'memory.search', 'ledger.read'] as const satisfies readonly Scope[];
const proposing = [
  ...reading,
  'memory.branch',
  'memory.commit',
  'memory.propose',
  'ledger.write',
] as const satisfies readonly Scope[];

/** What each profile allows, ordered by trust and not by inclusion (`charon.md` §1). */
export const scopesByProfile = {
  readonly: reading,
  propose: proposing,
  review: [...reading, 'memory.review', 'memory.merge'],
  write: [...proposing, 'memory.write'],
  owner: scopes,
} as const satisfies Record<Profile, readonly Scope[]>;

/** The scopes of a profile, in the order of the table of `charon.md` §1. */
export function scopesOf(profile: Profile): readonly Scope[] {
  const held: ReadonlySet<Scope> = new Set(scopesByProfile[profile]);
  return scopes.filter((scope) => held.has(scope));
}
