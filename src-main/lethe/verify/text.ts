import { versionSource } from '../text-head.ts';
import { verifyTextIndex } from '../text-indexing.ts';
import type { VerifyIndex } from '../verify-chain.ts';
import { checking } from './findings.ts';

const opsPerChunk = 300;

/** Compares the full-text index with the history, chunk by chunk; what still waits to be indexed is no finding. */
export const verifyText: VerifyIndex = async (read, projectId, findings, pause) => {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = read((db) => {
      const stretch = versionSource(db)(from, opsPerChunk);
      const own = stretch.filter((version) => version.projectId === projectId);
      checking(findings, 'the full-text index', () => {
        for (const { version, problem } of verifyTextIndex(db, own))
          findings.add(`the full-text index at op ${version}`, problem);
      });
      return stretch.length < opsPerChunk ? undefined : stretch.at(-1)?.version;
    });
    await pause();
  }
};
