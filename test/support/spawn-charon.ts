import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

/** The two command lines, run from the sources as a user would run them. */
export type ProgramName = 'charon' | 'lethe';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
}

/** Compiled sources, shared by all that is spawned: starting takes half the time. Node keeps it by content. */
const compileCache = join(tmpdir(), 'memory-git-test-compiled');

function start(program: ProgramName, args: readonly string[], options: RunOptions): ChildProcess {
  const script = fileURLToPath(new URL(`../../src-main/shells/${program}.ts`, import.meta.url));
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: compileCache, ...options.env };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Runs a command line to its end. */
export async function runProgram(
  program: ProgramName,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ran> {
  const child = start(program, args, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}

/** A command line that goes on until it is told to stop. */
export interface Running {
  /** Resolves once what it has printed matches. */
  until(pattern: RegExp): Promise<string>;
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts a command line that does not end by itself. Ended when the test is over. */
export function startProgram(program: ProgramName, args: readonly string[], options: RunOptions = {}): Running {
  const child = start(program, args, options);
  const closed = once(child, 'close');
  let stdout = '';
  const look = new EventEmitter();
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    look.emit('more');
  });
  return {
    until: async (pattern) => {
      while (!pattern.test(stdout)) await once(look, 'more');
      return stdout;
    },
    stop: async (signal) => {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

const readySchema = z.strictObject({
  ready: z.literal(true),
  mcp: z.string().nullable(),
  ledger: z.string().nullable(),
  owner: z.string().nullable(),
  home: z.string(),
  pid: z.int(),
});

/** A `charon serve` that is up. */
export interface Served {
  readonly ready: z.infer<typeof readySchema>;
  readonly pid: number;
  /** What it has printed on standard error so far. */
  stderr(): string;
  /** Ends it with the signal; resolves with its exit code, null when the signal ended it. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `charon serve --json` on any free port and waits for its ready line. Ended when the test is over. */
export async function serveCharon(
  home: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<Served> {
  const child = start('charon', ['serve', '--home', home, '--port', '0', '--json', ...args], options);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const closed = once(child, 'close');
  const line = new Promise<string>((resolve, reject) => {
    if (child.stdout === null) return reject(new Error('the program has an output'));
    createInterface({ input: child.stdout }).once('line', resolve);
    void closed.then(() => reject(new Error(`charon serve ended before it was ready: ${stderr}`)));
  });
  const ready = readySchema.parse(JSON.parse(await line));
  return {
    ready,
    pid: child.pid ?? 0,
    stderr: () => stderr,
    stop: async (signal) => {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}
