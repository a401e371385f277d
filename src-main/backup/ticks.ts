import { join } from 'node:path';
import { z } from 'zod';
import { type Timestamp, timestampSchema } from '../../src-preload/contract/ids.ts';
import type { HomePaths } from '../home/home.ts';
import { readTextIfThere, writePrivateFile } from '../home/private-file.ts';

const tickSchema = z.object({
  verified_at: timestampSchema.nullable(),
  rehearsed_at: timestampSchema.nullable(),
});
const ticksSchema = z.object({ version: z.literal(1), ticks: z.record(z.string(), tickSchema) });
type Tick = z.infer<typeof tickSchema>;

/** Most ticks that are kept; the oldest are forgotten. */
const ticksMax = 1_000;

const placeOf = (paths: HomePaths): string => join(paths.backups, 'ticks.json');

/** When each backup, by the digest of its manifest, was last verified whole and rehearsed. A file that makes no sense says nothing. */
export function readTicks(paths: HomePaths): ReadonlyMap<string, Tick> {
  return new Map(Object.entries(read(paths)));
}

/** Leaves a dated tick; it is for showing only, and nothing trusts it. */
export function tick(paths: HomePaths, digest: string, at: Timestamp, kind: 'verified' | 'rehearsed'): void {
  const ticks = read(paths);
  const before = ticks[digest] ?? { verified_at: null, rehearsed_at: null };
  const { [digest]: _before, ...others } = ticks;
  const next = { verified_at: at, rehearsed_at: kind === 'rehearsed' ? at : before.rehearsed_at };
  const all = [...Object.entries(others), [digest, next] as const].slice(-ticksMax);
  writePrivateFile(placeOf(paths), `${JSON.stringify({ version: 1, ticks: Object.fromEntries(all) })}\n`);
}

function read(paths: HomePaths): Readonly<Record<string, Tick>> {
  try {
    const text = readTextIfThere(placeOf(paths));
    return text === undefined ? {} : (ticksSchema.safeParse(JSON.parse(text)).data?.ticks ?? {});
  } catch {
    return {};
  }
}
