import { join } from 'node:path';
import type { ReferenceHistory, ReferenceStore } from './reference-stores.ts';
import { tempFolder } from './temp-home.ts';

/** A reference database that a test fills, closed: its path. */
export function makeReferenceFile(
  open: (path: string) => ReferenceStore,
  fill: (store: ReferenceStore) => void = () => {},
): string {
  const path = join(tempFolder(), 'reference.db');
  const store = open(path);
  fill(store);
  store.close();
  return path;
}

/** An op that adds a memory, under an id when it is given one. */
export function addedMemory(content: string, memoryId?: string) {
  return {
    op_type: 'add_memory',
    payload: { content },
    ...(memoryId === undefined ? {} : { resulting_event_id: memoryId }),
  };
}

/** Changesets of `fillHistory`. */
export interface FilledHistory {
  readonly root: string;
  readonly left: string;
  readonly right: string;
  readonly merge: string;
}

/** Two branches, merged into the protected main by signed advances, with a conflict and a manifest of theirs. */
export function fillHistory(history: ReferenceHistory): FilledHistory {
  const { root } = history;
  const left = history.commit({ ref: 'refs/agents/a/main', parents: [root], ops: [addedMemory('on the left', 'l')] });
  const right = history.commit({ ref: 'refs/agents/b/main', parents: [root], ops: [addedMemory('on the right', 'r')] });
  const merge = history.commit({ ref: 'refs/shared/main', parents: [left, right], ops: [addedMemory('merged')] });
  history.ref('refs/agents/a/main', left);
  history.ref('refs/agents/b/main', right);
  history.advance('refs/shared/main', root, left);
  history.advance('refs/shared/main', left, merge, 'merge_commit');
  history.conflict(left, right, { scope: 'net', left_event: 'l', right_event: 'r' });
  history.manifest(merge, ['l']);
  return { root, left, right, merge };
}
