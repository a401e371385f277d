import { useState } from 'react';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { useEngineCommand } from './queries.tsx';
import { type Refusal, refusalOf } from './refusal.ts';

/** One act of a dialog: sent once, its refusal kept to be shown. */
interface Act<Name extends CommandName> {
  readonly send: (input: CommandInput<Name>) => void;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
}

/** Runs a command from a dialog and goes on with what it answered; a refusal stays in the dialog. */
export function useAct<Name extends CommandName>(name: Name, done: (output: CommandOutput<Name>) => void): Act<Name> {
  const command = useEngineCommand(name);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const run = async (input: CommandInput<Name>): Promise<void> => {
    setRefusal(null);
    try {
      done(await command.mutateAsync(input));
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  };
  return { send: (input) => void run(input), busy: command.isPending, refusal };
}
