import { type PrincipalId, principalIdSchema, type Timestamp } from '../../src-preload/contract/ids.ts';
import type { Grant, Principal, Profile } from '../../src-preload/contract/principal.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { type CharonContext, write } from './context.ts';
import { actorKey, decideActorId } from './rules/actor.ts';
import {
  actorIdIsTaken,
  deleteGrant,
  findPrincipal,
  findPrincipalByName,
  insertGrant,
  insertPrincipal,
  updateEnabled,
  updateProfile,
} from './tables/principals.ts';

/** The name that the owner has from the first start on. */
const ownerName = 'Owner';
const nameCharactersMax = 128;

/** What a principal is to be. */
export interface ReconcileInput {
  readonly name: string;
  readonly profile: Profile;
  readonly grant: Grant;
  readonly actorId?: string | undefined;
}

/** The principal of that id. Throws `PRINCIPAL_NOT_FOUND`. */
export function getPrincipal(db: ReadableDb, principalId: PrincipalId): Principal {
  const found = findPrincipal(db, principalId);
  if (found !== undefined) return found;
  throw new Fault('PRINCIPAL_NOT_FOUND', 'principal_id names no principal. `principal list` shows them all.', {
    field: 'principal_id',
  });
}

/** The owner of a new home, in the transaction that makes the home (`charon.md` §1). */
export function makeOwner(db: WritableDb, ids: Ids, createdAt: Timestamp): Principal {
  return makePrincipal(db, ids, { name: ownerName, profile: 'owner', actorId: undefined, createdAt });
}

/**
 * Finds the principal of exactly that name or creates it, sets its profile and adds the grant; takes nothing away
 * (`charon.md` §8). Throws `OWNER_ONLY` for the owner's profile or name, `PRINCIPAL_EXISTS` for an actor id that
 * is taken or that differs from the one it has, `INPUT_INVALID`.
 */
export function reconcilePrincipal(
  context: CharonContext,
  input: ReconcileInput,
): Promise<{ readonly principal: Principal; readonly created: boolean }> {
  return write(context, (db, emit) => {
    requireName(input.name);
    const known = findPrincipalByName(db, input.name);
    if (input.profile === 'owner' || known?.profile === 'owner') {
      throw new Fault(
        'OWNER_ONLY',
        'There is exactly one owner, made at first start. Choose another name and one of the profiles readonly, propose, review, write.',
      );
    }
    requireSameActor(known, input.actorId);
    const createdAt = toTimestamp(context.clock.nowMs());
    const target =
      known ??
      makePrincipal(db, context.ids, { name: input.name, profile: input.profile, actorId: input.actorId, createdAt });
    updateProfile(db, target.principal_id, input.profile);
    insertGrant(db, target.principal_id, input.grant, createdAt);
    emit({ kind: 'principal_changed', principal_id: target.principal_id });
    return { principal: getPrincipal(db, target.principal_id), created: known === undefined };
  });
}

/** From the next call on. Throws `PRINCIPAL_NOT_FOUND`, `INPUT_INVALID` for the owner, who cannot be disabled. */
export function setPrincipalEnabled(
  context: CharonContext,
  principalId: PrincipalId,
  enabled: boolean,
): Promise<Principal> {
  return write(context, (db, emit) => {
    const known = getPrincipal(db, principalId);
    if (known.profile === 'owner' && !enabled) {
      throw new Fault('INPUT_INVALID', 'principal_id names the owner, who cannot be disabled.', {
        field: 'principal_id',
      });
    }
    updateEnabled(db, principalId, enabled);
    emit({ kind: 'principal_changed', principal_id: principalId });
    return getPrincipal(db, principalId);
  });
}

/** Takes one exact grant away, from the next call on; one that is not there stays away. Throws `PRINCIPAL_NOT_FOUND`. */
export function revokeGrant(context: CharonContext, principalId: PrincipalId, grant: Grant): Promise<Principal> {
  return write(context, (db, emit) => {
    getPrincipal(db, principalId);
    if (deleteGrant(db, principalId, grant)) emit({ kind: 'principal_changed', principal_id: principalId });
    return getPrincipal(db, principalId);
  });
}

/** A new principal without a grant, in the caller's transaction. Throws `PRINCIPAL_EXISTS` for an actor id that is taken. */
export function makePrincipal(
  db: WritableDb,
  ids: Ids,
  wanted: {
    readonly name: string;
    readonly profile: Profile;
    readonly actorId: string | undefined;
    readonly createdAt: Timestamp;
  },
): Principal {
  const principalId = principalIdSchema.parse(`principal_${ids.randomBytes(8).toString('hex')}`);
  const actorId = decideActorId(principalId, wanted.actorId);
  if (actorIdIsTaken(db, actorKey(actorId))) {
    throw new Fault(
      'PRINCIPAL_EXISTS',
      'actor_id is taken, or was once: actor ids are unique whatever their case and never used again. Choose another.',
      { field: 'actor_id' },
    );
  }
  const principal: Principal = {
    principal_id: principalId,
    name: wanted.name,
    actor_id: actorId,
    profile: wanted.profile,
    enabled: true,
    grants: [],
    created_at: wanted.createdAt,
  };
  insertPrincipal(db, principal, actorKey(actorId));
  return principal;
}

function requireName(name: string): void {
  if (name !== '' && name.length <= nameCharactersMax && name.isWellFormed()) return;
  throw new Fault('INPUT_INVALID', `name must have 1 to ${nameCharactersMax} characters.`, { field: 'name' });
}

function requireSameActor(known: Principal | undefined, actorId: string | undefined): void {
  if (known === undefined || actorId === undefined || known.actor_id === actorId) return;
  throw new Fault(
    'PRINCIPAL_EXISTS',
    'A principal of that name exists with another actor_id, which never changes. Leave actor_id out or choose another name.',
    {
      field: 'actor_id',
      actor_id: known.actor_id,
    },
  );
}
