import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { type LtxKeyId, ltxKeyIdSchema } from '../../../src-preload/contract/ltx.ts';
import type { Profile, Scope } from '../../../src-preload/contract/principal.ts';
import { Fault } from '../../base/fault.ts';
import type { ProvenCaller } from './caller.ts';
import { scopesByOauth } from './oauth.ts';
import { scopesOf } from './profiles.ts';

/** True for the owner principal entering through one of the owner's doors; no bearer can be that (`charon.md` §1). */
export function isOwner(caller: ProvenCaller): boolean {
  return caller.credential.kind === 'owner' && caller.principal.profile === 'owner' && caller.door !== 'agent';
}

/** What a profile allows through a credential: a key of the memory ledger never more than that ledger (`ledger.md` §1), an access by OAuth never review, merge and trusted writes. */
export function scopesOfCredential(profile: Profile, credential: ProvenCaller['credential']): readonly Scope[] {
  const held = scopesOf(profile);
  if (credential.kind === 'oauth') return scopesByOauth(held);
  if (credential.kind !== 'ltx') return held;
  return held.filter((scope) => scope === 'ledger.read' || (scope === 'ledger.write' && credential.key !== 'read'));
}

/** The root key that is asking. Throws `ROOT_KEY_REQUIRED` for every other credential (`ledger.md` §4). */
export function requireRootKey(caller: ProvenCaller): { readonly id: LtxKeyId } {
  const { credential } = caller;
  if (credential.kind === 'ltx' && credential.key === 'root') return { id: ltxKeyIdSchema.parse(credential.id) };
  throw new Fault('ROOT_KEY_REQUIRED', 'Only the root key (ltx_…) of an agent may do this. Send that one.');
}

/** Throws `INSUFFICIENT_KEY_SCOPE` for a key that is for keys and values alone. */
export function requireWholeKey(caller: ProvenCaller): void {
  const { credential } = caller;
  if (credential.kind !== 'ltx' || (credential.key !== 'memory' && credential.key !== 'read')) return;
  throw new Fault('INSUFFICIENT_KEY_SCOPE', 'This key is for keys and values alone. Use the root key or a full one.');
}

/** Throws `SCOPE_MISSING` naming the scope (`INSUFFICIENT_KEY_SCOPE` for a key of the memory ledger), or `OWNER_ONLY` for what only the owner's doors may do. */
export function requireScope(caller: ProvenCaller, scope: Scope | 'owner'): void {
  if (scope === 'owner') {
    if (isOwner(caller)) return;
    throw new Fault('OWNER_ONLY', 'Only the owner may do this, at the desk or on the command line.');
  }
  if (caller.scopes.includes(scope)) return;
  if (caller.credential.kind === 'ltx') {
    throw new Fault(
      'INSUFFICIENT_KEY_SCOPE',
      `This key may not do that: it does not have the scope ${scope}. Use one that does; the owner makes them.`,
      { scope },
    );
  }
  throw new Fault(
    'SCOPE_MISSING',
    `This needs the scope ${scope}, which the profile ${caller.principal.profile} does not have. Ask the owner for another profile.`,
    { scope, profile: caller.principal.profile },
  );
}

/**
 * Grants are exact and case-sensitive; `*` grants reading only; the owner has every project (`charon.md` §1).
 * Throws `GRANT_MISSING`, word for word the same whether or not the project exists.
 */
export function requireGrant(caller: ProvenCaller, projectId: ProjectId, reading: boolean): void {
  if (isOwner(caller)) return;
  const grants = caller.principal.grants;
  if (grants.some((grant) => grant === projectId)) return;
  if (reading && grants.some((grant) => grant === '*')) return;
  throw new Fault(
    'GRANT_MISSING',
    `This principal has no ${reading ? '' : 'exact '}grant for that project. Project ids are case-sensitive; ask the owner for the grant.`,
    { project: projectId },
  );
}
