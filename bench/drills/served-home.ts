import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** A home that is served by a process of its own. */
export interface ServedHome {
  readonly mcp: string;
  readonly pid: number;
  /** Ends it as an operator does; its exit code. */
  stop(): Promise<number | null>;
}

/** Serves a home from the sources on a free port. */
export async function serveHome(home: string): Promise<ServedHome> {
  const script = join(import.meta.dirname, '../../src-main/shells/charon.ts');
  const child = spawn(process.execPath, [script, 'serve', '--home', home, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const died = closed.then(([code]) =>
    Promise.reject(new Error(`charon serve ended with ${code} before it was ready`)),
  );
  const [line]: unknown[] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), died]);
  died.catch(() => undefined);
  const { mcp, pid } = z.object({ mcp: z.string(), pid: z.int() }).parse(JSON.parse(String(line)));
  return {
    mcp,
    pid,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      return child.exitCode;
    },
  };
}

/** What a process and its home hold at one moment. */
export interface Held {
  readonly residentMiB: number;
  /** Open files and sockets. */
  readonly handles: number;
  /** Both write-ahead logs together. */
  readonly walMiB: number;
}

/** Reads that from `/proc` and the folder: on Linux only. */
export function heldBy(pid: number, home: string): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const residentKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  const walBytes = ['lethe.db-wal', 'charon.db-wal'].map(
    (name) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return {
    residentMiB: Math.round(residentKiB / 1_024),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    walMiB: Math.round(walBytes.reduce((sum, one) => sum + one, 0) / 1_048_576),
  };
}
