import type { CommandContract } from '../../src-preload/contract/command.ts';
import type { Confirmed } from '../../src-preload/contract/commands/owner-word.ts';
import { ltxKeyIdSchema } from '../../src-preload/contract/ltx.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { AuditSubject, Caller } from '../charon/api.ts';
import { markOf } from '../charon/rules/act-of-power.ts';
import type { CommandCall } from './api.ts';
import { projectOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { inputDigest } from './digest.ts';

interface Findings {
  readonly project?: string;
  readonly objects?: readonly string[];
  readonly effects?: readonly string[];
  readonly requestDigest?: string;
  readonly replayed?: boolean;
  /** How an act of power from outside the desk was confirmed. */
  readonly confirmed?: Confirmed;
}

/** What the audit ledger and the metrics learn about one call, as the pipeline learns it. */
export interface AuditTrail {
  /** Adds what became known. */
  describe(found: Findings): void;
  /** Records that the call waits for the owner's word, under the id of its request, which later entries name too. */
  waits(requestId: string): void;
  /** Makes the intent durable; throws AUDIT_UNAVAILABLE, and then nothing may run. */
  intend(): Promise<void>;
  /** Records what came of the call; `fault` undefined means that it was done. Never throws. */
  finished(fault: Fault | undefined): void;
}

/** Opens the trail of one call. An unknown command is recorded under the name that was asked for. */
export function createAuditTrail(
  deps: CommandDeps,
  call: CommandCall,
  contract: CommandContract | undefined,
): AuditTrail {
  let found: Findings = {};
  let intended = false;
  let waited: string | undefined;
  const name = contract?.name ?? call.name;

  // The mark comes first: by its place it is told from an id (`charon.md` §8). A request is no object: after a crash the
  // first id of a proposal says what an intent was about.
  const marks = (): readonly string[] => [
    ...(found.confirmed === undefined ? [] : [markOf(found.confirmed)]),
    ...(waited === undefined ? [] : [`request: ${waited}`]),
  ];
  const subject = (): AuditSubject => ({
    principal: call.caller.principal.principal_id,
    ...credentialOf(call.caller),
    door: call.caller.door,
    command: name,
    project: found.project ?? projectOf(call.input) ?? '',
    objectIds: [...new Set([...marks(), ...(found.objects ?? []), ...(found.effects ?? [])])],
    requestDigest: found.requestDigest ?? inputDigest(call.input, contract) ?? '',
    correlationId: call.correlationId,
    idempotencyKey: contract?.mutates === true ? keyOf(call.input) : undefined,
  });

  const record = (fault: Fault | undefined): void => {
    const outcome = fault === undefined ? (found.replayed === true ? 'replayed' : 'ok') : `${fault.kind} ${fault.code}`;
    if (intended) guarded(() => deps.charon.audit.outcome(subject(), outcome));
    else if (isRecorded(contract, fault)) guarded(() => deps.charon.audit.note(subject(), outcome));
  };
  const guarded = (write: () => void): void => {
    try {
      write();
    } catch (thrown) {
      deps.log.error(
        { err: thrown, command: name, correlation: call.correlationId },
        'the audit did not take what came of a command',
      );
    }
  };

  return {
    describe: (more) => {
      found = { ...found, ...more };
    },
    waits: (requestId) => {
      waited = requestId;
      guarded(() => deps.charon.audit.note(subject(), 'waiting'));
    },
    intend: async () => {
      try {
        await deps.charon.audit.intent(subject());
      } catch (thrown) {
        deps.metrics.count('ledgerAppendFailures');
        throw thrown instanceof Fault && thrown.code === 'AUDIT_UNAVAILABLE'
          ? thrown
          : new Fault(
              'AUDIT_UNAVAILABLE',
              'The audit ledger cannot be written, so nothing was done. See to its disk and try again.',
              {},
              { cause: thrown },
            );
      }
      intended = true;
    },
    finished: (fault) => {
      record(fault);
      if (found.confirmed !== undefined) deps.events.publish([{ kind: 'owner_requests_changed' }]);
      countOutcome(deps, name, fault, found.replayed === true, intended);
      if (call.caller.credential.kind !== 'owner') noteAgent(deps, call, contract, fault === undefined);
    },
  };
}

/**
 * Every refusal is recorded and so is everything that a bearer asks; of what the owner looks at, the reads of memory. The
 * owner's looking at the engine itself is not: the desk does that all the time, and reading the ledger would fill it.
 */
function isRecorded(contract: CommandContract | undefined, fault: Fault | undefined): boolean {
  return fault !== undefined || contract === undefined || contract.scope !== 'owner';
}

/** Commands that file a proposal. */
const filing: ReadonlySet<string> = new Set([
  'memory.merge_propose',
  'memory.revert_propose',
  'proposal.revert_advance',
]);

function countOutcome(
  deps: CommandDeps,
  name: string,
  fault: Fault | undefined,
  replayed: boolean,
  intended: boolean,
): void {
  const { metrics } = deps;
  if (fault?.kind === 'denied') metrics.count('authzDenials');
  if (fault?.code === 'IDEMPOTENCY_MISMATCH') metrics.count('idempotencyMismatches');
  if (replayed) metrics.count('idempotentReplays');
  if (!intended) return;
  if (filing.has(name) && fault === undefined) metrics.count('proposalsCreated');
  if (name !== 'memory.merge') return;
  metrics.count('mergeAttempts');
  if (fault?.code === 'REF_MOVED' || fault?.code === 'PROPOSAL_STALE') metrics.count('mergeCasConflicts');
}

/** A credential as entries name it: by its kind, and by what of it may be told; the prefix is that of its token. */
export function credentialOf({ credential }: Caller): Pick<AuditSubject, 'credentialKind' | 'credentialId'> {
  const { kind, id } = credential;
  if (kind === 'oauth') return { credentialKind: kind, credentialId: `oauth_${id}` };
  if (kind !== 'ltx') return { credentialKind: kind, credentialId: id };
  const use = credential.key === 'root' ? '' : credential.key === 'session' ? 'session_' : 'sub_';
  return { credentialKind: kind, credentialId: `ltx_${use}${id}` };
}

/** The caller's own key, so that an intent without an outcome can be settled after a crash. */
function keyOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('idempotency_key' in input)) return undefined;
  return typeof input.idempotency_key === 'string' ? input.idempotency_key : undefined;
}

function noteAgent(deps: CommandDeps, call: CommandCall, contract: CommandContract | undefined, ok: boolean): void {
  const { credential, principal } = call.caller;
  const tool = contract === undefined ? 'unknown' : contract.name.replace('.', '_');
  const use = { client: call.client, tool };
  if (credential.kind === 'obol') deps.charon.noteUse(credential.id, use);
  if (credential.kind === 'ltx' && credential.key !== 'session')
    deps.charon.ltx.noteKeyUse(ltxKeyIdSchema.parse(credential.id), use);
  deps.events.publish([
    { kind: 'agent_called', principal_id: principal.principal_id, tool, ok, at: toTimestamp(deps.clock.nowMs()) },
  ]);
}
