import type { z } from 'zod';
import type { CommandContract } from '../../src-preload/contract/command.ts';
import { type CommandName, type CommandOutput, commandTable } from '../../src-preload/contract/commands/table.ts';
import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';

type Row = (typeof commandTable)[number];
type RowOf<Name extends CommandName> = Extract<Row, { readonly name: Name }>;

/** One call whose input was parsed. `projectId` is known once the pipeline found it. */
export interface Call<Input> {
  readonly input: Input;
  readonly caller: Caller;
  readonly requestDigest: string;
  readonly projectId: ProjectId | undefined;
}

/** The object that a command is about: its project, and what to say to a caller who may not know that it exists. */
export interface Located {
  readonly projectId: ProjectId;
  readonly missing: Fault;
}

/** What a family says about one of its commands; the pipeline decides when each part runs (`design.md` §5). */
export interface Handler<Input, Output> {
  /** What the schema cannot say about the input. Throws INPUT_INVALID and the like; decides nothing about rights. */
  check?(input: Input, caller: Caller): void;
  /** For `project: 'object'`: finds the object, or throws the same fault that `missing` holds. */
  locate?(input: Input): Located | Promise<Located>;
  /** Ids that the audit keeps about the request: ids, names and keys, never content. */
  objects?(input: Input, caller: Caller): readonly string[];
  /** The first answer of the same request, or undefined when there was none. Throws IDEMPOTENCY_MISMATCH. */
  replay?(call: Call<Input>): Output | undefined | Promise<Output | undefined>;
  /** Load, ownership, separation of duties, state: throws what must be refused before an intent is recorded. */
  prepare?(call: Call<Input>): void | Promise<void>;
  run(call: Call<Input>): Output | Promise<Output>;
  /** Ids that the audit keeps about the answer. */
  effects?(output: Output): readonly string[] | Promise<readonly string[]>;
}

/** One call on its way through the pipeline, its input and output types closed inside. */
export interface OpenCall {
  readonly caller: Caller;
  /** The parsed input, for the request digest. */
  readonly input: unknown;
  readonly projectInInput: string | undefined;
  readonly objects: readonly string[];
  locate(): Promise<Located | undefined>;
  replay(place: Place): Promise<Answer | undefined>;
  prepare(place: Place): Promise<void>;
  run(place: Place): Promise<Answer>;
}

/** What the pipeline found out before the handler runs. */
export interface Place {
  readonly projectId: ProjectId | undefined;
  readonly requestDigest: string;
}

/** A parsed output and the ids that the audit keeps about it. */
export interface Answer {
  readonly output: unknown;
  readonly effects: readonly string[];
}

export interface BoundCommand {
  readonly contract: CommandContract;
  /** Strict parse: throws INPUT_INVALID naming the field, or the unknown key. */
  open(raw: unknown, caller: Caller): OpenCall;
}

/** The row of the command table of that name. */
export function rowOf<Name extends CommandName>(name: Name): RowOf<Name> {
  const row = commandTable.find((candidate): candidate is RowOf<Name> => candidate.name === name);
  if (row === undefined) throw new Fault('COMMAND_UNKNOWN', `There is no command ${name}.`);
  return row;
}

/** The codec of what a command answers: strict, so that a door of another version is noticed. */
export function parseOutput<Name extends CommandName>(name: Name, output: unknown): CommandOutput<Name> {
  return rowOf(name).output.parse(output) as CommandOutput<Name>;
}

/** Joins a row of the table with what its family says about it. */
export function bind<Input extends z.ZodType, Output extends z.ZodType>(
  contract: CommandContract<Input, Output>,
  handler: Handler<z.output<Input>, z.output<Output>>,
): BoundCommand {
  const close = async (output: z.output<Output>): Promise<Answer> => {
    const parsed = contract.output.safeParse(output);
    if (!parsed.success) throw wrongAnswer(contract, parsed.error.issues[0]?.path.join('.') ?? '');
    return { output: parsed.data, effects: (await handler.effects?.(output)) ?? [] };
  };
  return {
    contract,
    open: (raw, caller) => {
      const parsed = contract.input.safeParse(raw);
      if (!parsed.success) throw inputFault(parsed.error.issues, contract.mutates);
      const input = parsed.data;
      handler.check?.(input, caller);
      const call = (place: Place): Call<z.output<Input>> => ({ input, caller, ...place });
      return {
        caller,
        input,
        projectInInput: projectOf(raw),
        objects: handler.objects?.(input, caller) ?? [],
        locate: async () => handler.locate?.(input),
        replay: async (place) => {
          const output = await handler.replay?.(call(place));
          return output === undefined ? undefined : close(output);
        },
        prepare: async (place) => handler.prepare?.(call(place)),
        run: async (place) => close(await handler.run(call(place))),
      };
    },
  };
}

/** A wrong answer is our own bug, and the answer may quote memory: only its place is said, and only to the log. */
function wrongAnswer(contract: CommandContract, place: string): Fault {
  const message = contract.mutates
    ? 'The request was carried out, but its answer could not be made. Look at the present state before you repeat it.'
    : 'The answer could not be made. Nothing was changed; the log names the cause.';
  const cause = new Error(`${contract.name} made an answer that its contract refuses at ${place}`);
  return new Fault('INTERNAL', message, {}, { cause });
}

/** The project that an input names, for the audit; undefined when it names none. */
export function projectOf(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null || !('project' in raw)) return undefined;
  return typeof raw.project === 'string' ? raw.project : undefined;
}

const attributionKeys: ReadonlySet<string> = new Set(['author_principal', 'actor_id']);

/** The first thing wrong with an input, with its path; unknown keys by their names. */
function inputFault(issues: readonly z.core.$ZodIssue[], mutates: boolean): Fault {
  const issue = issues[0];
  if (issue === undefined) return new Fault('INPUT_INVALID', 'The input cannot be read.');
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => JSON.stringify(key.slice(0, 128))).join(', ');
    const forged = mutates && issue.path.length === 0 && issue.keys.find((key) => attributionKeys.has(key));
    if (forged) {
      return new Fault('ATTRIBUTION_FORGED', `${forged}: who acts comes from the credential. Leave the key out.`, {
        field: forged,
        keys: issue.keys,
      });
    }
    const where = path === '' ? 'the input' : path;
    return new Fault(
      'INPUT_INVALID',
      `${where} has ${issue.keys.length === 1 ? 'an unknown key' : 'unknown keys'}: ${names}. Leave ${issue.keys.length === 1 ? 'it' : 'them'} out.`,
      { field: path, keys: issue.keys },
    );
  }
  return new Fault('INPUT_INVALID', `${path === '' ? 'the input' : path}: ${issue.message}`, { field: path });
}
