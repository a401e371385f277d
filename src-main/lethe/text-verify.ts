import type { ProjectId } from '../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetIdOf } from './projection/identity.ts';
import { ordinalOf, seqOf } from './rules/numbers.ts';
import { findIndexedThrough, listTouchingOps } from './tables/text-index.ts';
import { toPending } from './text-head.ts';
import { verifyTextIndex } from './text-indexing.ts';
import { checking, type Findings } from './verify/findings.ts';
import type { ReadChunk } from './verify-chain.ts';

/** Ops that one chunk of the verification compares. */
const opsPerChunk = 250;

/**
 * Compares the full-text index with the history of a project, chunk by chunk (`L79`): every state that it should hold is
 * there, under its memory and with its text. What waits to be indexed is no finding.
 */
export async function verifyProjectText(
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = read((db) => verifyAfter(db, projectId, findings, from));
    await pause();
  }
}

/** Verifies the next ops after one; the last of them, undefined at the end of what is indexed. */
function verifyAfter(db: ReadableDb, projectId: ProjectId, findings: Findings, after: number): number | undefined {
  const ops = listTouchingOps(db, after, opsPerChunk);
  for (const op of ops) {
    if (op.projectId !== projectId) continue;
    const where = `op ${ordinalOf(op.op)} of changeset ${changesetIdOf(db, seqOf(op.op))}`;
    checking(findings, where, () => {
      for (const { problem } of verifyTextIndex(db, [toPending(db, op)])) findings.add(where, problem);
    });
  }
  const last = ops.at(-1)?.op;
  return last === undefined || last >= findIndexedThrough(db) ? undefined : last;
}
