import type { ZodType } from 'zod';
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  commandTable,
} from '../../src-preload/contract/commands/table.ts';
import { type EngineEvent, engineEventSchema } from '../../src-preload/contract/events.ts';
import type { ConnectionWatch } from './connection.ts';
import { Refusal } from './refusal.ts';
import type { Transport } from './transport.ts';

/** The desk's one way to the engine, the same in the window and on the owner page. */
export interface Client {
  readonly connection: ConnectionWatch;
  /** Runs a command; resolves with its checked output, rejects with a Refusal. */
  request<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>;
  /** Events after they became durable; returns the way to stop. */
  subscribe(listener: (event: EngineEvent) => void): () => void;
  /** Places that the shell asks to be shown: a notification or a link was followed. Returns the way to stop. */
  subscribePlaces(listener: (place: string) => void): () => void;
}

/** A client over either transport. Outputs and events are parsed with the contract's own schemas; unknown events are ignored. */
export function createClient(transport: Transport): Client {
  return {
    connection: transport.connection,
    async request(name, input) {
      return parseOutput(name, await transport.call(name, input));
    },
    subscribe: (listener) =>
      transport.listen((raw) => {
        const event = engineEventSchema.safeParse(raw);
        if (event.success) listener(event.data);
      }),
    subscribePlaces: (listener) => transport.listenPlaces(listener),
  };
}

/** The codec between the wire and the desk: the one place where a parsed value gets its command's type. */
function parseOutput<Name extends CommandName>(name: Name, raw: unknown): CommandOutput<Name> {
  const row = commandTable.find((candidate) => candidate.name === name);
  const schema: ZodType | undefined = row?.output;
  const parsed = schema?.safeParse(raw);
  if (parsed?.success) return parsed.data as CommandOutput<Name>;
  throw new Refusal('INTERNAL', `The engine's answer to ${name} has a form that this desk does not know.`);
}
