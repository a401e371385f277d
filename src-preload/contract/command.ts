import type { z } from 'zod';
import type { Scope } from './principal.ts';

/** What a client is told about a tool beside its schema; must be true (`charon.md` §3). */
export interface CommandAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
}

/**
 * One row of the command table: every door (window, owner page, owner socket, MCP, command line) is a loop over these.
 * `name` is `<family>.<verb>`; the MCP tool is the same with an underscore.
 * `scope` is what the caller must hold; `owner` admits the owner's doors only.
 * `project` says where the project stands in the input: a key of it, `object` when it is known only after the object
 * was loaded, or `none`.
 * `power` marks an act that gives rights or puts memory into a protected ref.
 * `secrets` names the keys of the input that hold one: no digest is taken over their values, and nobody is shown them.
 */
export interface CommandContract<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope | 'owner';
  readonly project: 'project' | 'object' | 'none';
  readonly mutates: boolean;
  readonly power: boolean;
  readonly secrets: readonly string[];
  readonly tool: boolean;
  readonly annotations: CommandAnnotations;
  readonly input: Input;
  readonly output: Output;
}

const read: CommandAnnotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const write: CommandAnnotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };

/**
 * A command that agents may call too: it appears among the MCP tools of whoever holds its scope, unless it says `tool: false`,
 * which leaves it to the doors that call it by name.
 */
export function agentCommand<const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(row: {
  readonly name: Name;
  readonly title: string;
  readonly description: string;
  readonly scope: Scope;
  readonly project: CommandContract['project'];
  readonly mutates: boolean;
  readonly power?: boolean;
  readonly tool?: boolean;
  /** Reads memory and may keep a record of what was read: no change to memory, and yet not only a read. */
  readonly records?: boolean;
  readonly input: Input;
  readonly output: Output;
}): CommandContract<Input, Output> & { readonly name: Name } {
  const { records = false, ...rest } = row;
  const { power = false, tool = true } = row;
  return { ...rest, power, secrets: [], tool, annotations: row.mutates || records ? write : read };
}

/** A command of the owner's doors: no bearer token reaches it. */
export function ownerCommand<const Name extends string, Input extends z.ZodType, Output extends z.ZodType>(row: {
  readonly name: Name;
  readonly title: string;
  readonly description: string;
  readonly mutates: boolean;
  readonly power?: boolean;
  readonly secrets?: readonly string[];
  readonly input: Input;
  readonly output: Output;
}): CommandContract<Input, Output> & { readonly name: Name } {
  return {
    ...row,
    scope: 'owner',
    project: 'none',
    power: row.power ?? false,
    secrets: row.secrets ?? [],
    tool: false,
    annotations: row.mutates ? write : read,
  };
}
