import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { type AgentClient, type ClientKind, clientOfSdk1, clientOfSdk2 } from '../support/mcp-clients.ts';
import { tempFolder } from '../support/temp-home.ts';

/** A new home with a project, and a token of an agent that may propose there. Nothing runs on it. */
export async function homeWithAgent() {
  const home = join(tempFolder(), 'home');
  const app = await openApp({
    home,
    env: {},
    doors: null,
    version: '0.1.0',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  const owner = app.ownerCaller('files');
  const { principal } = await app.commands.call(
    'principal.reconcile',
    { name: 'stdio agent', profile: 'propose', project: 'demo' },
    owner,
  );
  await app.commands.call('memory.repo_init', { project: 'demo' }, owner);
  const mint = async (): Promise<string> =>
    (await app.commands.call('obol.mint', { principal_id: principal.principal_id }, owner)).token;
  const [token, spareToken] = [await mint(), await mint()];
  await app.close();
  return { home, token, spareToken };
}

const script = fileURLToPath(new URL('../../src-main/shells/charon.ts', import.meta.url));

function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE: join(tmpdir(), 'memory-git-test-compiled'), ...env };
}

/** A real client of that kind that starts `charon mcp` as its server. */
export async function connectThroughBridge(
  kind: ClientKind,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<AgentClient & { readonly stderr: () => string }> {
  const server = {
    command: process.execPath,
    args: [script, 'mcp', ...args],
    env: environment(env),
    stderr: 'pipe' as const,
  };
  const transport = kind === 'sdk1' ? new Stdio1(server) : new Stdio2(server);
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  onTestFinished(() => transport.close());
  const said = { stderr: () => stderr };
  if (transport instanceof Stdio2) {
    const client = await clientOfSdk2(kind === 'sdk2-auto' ? 'sdk2-auto' : 'sdk2-legacy', transport, `stdio-${kind}`);
    return { ...client, ...said };
  }
  return { ...(await clientOfSdk1(transport, `stdio-${kind}`)), protocolVersion: undefined, ...said };
}

/** `charon mcp` with its pipes in the test's own hands. */
export interface RawBridge {
  /** Sends one message; resolves with the next line of standard output that answers it, as it came. */
  ask(message: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  send(text: string): void;
  /** Every line of standard output so far. */
  lines(): readonly string[];
  stderr(): string;
  /** Closes its standard input; resolves with its exit code. */
  end(): Promise<number | null>;
}

export function startRawBridge(args: readonly string[], env: Readonly<Record<string, string>>): RawBridge {
  const child: ChildProcess = spawn(process.execPath, [script, 'mcp', ...args], {
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const lines = (): readonly string[] => stdout.split('\n').slice(0, -1);
  const answerTo = (id: unknown): Record<string, unknown> | undefined =>
    lines()
      .map((line): Record<string, unknown> => JSON.parse(line))
      .find((message) => message.id === id);
  return {
    lines,
    stderr: () => stderr,
    send: (text) => void child.stdin?.write(text),
    async ask(message) {
      child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      for (;;) {
        const answer = answerTo(message.id);
        if (answer !== undefined) return answer;
        if (child.stdout === null) throw new Error('the bridge has an output');
        await once(child.stdout, 'data');
      }
    },
    async end() {
      child.stdin?.end();
      await closed;
      return child.exitCode;
    },
  };
}
