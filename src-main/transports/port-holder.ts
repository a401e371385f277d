import { readdir, readFile, readlink } from 'node:fs/promises';
import { z } from 'zod';

const askTimeoutMs = 1_000;

/** What `/livez` of a Memory Git answers, as far as another one reads it. */
export const livenessSchema = z.object({
  product: z.literal('memory-git'),
  live: z.literal(true),
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  version: z.string().regex(/^[0-9A-Za-z.+-]{1,64}$/),
});
export type Liveness = z.infer<typeof livenessSchema>;

/** Asks whatever listens on a loopback port whether it is a Memory Git; undefined when it is not, or does not say in a second. */
export async function findLiveness(port: number): Promise<Liveness | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/livez`, {
      redirect: 'error',
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(askTimeoutMs),
    });
    const parsed = livenessSchema.safeParse(await response.json());
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Who listens on a loopback port, in words for a message: another Memory Git, or a program by name and process id (Linux). */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const liveness = await findLiveness(port);
  if (liveness !== undefined) return `another Memory Git (version ${liveness.version})`;
  return process.platform === 'linux' ? findListener(port) : undefined;
}

/** Linux: the socket of the port, and the process that holds it, as far as this user may see. */
async function findListener(port: number): Promise<string | undefined> {
  try {
    const sockets = new Set([
      ...(await listeningSockets('/proc/net/tcp', port)),
      ...(await listeningSockets('/proc/net/tcp6', port)),
    ]);
    if (sockets.size === 0) return undefined;
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      if (await holdsSocket(pid, sockets)) return describeProcess(pid);
    }
  } catch {
    // The system does not say: then neither do we.
  }
  return undefined;
}

/** Inodes of the sockets that listen on the port: columns `local_address` (hex), `st` (0A is LISTEN), `inode`. */
async function listeningSockets(table: string, port: number): Promise<readonly string[]> {
  const portHex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${portHex}`) === true && columns[3] === '0A')
    .flatMap((columns) => (columns[9] === undefined ? [] : [`socket:[${columns[9]}]`]));
}

async function holdsSocket(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const descriptor of descriptors) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (sockets.has(target)) return true;
  }
  return false;
}

async function describeProcess(pid: string): Promise<string> {
  const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).replaceAll(/[^\x20-\x7e]/g, '').trim();
  return name === '' ? `process ${pid}` : `${name} (process ${pid})`;
}
