import type { CommandContract } from '../../src-preload/contract/command.ts';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Timestamp } from '../../src-preload/contract/ids.ts';
import type { Caller } from '../charon/api.ts';
import type { Confirmable } from './confirmations.ts';

/** One request at a door, before anything of it was believed. */
export interface CommandCall {
  /** `<family>.<verb>`, as it came: an unknown one is refused and audited. */
  readonly name: string;
  readonly input: unknown;
  readonly caller: Caller;
  /** Client name and version as the door knows them, for the token's last use. */
  readonly client: string;
  /** One per request, in the audit's intent and outcome and in the log. */
  readonly correlationId: string;
  /** Aborted when the client went away: it does not wait for the owner's word any longer. */
  readonly signal?: AbortSignal | undefined;
  /** Told when the call begins to wait for the owner's word at the desk. */
  readonly onWaiting?: (() => void) | undefined;
  /** What `confirm` gave for exactly this call. */
  readonly confirmation?: string | undefined;
}

/** The command pipeline, the same behind every door (`design.md` §5). */
export interface Commands {
  /** Resolves with the parsed output of the command; rejects with a Fault only. */
  run(call: CommandCall): Promise<unknown>;
  /** The typed form, for doors that know what they call. */
  call<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    caller: Caller,
    confirmation?: string,
  ): Promise<CommandOutput<Name>>;
  /**
   * A confirmation of one act of power by the owner's passphrase, good once within a minute for what a CONFIRMATION_REQUIRED
   * named (`charon.md` §8). Throws CONFIRMATION_REFUSED, CONFIRMATION_UNVERIFIED, RATE_LIMITED.
   */
  confirm(
    what: Confirmable,
    passphrase: string,
    caller: Caller,
  ): Promise<{ readonly confirmation: string; readonly expires_at: Timestamp }>;
  /** A desk is open from now on, at which the owner can click; returns how it ends. */
  attachDesk(): () => void;
  /** The rows that this caller's scopes admit, in table order; `tool` only for agents. */
  listFor(caller: Caller): readonly CommandContract[];
  /** Events after they became durable; returns the way to stop. */
  subscribe(listener: (event: EngineEvent) => void): () => void;
}
