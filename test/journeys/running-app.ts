import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type AgentClient, type ClientKind, connectClient } from '../support/mcp-clients.ts';

const root = resolve(import.meta.dirname, '../..');
/** Journeys run what a user runs: the built programs. */
const built = (program: 'charon' | 'lethe'): string => join(root, 'out/main', `${program}.js`);

const readySchema = z.strictObject({
  ready: z.literal(true),
  mcp: z.url(),
  ledger: z.url().nullable(),
  owner: z.url().nullable(),
  home: z.string(),
  pid: z.int(),
});

/** A home in a temporary folder, and the processes that this journey started on it. */
export class Household {
  readonly home: string;
  readonly #processes: ChildProcess[] = [];
  readonly #clients: AgentClient[] = [];

  constructor() {
    this.home = join(mkdtempSync(join(tmpdir(), 'memory-git-journey-')), 'home');
  }

  /** Starts the engine headless and resolves once it says that it serves. */
  async serve(options: { readonly ownerPage?: boolean; readonly env?: Record<string, string> } = {}): Promise<Serving> {
    const flags = [
      'serve',
      '--home',
      this.home,
      '--port',
      '0',
      '--json',
      ...(options.ownerPage === true ? ['--owner-page'] : []),
    ];
    const child = spawn(process.execPath, [built('charon'), ...flags], {
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#processes.push(child);
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaints += chunk.toString();
    });
    const line = await firstLine(child, () => complaints);
    return new Serving(child, readySchema.parse(JSON.parse(line)), () => complaints);
  }

  /** Runs `charon` or `lethe` as a user would, with `--home` and `--json`. */
  async command(
    program: 'charon' | 'lethe',
    ...words: readonly string[]
  ): Promise<{ readonly code: number; readonly output: unknown; readonly errors: string }> {
    return new Promise((done) => {
      const args = [built(program), ...words, '--home', this.home, '--json'];
      execFile(process.execPath, args, { timeout: 60_000, maxBuffer: 64 * 1_048_576 }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        done({ code, output: stdout.trim() === '' ? null : JSON.parse(stdout), errors: stderr });
      });
    });
  }

  /** A principal with a token, made by command line as the README says. */
  async agent(
    name: string,
    profile: string,
    project: string,
  ): Promise<{
    readonly principalId: string;
    readonly actorId: string;
    readonly obolId: string;
    readonly token: string;
  }> {
    const made = z
      .object({ principal: z.object({ principal_id: z.string(), actor_id: z.string() }) })
      .parse((await this.command('charon', 'principal', 'reconcile', name, profile, project)).output).principal;
    const minted = z
      .object({ token: z.string(), obol: z.object({ obol_id: z.string() }) })
      .parse((await this.command('charon', 'obol', 'mint', made.principal_id)).output);
    return { principalId: made.principal_id, actorId: made.actor_id, obolId: minted.obol.obol_id, token: minted.token };
  }

  /** A real MCP client, connected and having listed its tools; closed with the household. */
  async client(kind: ClientKind, url: string, token: string): Promise<AgentClient> {
    const client = await connectClient(kind, { url, token });
    this.#clients.push(client);
    await client.listTools();
    return client;
  }

  /** Ends what this journey started and removes the folder. */
  async clear(): Promise<void> {
    await Promise.allSettled(this.#clients.map((client) => client.close()));
    for (const child of this.#processes)
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    rmSync(resolve(this.home, '..'), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One running engine. */
export class Serving {
  readonly mcp: string;
  readonly owner: string | null;
  readonly pid: number;
  readonly complaints: () => string;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, ready: z.infer<typeof readySchema>, complaints: () => string) {
    this.#child = child;
    this.mcp = ready.mcp;
    this.owner = ready.owner;
    this.pid = ready.pid;
    this.complaints = complaints;
  }

  /** Sends the signal and resolves once the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    return new Promise((gone) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return gone(this.#child.exitCode);
      this.#child.once('exit', (code) => gone(code));
      this.#child.kill(signal);
    });
  }
}

function firstLine(child: ChildProcess, complaints: () => string): Promise<string> {
  return new Promise((found, refused) => {
    if (child.stdout === null) return refused(new Error('the engine has no standard output'));
    const lines = createInterface({ input: child.stdout });
    const limit = setTimeout(() => refused(new Error(`the engine did not get ready in 30 s: ${complaints()}`)), 30_000);
    lines.once('line', (line) => {
      clearTimeout(limit);
      found(line);
    });
    child.once('exit', (code) => {
      clearTimeout(limit);
      refused(new Error(`the engine ended with ${code} before it was ready: ${complaints()}`));
    });
  });
}
