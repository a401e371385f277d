import type { CommandContract } from '../../src-preload/contract/command.ts';
import type { Confirmed } from '../../src-preload/contract/commands/owner-word.ts';
import { requestIdSchema, type Timestamp } from '../../src-preload/contract/ids.ts';
import { assertNever } from '../base/assert.ts';
import { Fault, toFault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import { confirmationUnverified } from '../charon/confirmation.ts';
import { escapeInvisibleJson } from '../text/visible.ts';
import type { CommandCall } from './api.ts';
import { type AuditTrail, credentialOf } from './audit-trail.ts';
import { commandLineOf } from './command-line.ts';
import { type Confirmable, createConfirmations } from './confirmations.ts';
import type { CommandDeps } from './deps.ts';
import { shownJson } from './digest.ts';
import { createOwnerRequests, type OwnerRequests, type WaitingTimes, waitingTimes } from './owner-requests.ts';

/** A passphrase that was typed for one act of power. */
export interface PassphraseGiven extends Confirmable {
  readonly passphrase: string;
  readonly caller: Caller;
  readonly correlationId: string;
}

/** What stands between an act of power that comes from outside the desk and its doing (`charon.md` §8). */
export interface PowerGate {
  readonly requests: OwnerRequests;
  /**
   * Resolves once the act may run, with how it was confirmed; undefined where nothing is to be confirmed: at the desk, for
   * an agent, for a command without power. Throws the faults of a request that was not allowed, CONFIRMATION_REQUIRED
   * with what to confirm, CONFIRMATION_UNVERIFIED.
   */
  pass(contract: CommandContract, call: GatedCall, trail: AuditTrail): Promise<Confirmed | undefined>;
  /** Gives a confirmation for one act, once. Throws CONFIRMATION_REFUSED, CONFIRMATION_UNVERIFIED, RATE_LIMITED, INPUT_INVALID. */
  confirm(given: PassphraseGiven): Promise<{ readonly confirmation: string; readonly expires_at: Timestamp }>;
}

/** A call whose input was parsed: its digest is that of what the owner is shown. */
export interface GatedCall {
  readonly call: CommandCall;
  readonly caller: Caller;
  readonly input: unknown;
  readonly requestDigest: string;
}

/** Builds the gate of one engine. */
export function createPowerGate(deps: CommandDeps, times: WaitingTimes = waitingTimes): PowerGate {
  const { charon, clock, ids, events } = deps;
  const requests = createOwnerRequests({ clock, publish: events.publish, times });
  const confirmations = createConfirmations(clock, ids);

  const askOwner = async (contract: CommandContract, gated: GatedCall, trail: AuditTrail): Promise<void> => {
    const { call, input } = gated;
    const requestId = requestIdSchema.parse(ids.uuidv7());
    await requests.ask({
      request_id: requestId,
      command: contract.name,
      title: contract.title,
      command_line: commandLineOf(contract, input),
      input_json: escapeInvisibleJson(shownJson(contract, input)),
      door: gated.caller.door,
      client: call.client,
      signal: call.signal,
      onWaiting: () => {
        trail.waits(requestId);
        call.onWaiting?.();
      },
    });
  };

  return {
    requests,
    pass: async (contract, gated, trail) => {
      if (!contract.power || !isOutside(gated.caller)) return undefined;
      if (requests.isDeskOpen()) {
        await askOwner(contract, gated, trail);
        return 'desk';
      }
      const { kind } = charon.word.confirmation();
      if (kind === 'off') return 'off';
      if (kind === 'unverified') throw confirmationUnverified();
      if (kind !== 'passphrase') return assertNever(kind, 'every way to confirm is known');
      const what = { command: contract.name, inputDigest: gated.requestDigest };
      const { confirmation } = gated.call;
      if (confirmation !== undefined && confirmations.take(confirmation, what)) return 'passphrase';
      throw confirmationRequired(what);
    },
    confirm: async (given) => {
      const what = { command: given.command, inputDigest: given.inputDigest };
      try {
        if (!isOutside(given.caller)) throw new Fault('OWNER_ONLY', 'Only the owner confirms acts of power.');
        if (!(await charon.word.isPassphrase(given.passphrase))) throw wrongPassphrase();
      } catch (thrown) {
        note(deps, given, `${toFault(thrown).kind} ${toFault(thrown).code}`);
        throw thrown;
      }
      note(deps, given, 'ok');
      return confirmations.give(what);
    },
  };
}

/** The owner through a door that any program of the same user can reach. */
function isOutside({ credential, door }: Caller): boolean {
  return credential.kind === 'owner' && (door === 'owner_socket' || door === 'files');
}

function note(deps: CommandDeps, given: PassphraseGiven, outcome: string): void {
  deps.charon.audit.note(
    {
      principal: given.caller.principal.principal_id,
      ...credentialOf(given.caller),
      door: given.caller.door,
      command: 'owner.confirm',
      project: '',
      objectIds: [given.command],
      requestDigest: given.inputDigest,
      correlationId: given.correlationId,
    },
    outcome,
  );
}

function confirmationRequired({ command, inputDigest }: Confirmable): Fault {
  return new Fault(
    'CONFIRMATION_REQUIRED',
    'This needs the passphrase of the owner, typed on a terminal. At the desk it is a click.',
    { confirm: 'passphrase', command, input_digest: inputDigest },
  );
}

function wrongPassphrase(): Fault {
  return new Fault('CONFIRMATION_REFUSED', 'This is not the passphrase of the owner. Nothing was done.');
}
