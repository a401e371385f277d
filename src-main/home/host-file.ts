import { rmSync } from 'node:fs';
import { z } from 'zod';
import { readTextIfThere, writePrivateFile } from './private-file.ts';

const hostSchema = z.object({
  pid: z.int().min(1),
  nonce: z.string(),
  socket: z.string().nullable(),
  mcp: z.string().nullable(),
  owner_page: z.string().nullable(),
  started_at: z.string(),
});

/** Who holds a home and where its doors are. For messages and for finding the socket only: nothing trusts it. */
export type Host = z.infer<typeof hostSchema>;

/** Says in `host.json` who holds the home. */
export function writeHost(path: string, host: Host): void {
  writePrivateFile(path, `${JSON.stringify(host)}\n`);
}

/** What `host.json` says; undefined when it is missing or makes no sense. Never throws (H5). */
export function readHost(path: string): Host | undefined {
  try {
    const text = readTextIfThere(path);
    return text === undefined ? undefined : hostSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Takes the note away again. */
export function removeHost(path: string): void {
  rmSync(path, { force: true });
}
