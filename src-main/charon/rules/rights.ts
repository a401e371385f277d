import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import type { Scope } from '../../../src-preload/contract/principal.ts';
import { Fault } from '../../base/fault.ts';
import type { ProvenCaller } from './caller.ts';

/** True for the owner principal entering through one of the owner's doors; no bearer can be that (`charon.md` §1). */
export function isOwner(caller: ProvenCaller): boolean {
  return caller.credential.kind === 'owner' && caller.principal.profile === 'owner' && caller.door !== 'agent';
}

/** Throws `SCOPE_MISSING` naming the scope, or `OWNER_ONLY` for what only the owner's doors may do. */
export function requireScope(caller: ProvenCaller, scope: Scope | 'owner'): void {
  if (scope === 'owner') {
    if (isOwner(caller)) return;
    throw new Fault('OWNER_ONLY', 'Only the owner may do this, at the desk or on the command line.');
  }
  if (caller.scopes.includes(scope)) return;
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
