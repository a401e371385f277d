import { statfsSync } from 'node:fs';

const askedEveryMs = 1_000;

/**
 * How many bytes are free for this user on the disk of a folder, asked at most once a second of a monotonic clock.
 * A file system that does not say counts as one with room: what does not fit is refused when it is written.
 */
export function freeDisk(folder: string, monotonicMs: () => number): () => number {
  let known: { readonly atMs: number; readonly bytes: number } | undefined;
  return () => {
    const nowMs = monotonicMs();
    if (known === undefined || nowMs - known.atMs >= askedEveryMs) known = { atMs: nowMs, bytes: ask(folder) };
    return known.bytes;
  };
}

function ask(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
