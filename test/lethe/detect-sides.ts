import { detectConflicts } from '../../src-main/lethe/detection.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { type HistoryBuilder, historyBuilder, type OpDraft, type TempLethe } from '../support/history-builder.ts';

export const ours = 'refs/topics/ours';
export const theirs = 'refs/topics/theirs';

/** Two branches that parted after a common changeset. */
export interface PartedHistory {
  readonly history: HistoryBuilder;
  /** The head of both when they parted. */
  readonly base: ChangesetId;
  readonly heads: { readonly left: ChangesetId; readonly right: ChangesetId };
  /** What is found between the heads of both refs as they are when it is called. */
  detect(base?: ChangesetId): readonly Conflict[];
}

/** Grows a common part and, from there, one changeset on each of two branches; no ops, no changeset. */
export async function partSides(
  temp: TempLethe,
  base: readonly OpDraft[],
  left: readonly OpDraft[],
  right: readonly OpDraft[],
): Promise<PartedHistory> {
  const history = historyBuilder(temp);
  await history.init();
  await history.branch(ours);
  if (base.length > 0) await history.commit(ours, base);
  const parting = history.head(ours);
  await history.branch(theirs, ours);
  if (left.length > 0) await history.commit(ours, left);
  if (right.length > 0) await history.commit(theirs, right);
  return {
    history,
    base: parting,
    heads: { left: history.head(ours), right: history.head(theirs) },
    detect: (declared = parting) => detectBetween(temp, history, declared),
  };
}

/** What is found between the heads of both refs as they are. */
function detectBetween(temp: TempLethe, history: HistoryBuilder, base: ChangesetId): readonly Conflict[] {
  return detectConflicts(temp.db, {
    projectId: history.project,
    baseChangesetId: base,
    leftChangesetId: history.head(ours),
    rightChangesetId: history.head(theirs),
  });
}

/** Conflicts as type and the memories that they name. */
export function told(conflicts: readonly Conflict[]): readonly (readonly string[])[] {
  return conflicts.map(({ conflict_type, details }) => [conflict_type, ...memoryIdsOf(details)]);
}

function memoryIdsOf(details: Conflict['details']): readonly string[] {
  const ids = details?.memory_ids;
  return Array.isArray(ids) ? ids.map((id) => String(id)) : ['no memory_ids'];
}
