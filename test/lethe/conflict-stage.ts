import type { ConflictSides } from '../../src-main/lethe/conflict-api.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { type ChangesetId, type Digest, type ProposalId, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import {
  add,
  addAs,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  type TempLethe,
} from '../support/history-builder.ts';

export const ours = 'refs/topics/ours';
export const theirs = 'refs/topics/theirs';

/** The id of one of a test's proposals. */
export function proposal(number: number): ProposalId {
  return proposalIdSchema.parse(`00000000-0000-7000-8000-00000000${String(number).padStart(4, '0')}`);
}

/** Two branches of a project, and what a test says and does between their heads. */
export interface ConflictStage {
  readonly temp: TempLethe;
  readonly history: HistoryBuilder;
  readonly root: ChangesetId;
  /** The heads as they stand, or as a test says. */
  sides(more?: Partial<ConflictSides>): ConflictSides;
  detect(sides?: ConflictSides): readonly Conflict[];
  /** Keeps everything that detection finds. */
  keep(proposalId?: ProposalId, sides?: ConflictSides): Promise<readonly Conflict[]>;
  resolve(conflictId: Digest, note?: string): Promise<Conflict>;
  list(): readonly Conflict[];
}

/**
 * Opens a store with the branches `ours` and `theirs`, each with a decision of its own for the scope `net` under the ids
 * `ours-net` and `theirs-net`: one blocking conflict.
 */
export async function openConflictStage(): Promise<ConflictStage> {
  const temp = openTempLethe();
  const history = historyBuilder(temp);
  const { changeset_id: root } = await history.init();
  await history.branch(ours);
  await history.branch(theirs);
  await history.commit(ours, [addAs('ours-net', 'use one cable', decision('net')), add('beside')]);
  await history.commit(theirs, [addAs('theirs-net', 'use no cable', decision('net'))]);
  return stageOver(temp, history, root);
}

/** The same stage over a store that was opened again. */
export function reopenStage({ temp, root }: ConflictStage): ConflictStage {
  const again = temp.reopen();
  return stageOver(again, historyBuilder(again, 'demo', 'principal_00000000000000a2'), root);
}

function stageOver(temp: TempLethe, history: HistoryBuilder, root: ChangesetId): ConflictStage {
  const { lethe } = temp;
  const projectId = history.project;
  const sides: ConflictStage['sides'] = (more) => ({
    projectId,
    baseChangesetId: root,
    leftChangesetId: history.head(ours),
    rightChangesetId: history.head(theirs),
    ...more,
  });
  const detect: ConflictStage['detect'] = (between = sides()) => lethe.detectConflicts(between);
  return {
    temp,
    history,
    root,
    sides,
    detect,
    keep: async (proposalId = proposal(1), between = sides()) =>
      lethe.persistConflicts({ sides: between, proposalId, conflictIds: detect(between).map(idOf) }),
    resolve: (conflictId, note = 'settled') => lethe.resolveConflict({ projectId, conflictId, note }),
    list: () => lethe.listConflicts({ projectId, limit: 500 }).conflicts,
  };
}

export function idOf(conflict: Conflict): Digest {
  return conflict.conflict_id;
}

/** The fields of a decision for a scope. */
export function decision(scope: string): { readonly kind: string; readonly scope: string } {
  return { kind: 'decision', scope };
}

/** The first of a list that a test knows to have one. */
export function first<One>(list: readonly One[]): One {
  const [one] = list;
  if (one === undefined) throw new Error('the test expects at least one');
  return one;
}
