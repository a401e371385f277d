import type { CommandContract } from '../../src-preload/contract/command.ts';
import { recoveryCommands } from '../../src-preload/contract/commands/backup.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { type ProjectId, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { assert } from '../base/assert.ts';
import { Fault, toFault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { CommandCall, Commands } from './api.ts';
import { type AuditTrail, createAuditTrail } from './audit-trail.ts';
import { type Answer, type BoundCommand, type OpenCall, type Place, parseOutput } from './bind.ts';
import { type CommandDeps, liveCaller } from './deps.ts';
import { inputDigest } from './digest.ts';
import type { WaitingTimes } from './owner-requests.ts';
import { createPowerGate, type PowerGate } from './power-gate.ts';
import { createRegistry } from './registry.ts';
import { roomOf } from './room.ts';

/** The pipeline with what the composition root needs of it beside. */
export interface CommandPipeline extends Commands {
  /** Refuses what waits for the owner's word: the doors close next, and wait for their answers. */
  endWaiting(): void;
  /** Refuses calls from now on with CLOSED and waits for those that run. */
  close(): Promise<void>;
}

/**
 * Builds the command pipeline (`design.md` §5): every call of every door passes the same steps in the same order, and
 * whatever comes of it is in the audit ledger. See SPEC.md beside this file for the order, rule by rule.
 */
export function createCommands(deps: CommandDeps, times?: WaitingTimes): CommandPipeline {
  const gate = createPowerGate(deps, times);
  const registry = createRegistry(deps, gate.requests);
  const running = new Set<Promise<unknown>>();
  let closed = false;

  const unlessClosed = <Result>(start: () => Promise<Result>): Promise<Result> => {
    if (closed)
      return Promise.reject(
        new Fault('CLOSED', 'Memory Git is shutting down. Nothing was done; try again when it is back.'),
      );
    const result = start();
    running.add(result);
    const done = (): void => void running.delete(result);
    result.then(done, done);
    return result;
  };
  const run = (call: CommandCall): Promise<unknown> =>
    unlessClosed(() => runOne(deps, gate, registry.get(call.name), call));

  return {
    run,
    call: async <Name extends CommandName>(
      name: Name,
      input: CommandInput<Name>,
      caller: Caller,
      confirmation?: string,
    ): Promise<CommandOutput<Name>> => {
      const correlationId = deps.ids.uuidv7();
      return parseOutput(name, await run({ name, input, caller, client: '', correlationId, confirmation }));
    },
    confirm: (what, passphrase, caller) =>
      unlessClosed(() => gate.confirm({ ...what, passphrase, caller, correlationId: deps.ids.uuidv7() })),
    attachDesk: gate.requests.attachDesk,
    endWaiting: gate.requests.close,
    listFor: (caller) =>
      [...registry.values()].map(({ contract }) => contract).filter((contract) => admits(contract, caller)),
    subscribe: (listener) => deps.events.subscribe(listener),
    close: async () => {
      closed = true;
      gate.requests.close();
      await Promise.allSettled(running);
    },
  };
}

function admits(contract: CommandContract, caller: Caller): boolean {
  const byOwner = caller.credential.kind === 'owner';
  if (contract.scope === 'owner') return byOwner;
  return caller.scopes.includes(contract.scope) && (byOwner || contract.tool);
}

async function runOne(
  deps: CommandDeps,
  gate: PowerGate,
  bound: BoundCommand | undefined,
  call: CommandCall,
): Promise<unknown> {
  const startedMs = deps.monotonicMs();
  const trail = createAuditTrail(deps, call, bound?.contract);
  let leave: (() => void) | undefined;
  const enter = async (): Promise<void> => {
    leave = await deps.backups?.stillness.enter();
  };
  try {
    const output = await pass({ deps, gate, call, trail, enter }, bound);
    trail.finished(undefined);
    return output;
  } catch (thrown) {
    const fault = toFault(thrown);
    if (fault.code === 'INTERNAL')
      deps.log.error(
        { err: thrown, command: bound?.contract.name ?? 'unknown', correlation: call.correlationId },
        'a command failed by our own fault',
      );
    trail.finished(fault);
    throw fault;
  } finally {
    leave?.();
    if (bound !== undefined) deps.metrics.observe(bound.contract.name, (deps.monotonicMs() - startedMs) / 1_000);
  }
}

/** The steps, in their order. Each of them may throw the refusal of the call. */
async function pass(way: Way, bound: BoundCommand | undefined): Promise<unknown> {
  const { deps, call, trail } = way;
  const caller = liveCaller(deps.charon, call.caller);
  const { command, opened } = open(deps, bound, call, caller);
  const { contract } = command;
  const requestDigest = getDigest(contract, opened.input);
  trail.describe({ objects: opened.objects, requestDigest });
  deps.charon.requireScope(caller, contract.scope);
  const projectId = await requireProject(deps, contract, opened, trail);
  const place: Place = { projectId, requestDigest };

  const replayed = await opened.replay(place);
  if (replayed !== undefined) {
    trail.describe({ replayed: true, effects: replayed.effects });
    return replayed.output;
  }
  if (contract.mutates && deps.recoveryReadonly && (!changesNoStore.has(contract.name) || isVain(deps, contract))) {
    throw new Fault(
      'READ_ONLY',
      'Memory Git was started read-only for recovery. Reading works; nothing can be changed until it is started normally.',
    );
  }
  await opened.prepare(place);
  await confirmPower(way, contract, opened, place);
  const answer = contract.mutates ? await mutate(way, contract, opened, place) : await opened.run(place);
  trail.describe({ effects: answer.effects });
  return answer.output;
}

/** What one call is carried through the steps with. */
interface Way {
  readonly deps: CommandDeps;
  readonly gate: PowerGate;
  readonly call: CommandCall;
  readonly trail: AuditTrail;
  /** Waits where a backup needs a moment in which nothing is under way; from then on this call is. */
  enter(): Promise<void>;
}

/** Acts that are recorded as such and write nothing but that: they work in recovery too. */
const changesNoStore: ReadonlySet<string> = new Set([
  ...['owner_request.decide', 'owner_page.open'],
  ...recoveryCommands,
]);

/** Whether it would be done to a copy that is removed when this run ends (H52). */
function isVain(deps: CommandDeps, contract: CommandContract): boolean {
  return deps.isReadingCopy === true && recoveryCommands.has(contract.name);
}

/** An act of power from outside the desk runs as it was confirmed, and what was looked at before a wait is looked at again. */
async function confirmPower(way: Way, contract: CommandContract, opened: OpenCall, place: Place): Promise<void> {
  const { gate, call, trail } = way;
  const { caller, input } = opened;
  const { requestDigest } = place;
  const confirmed = await gate.pass(contract, { call, caller, input, requestDigest }, trail);
  if (confirmed === undefined) return;
  trail.describe({ confirmed });
  if (confirmed !== 'desk') return;
  assert(getDigest(contract, opened.input) === requestDigest, 'what runs is what the owner was shown');
  await opened.prepare(place);
}

/** Room first, then the intent, then the deed: what has no room leaves no intent. */
async function mutate(
  { deps, trail, enter }: Way,
  contract: CommandContract,
  opened: OpenCall,
  place: Place,
): Promise<Answer> {
  await enter();
  const room = roomOf(deps, contract, opened.caller, opened.input);
  room.check();
  await room.take(trail.intend());
  try {
    return await opened.run(place);
  } catch (thrown) {
    await room.giveBack();
    throw thrown;
  }
}

/** The digest by which a request is known again. Two requests may never share one, so an input without one is refused. */
function getDigest(contract: CommandContract, input: unknown): string {
  const digest = inputDigest(input, contract);
  if (digest !== undefined) return digest;
  throw new Fault(
    'INPUT_INVALID',
    'The input has no canonical form: two keys of an object are the same, or a number is out of range.',
  );
}

function open(
  deps: CommandDeps,
  bound: BoundCommand | undefined,
  call: CommandCall,
  caller: Caller,
): { readonly command: BoundCommand; readonly opened: OpenCall } {
  try {
    if (bound === undefined)
      throw new Fault('COMMAND_UNKNOWN', 'There is no such command. List the tools to see what there is.');
    return { command: bound, opened: bound.open(call.input, caller) };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'invalid') deps.metrics.count('strictParsingRejections');
    throw thrown;
  }
}

/**
 * The project of the call, with the grant for it. Where only an object is named it is loaded first, and an object in a
 * project that the caller may not read is as unknown as one that does not exist.
 */
async function requireProject(
  deps: CommandDeps,
  contract: CommandContract,
  opened: OpenCall,
  trail: AuditTrail,
): Promise<ProjectId | undefined> {
  if (contract.project === 'none') return undefined;
  if (contract.project === 'project') {
    const projectId = projectIdSchema.parse(opened.projectInInput);
    deps.charon.requireGrant(opened.caller, projectId, !contract.mutates);
    return projectId;
  }
  const located = await opened.locate();
  assert(located !== undefined, `${contract.name} says which project its object is in`);
  trail.describe({ project: located.projectId });
  if (!mayRead(deps, opened.caller, located.projectId)) throw located.missing;
  deps.charon.requireGrant(opened.caller, located.projectId, !contract.mutates);
  return located.projectId;
}

function mayRead(deps: CommandDeps, caller: Caller, projectId: ProjectId): boolean {
  try {
    deps.charon.requireGrant(caller, projectId, true);
    return true;
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'GRANT_MISSING') return false;
    throw thrown;
  }
}
