import type { ParsedInput } from '../../src-preload/contract/commands/table.ts';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import { contextLimitDefault } from '../../src-preload/contract/limits.ts';
import { type MemoryContext, memoryFilterParts } from '../../src-preload/contract/memory.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { ContextInput } from '../lethe/api.ts';
import type { MemoryFilter } from '../lethe/rules/memory-filter.ts';
import type { Call } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { fitPage } from './page.ts';
import { requireDisk } from './room.ts';
import { getServedRef } from './served-refs.ts';

type Input = ParsedInput<'memory.context_at'>;

const selectors = [
  ...(['ref', 'head_changeset_id', 'at', 'query', 'limit', 'excluded', 'cursor', 'pin'] as const),
  ...memoryFilterParts,
] as const;

/** Head and moment are two ways to say one thing: one of them is given. Throws INPUT_INVALID. */
export function checkMoment(input: Pick<Input, 'head_changeset_id' | 'at'>): void {
  if (input.head_changeset_id === undefined || input.at === undefined) return;
  throw new Fault('INPUT_INVALID', 'at: give either at or head_changeset_id, not both.', { field: 'at' });
}

/** The filter of a read as the store takes it. */
export function filterOf(input: MemoryFilter): MemoryFilter {
  const { kinds, tags, visibilities, scopes, authors, trusts, since, until } = input;
  return { kinds, tags, visibilities, scopes, authors, trusts, since, until };
}

/** A manifest says everything about a context by itself; a list of what is left out is no context to pin. */
export function checkContextInput(input: Input): void {
  checkMoment(input);
  if (input.excluded === true && input.pin === true)
    throw new Fault(
      'INPUT_INVALID',
      'pin: a list of what a context leaves out is not pinned. Leave pin or excluded out.',
      {
        field: 'pin',
      },
    );
  if (input.manifest_id === undefined) return;
  const other = selectors.find((key) => input[key] !== undefined);
  if (other !== undefined)
    throw new Fault('INPUT_INVALID', `${other}: a manifest_id says what to read by itself. Leave ${other} out.`, {
      field: other,
    });
}

/**
 * Accepted memory at a head, in a page that fits. Where the caller may pin and does not decline, what was read is kept as
 * an immutable input manifest (`charon.md` §3): the page that is pinned is the page that is answered.
 */
export async function readContext(deps: CommandDeps, call: Call<Input>): Promise<MemoryContext> {
  const { lethe } = deps;
  const { input, caller } = call;
  if (input.manifest_id !== undefined) {
    const context = await lethe.manifestContext(input.project, input.manifest_id);
    await getServedRef(lethe, caller, input.project, context.ref_name);
    return context;
  }
  const selection: ContextInput = {
    projectId: input.project,
    refName: input.ref ?? mainRefName,
    headChangesetId: input.head_changeset_id,
    at: input.at,
    query: input.query,
    limit: input.limit ?? contextLimitDefault,
    ...filterOf(input),
    excluded: input.excluded,
    cursor: input.cursor,
  };
  const pin = decidePin(deps, call);
  const read = async (limit: number) => ({ limit, context: await lethe.context({ ...selection, limit }) });
  const { limit, context } = await fitPage(selection.limit, read, (page) => page.context.memories.length);
  if (!pin) return context;
  // The head that was read, not the ref's head of a moment later.
  const { at, ...rest } = selection;
  return lethe.pinContext({
    ...rest,
    limit,
    headChangesetId: context.head_changeset_id,
    actorId: caller.principal.actor_id,
  });
}

/** Pins unless declined, for who may commit there. Asked for outright without the right, it is refused. */
function decidePin(deps: CommandDeps, { input, caller }: Call<Input>): boolean {
  if (input.pin === false || input.excluded === true) return false;
  if (input.pin === true) {
    deps.charon.requireScope(caller, 'memory.commit');
    deps.charon.requireGrant(caller, input.project, false);
    if (deps.recoveryReadonly)
      throw new Fault(
        'READ_ONLY',
        'pin: Memory Git was started read-only for recovery, and a pin is written. Read without it.',
        { field: 'pin' },
      );
    requireDisk(deps);
    return true;
  }
  return !deps.recoveryReadonly && mayPin(deps, input, caller);
}

function mayPin(deps: CommandDeps, input: Input, caller: Caller): boolean {
  if (!caller.scopes.includes('memory.commit')) return false;
  try {
    deps.charon.requireGrant(caller, input.project, false);
    requireDisk(deps);
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && (thrown.code === 'GRANT_MISSING' || thrown.code === 'DISK_FULL')) return false;
    throw thrown;
  }
}
