import { Command, CommanderError } from 'commander';
import type { CommandInput, CommandName, CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { Fault, toFault } from '../base/fault.ts';
import { findHome } from '../home/home.ts';
import type { OwnerAccess } from './cli-access.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './cli-exit.ts';
import { jsonLine, visible } from './cli-text.ts';
import { productVersion } from './version.ts';

/** What every verb of a command line gets. */
export interface Session {
  readonly home: string;
  readonly json: boolean;
  /** Prints a result: the value itself with `--json`, else the text for people. */
  print(value: unknown, text: string): void;
  /** Says something beside the result, on standard error. */
  warn(text: string): void;
  call<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>;
}

export type Verb = (session: Session) => Promise<ExitCode | undefined>;

/** A command line under construction: commander's tree and the code that the verb ended with. */
export interface Program {
  readonly root: Command;
  /** Runs a verb with the owner's commands at hand. `create`: a home that is missing may be made. */
  act(verb: Verb, options?: { readonly create?: boolean }): Promise<void>;
  /** Runs a verb that needs no home, or opens it in its own way. */
  actAlone(verb: (session: Omit<Session, 'call'>) => Promise<ExitCode | undefined>): Promise<void>;
  run(args: readonly string[]): Promise<ExitCode>;
}

/** Starts a command line with the options that all verbs take (`charon.md` §8). */
export function createProgram(name: string, description: string): Program {
  const root = new Command(name)
    .description(description)
    .option('--home <folder>', 'the home to work on (default: $MEMORY_GIT_HOME, else the data folder of your user)')
    .option('--json', 'print JSON, one value a line')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showHelpAfterError('Add --help to see how it is used.')
    .addHelpText('after', '\nExit codes: 0 done, 1 refused or findings, 2 usage, 3 not available.')
    .exitOverride();
  root
    .command('version')
    .description('print the version')
    .action(() =>
      actAlone(async (session) => void session.print({ version: productVersion }, `${name} ${productVersion}`)),
    );

  let code: ExitCode = exitCodes.done;
  const common = (): Omit<Session, 'call'> => {
    const { home, json = false } = root.opts<{ home?: string; json?: boolean }>();
    return {
      home: findHome(home, process.env),
      json,
      print: (value, text) => void process.stdout.write(`${json ? jsonLine(value) : text}\n`),
      warn: (text) => void process.stderr.write(`${name}: ${text}\n`),
    };
  };
  const actAlone: Program['actAlone'] = async (verb) => {
    code = (await verb(common())) ?? exitCodes.done;
  };
  const act: Program['act'] = async (verb, options) => {
    const session = common();
    const { openAccess } = await import('./cli-access.ts');
    const access = await openAccess({
      ...{ home: session.home, env: process.env, create: options?.create ?? false },
      storeOnly: name === 'lethe',
      onProgress: session.json || !process.stderr.isTTY ? undefined : showProgress(),
      onWaiting: (line) => session.warn(`Waiting for the owner's word at the desk: ${line}`),
    });
    code = await withAccess(access, (call) => verb({ ...session, call }));
  };
  return {
    root,
    act,
    actAlone,
    run: async (args) => {
      try {
        // A flag of the shell's own is read by commander; an empty command line is a question for help.
        if (args.length === 0) root.help({ error: true });
        await root.parseAsync([...args], { from: 'user' });
        return code;
      } catch (thrown) {
        return refused(name, root.opts<{ json?: boolean }>().json ?? false, thrown);
      }
    },
  };
}

async function withAccess(
  access: OwnerAccess,
  verb: (call: OwnerAccess['call']) => Promise<ExitCode | undefined>,
): Promise<ExitCode> {
  try {
    return (await verb(access.call)) ?? exitCodes.done;
  } finally {
    await access.close();
  }
}

/** Shows on one line of the terminal how far a long command has come, at most ten times a second. */
function showProgress(): (done: number, total: number) => void {
  let shownMs = 0;
  return (done, total) => {
    const isLast = done >= total;
    if (!isLast && performance.now() - shownMs < 100) return;
    shownMs = performance.now();
    process.stderr.write(`\r${done} of ${total}\u001b[K${isLast ? '\r\u001b[K' : ''}`);
  };
}

/** Says what went wrong and chooses the exit code. */
function refused(name: string, json: boolean, thrown: unknown): ExitCode {
  // Commander has said it already; asking for help or the version is no mistake.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  const fault = toFault(thrown);
  process.stderr.write(
    json ? `${jsonLine({ fault: fault.toWire() })}\n` : `${name}: ${visible(`${fault.kind}: ${fault.message}`)}\n`,
  );
  return exitCodeOf(fault);
}

/** A value that cannot be used as it was typed: ends with the exit code of usage. */
export function usageFault(field: string, message: string): Fault {
  return new Fault('INPUT_INVALID', `${field}: ${message}`, { field });
}
