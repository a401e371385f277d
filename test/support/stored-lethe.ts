import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/**
 * Stores as versions of this program wrote them, by the last migration they knew; they are never made again. Project `demo` with the
 * branch `refs/topics/work`, written with the keys, owner and author of `history-builder.ts`. `0003` knows adds, corrections
 * and supersessions; `0006` all eight ops, a merge, an advance of main, a manifest, and its full text is indexed.
 */
export type StoredVersion = '0003' | '0006';

/** Unpacks a stored store to a path. */
export function unpackStore(version: StoredVersion, path: string): void {
  const packed = fileURLToPath(new URL(`../fixtures/stores/lethe-${version}.db.gz`, import.meta.url));
  writeFileSync(path, gunzipSync(readFileSync(packed)), { mode: 0o600 });
}
