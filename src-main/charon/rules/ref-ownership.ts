import type { RefName } from '../../../src-preload/contract/ids.ts';
import { protectedRefPrefix } from '../../../src-preload/contract/ids.ts';
import type { Principal } from '../../../src-preload/contract/principal.ts';
import { Fault } from '../../base/fault.ts';
import type { ProvenCaller } from './caller.ts';

/** Refs below `refs/shared/` move only by a signed merge (`charon.md` §1). */
export function isProtectedRef(refName: RefName): boolean {
  return refName.startsWith(protectedRefPrefix);
}

/** The prefixes under which every ref belongs to the principal by its actor id (`charon.md` §1). */
export function ownedPrefixes(principal: Principal): readonly string[] {
  return [`refs/agents/${principal.actor_id}/`, `refs/sessions/${principal.actor_id}/`];
}

/**
 * Does the ref belong to the principal? `refs/agents/<actor>/…` and `refs/sessions/<actor>/…` do by name, all others
 * to whoever created them; a protected ref belongs to nobody.
 */
export function ownsRef(principal: Principal, refName: RefName, createdBy: string | undefined): boolean {
  if (isProtectedRef(refName)) return false;
  if (isActorRef(refName)) return ownedPrefixes(principal).some((prefix) => refName.startsWith(prefix));
  return createdBy === principal.principal_id;
}

/**
 * May the caller commit to this ref? Its own refs, and with `memory.write` every unprotected one.
 * Throws `PROTECTED_REF`, `NOT_REF_OWNER`.
 */
export function requireOwnedRef(caller: ProvenCaller, refName: RefName, createdBy: string | undefined): void {
  requireUnprotected(refName);
  if (caller.scopes.includes('memory.write') || ownsRef(caller.principal, refName, createdBy)) return;
  throw notOwner(caller.principal);
}

/**
 * May the caller create a ref of that name? Below its own prefixes, `refs/topics/<topic>` and `refs/repos/<repo>/<branch>`.
 * Throws `PROTECTED_REF`, `NOT_REF_OWNER`, `REF_NAME_INVALID` for a place where no ref can be made.
 */
export function requireCreatableRef(caller: ProvenCaller, refName: RefName): void {
  requireUnprotected(refName);
  const segments = refName.split('/').slice(1);
  const place = segments[0];
  if (place === 'topics' && segments.length >= 2) return;
  if (place === 'repos' && segments.length >= 3) return;
  if (isActorRef(refName) && segments.length >= 3) {
    if (ownedPrefixes(caller.principal).some((prefix) => refName.startsWith(prefix))) return;
    throw notOwner(caller.principal);
  }
  throw new Fault(
    'REF_NAME_INVALID',
    `ref_name must be ${ownedPrefixes(caller.principal)[0]}<branch>, refs/sessions/${caller.principal.actor_id}/<session>, refs/topics/<topic> or refs/repos/<repo>/<branch>.`,
    { field: 'ref_name', owned_prefixes: ownedPrefixes(caller.principal) },
  );
}

function isActorRef(refName: RefName): boolean {
  return refName.startsWith('refs/agents/') || refName.startsWith('refs/sessions/');
}

function requireUnprotected(refName: RefName): void {
  if (!isProtectedRef(refName)) return;
  throw new Fault(
    'PROTECTED_REF',
    'Refs under refs/shared/ move only by a reviewed merge. Commit to a branch of your own and propose it.',
    { ref: refName },
  );
}

function notOwner(principal: Principal): Fault {
  return new Fault('NOT_REF_OWNER', 'This ref belongs to another principal. Use a branch of your own.', {
    owned_prefixes: ownedPrefixes(principal),
  });
}
