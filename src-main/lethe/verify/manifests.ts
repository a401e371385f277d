import type { ManifestId, ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { contextDigest, type ReadContext, readPinned } from '../manifest.ts';
import { decodeManifest } from '../manifest-row.ts';
import { listManifestRowsAfter } from '../tables/manifests.ts';

const rowsPerChunk = 50;

/**
 * Verifies the next manifests of the store after an id: each is as it was written, and those of the project that pin a
 * context read the same. Undefined at the end.
 */
export function verifyManifests(
  db: ReadableDb,
  projectId: ProjectId,
  after: string,
  readContext: ReadContext,
  findings: Findings,
): string | undefined {
  const rows = listManifestRowsAfter(db, after, rowsPerChunk);
  for (const row of rows) {
    const where = `manifest ${row.manifest_id}`;
    checking(findings, where, () => {
      const manifest = decodeManifest(db, row);
      if (manifest.project_id !== projectId) return;
      const reply = readPinned(db, row, manifest, readContext);
      if (reply === undefined) return;
      if (contextDigest(reply) !== manifest.context_digest)
        findings.add(where, 'its context does not read as it was pinned');
      const read = reply.memories.map((memory) => memory.memory_id);
      const selected = manifest.selected_memory_ids;
      if (read.length !== selected.length || read.some((id, index) => id !== selected[index])) {
        findings.add(where, 'the memories that it names are not those of its context');
      }
    });
  }
  return rows.at(-1)?.manifest_id as ManifestId | undefined;
}
