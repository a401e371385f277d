import { type ActorId, actorIdSchema, type PrincipalId, principalIdSchema } from '../../../src-preload/contract/ids.ts';
import { Fault } from '../../base/fault.ts';

/** Names that stand for the store itself in what it writes. */
const reserved: ReadonlySet<string> = new Set(['system']);

/**
 * The actor id of a new principal: the principal id unless the owner gives one (`charon.md` §1). One that looks like a
 * principal id is refused, since it would take the name of somebody to come.
 * Throws `INPUT_INVALID` naming the field.
 */
export function decideActorId(principalId: PrincipalId, given: string | undefined): ActorId {
  if (given === undefined) return actorIdSchema.parse(principalId);
  const parsed = actorIdSchema.safeParse(given);
  const lower = given.toLowerCase();
  if (parsed.success && !reserved.has(lower) && !principalIdSchema.safeParse(lower).success) return parsed.data;
  throw new Fault(
    'INPUT_INVALID',
    'actor_id must be one path component of letters, digits, `.`, `_`, `-`, at most 128, not `.`, `..` or `system`, and not shaped like a principal id.',
    { field: 'actor_id' },
  );
}

/** Two actor ids are the same when their keys are: case does not tell them apart (`charon.md` §1). */
export function actorKey(actorId: ActorId): string {
  return actorId.toLowerCase();
}
