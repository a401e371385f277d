import { closeSync, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import type { Commands } from '../commands/api.ts';

/** What a refusal for want of a confirmation asks to be confirmed. */
interface ToConfirm {
  readonly command: string;
  readonly inputDigest: string;
}

/** Asks for a passphrase on the terminal, unseen. Throws CONFIRMATION_REQUIRED where there is no terminal. */
export type AskPassphrase = (question: string) => Promise<string>;

const requiredSchema = z.object({ confirm: z.literal('passphrase'), command: z.string(), input_digest: z.string() });

/**
 * Runs an act of power; where it is refused until the owner's passphrase confirms it, asks for that and runs it again
 * (`charon.md` §8). Throws what the act throws, CONFIRMATION_REFUSED for a wrong passphrase, CONFIRMATION_REQUIRED where
 * there is no terminal to ask on.
 */
export async function confirmed<Result>(
  act: (confirmation: string | undefined) => Promise<Result>,
  confirm: (what: ToConfirm, passphrase: string) => Promise<string>,
  ask: AskPassphrase = askOnTerminal,
): Promise<Result> {
  try {
    return await act(undefined);
  } catch (thrown) {
    const what = thrown instanceof Fault && thrown.code === 'CONFIRMATION_REQUIRED' ? thrown.data : undefined;
    const required = requiredSchema.safeParse(what);
    if (!required.success) throw thrown;
    const { command, input_digest: inputDigest } = required.data;
    const passphrase = await ask(`Passphrase of the owner, to confirm ${command}: `);
    return act(await confirm({ command, inputDigest }, passphrase));
  }
}

/** Confirms in the process that holds the files. */
export function confirmInProcess(
  commands: Pick<Commands, 'confirm'>,
  caller: Caller,
): (what: ToConfirm, passphrase: string) => Promise<string> {
  return async (what, passphrase) => (await commands.confirm(what, passphrase, caller)).confirmation;
}

/** A new passphrase, typed twice. Throws INPUT_INVALID when the two differ. */
export async function askTwice(ask: AskPassphrase = askOnTerminal): Promise<string> {
  const first = await ask('New passphrase, 12 characters or more: ');
  if (first.normalize('NFC') === (await ask('The same again: ')).normalize('NFC')) return first;
  throw new Fault('INPUT_INVALID', 'passphrase: the two are not the same. Nothing was done.', { field: 'passphrase' });
}

/** Where a passphrase is typed: a terminal that shows what is typed until it is told not to. */
export interface Terminal {
  readonly input: TypedInput;
  close(): void;
}

/** What of a terminal's stream a prompt uses. */
interface TypedInput {
  on(event: 'data', listener: (text: string) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  off(event: 'data', listener: (text: string) => void): unknown;
  setRawMode(on: boolean): unknown;
  setEncoding(encoding: 'utf8'): unknown;
  pause(): unknown;
  resume(): unknown;
}

/**
 * Asks on the terminal itself, whatever standard input and output are led to. Throws CONFIRMATION_REQUIRED where there is none,
 * OWNER_REQUEST_CANCELED for Ctrl-C and for nothing typed.
 */
export async function askOnTerminal(question: string, open: () => Terminal = openTerminal): Promise<string> {
  const terminal = open();
  try {
    const line = readHidden(terminal.input);
    // What is typed the moment that the question stands there must be unseen already.
    process.stderr.write(question);
    return await line;
  } finally {
    process.stderr.write('\n');
    terminal.close();
  }
}

function openTerminal(): Terminal {
  if (process.platform === 'win32') {
    if (process.stdin instanceof ReadStream && process.stdin.isTTY)
      return { input: process.stdin, close: () => process.stdin.pause() };
    throw noTerminal();
  }
  let handle: number;
  try {
    handle = openSync('/dev/tty', 'r');
  } catch {
    throw noTerminal();
  }
  try {
    const input = new ReadStream(handle);
    return { input, close: () => input.destroy() };
  } catch {
    closeSync(handle);
    throw noTerminal();
  }
}

function noTerminal(): Fault {
  return new Fault(
    'CONFIRMATION_REQUIRED',
    'This needs a passphrase of the owner, and there is no terminal to type it on. Run it in one, or do it at the desk. Nothing was done.',
  );
}

const charactersMax = 1_024;
/** Enter, Ctrl-D and Ctrl-C. */
const ends: ReadonlySet<string> = new Set(['\r', '\n', '\u0004', '\u0003']);

/** What was typed with one more character: backspace takes one back, Ctrl-U all of it. */
function withTyped(typed: readonly string[], character: string): readonly string[] {
  if (character === '\u007f' || character === '\b') return typed.slice(0, -1);
  if (character === '\u0015') return [];
  return typed.length < charactersMax ? [...typed, character] : typed;
}

/** One line of what is typed, shown nowhere. Ctrl-C takes it back, and so does a line with nothing in it: that is no wrong passphrase. */
function readHidden(input: TypedInput): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed: readonly string[] = [];
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      input.off('data', read);
      input.setRawMode(false);
      input.pause();
      settle();
    };
    const read = (text: string): void => {
      for (const character of text) {
        if (character === '\u0003') end(() => reject(takenBack()));
        else if (ends.has(character)) end(() => (typed.length > 0 ? resolve(typed.join('')) : reject(takenBack())));
        else typed = withTyped(typed, character);
        if (ends.has(character)) break;
      }
    };
    input.setRawMode(true);
    input.setEncoding('utf8');
    input.on('data', read);
    input.on('error', () => end(() => reject(noTerminal())));
    input.on('end', () => end(() => reject(takenBack())));
    input.resume();
  });
}

function takenBack(): Fault {
  return new Fault('OWNER_REQUEST_CANCELED', 'Nothing was typed, so nothing was done.');
}
