import type { Changeset } from '../../src-preload/contract/changeset.ts';
import type { Timestamp } from '../../src-preload/contract/ids.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { selectHead } from './head.ts';
import { type LogInput, logName, readLog } from './log.ts';
import { encodeCursor } from './rules/cursor.ts';

/**
 * The history that a ref had at a moment (`lethe.md` §0.5): the log whose cursor pins the head of that moment from its first
 * page on. With a cursor the moment is in it. Throws what `selectHead` and `readLog` throw.
 */
export function readLogAt(
  db: ReadableDb,
  input: LogInput & { readonly at: Timestamp },
): { readonly changesets: readonly Changeset[]; readonly nextCursor?: string | undefined } {
  if (input.cursor !== undefined) return readLog(db, input);
  const { seq } = selectHead(db, { projectId: input.projectId, refName: input.refName, at: input.at });
  const cursor = encodeCursor({
    of: logName(input),
    project: input.projectId,
    ref: input.refName,
    head: seq,
    from: seq,
  });
  return readLog(db, { ...input, cursor });
}
