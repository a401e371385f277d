import { expect } from 'vitest';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { type HistoryStore, historyProject } from '../fuzz/history-store.ts';
import { add, correct } from '../support/history-builder.ts';
import { idOf, rowsOf } from './cost-of-reads.ts';
import { mostCorrected } from './long-histories.ts';

/** Rows and statements of finding four conflicts behind a history, and the rows of a commit with claims. */
export function detectionCosts(store: HistoryStore, head: number): Readonly<Record<string, number>> {
  let left = head;
  const claiming = rowsOf(store, () => {
    left = store.commit([head], [correct(mostCorrected, { content: 'left', scope: 'desk' }), add('left 0')]);
  });
  let right = store.commit(
    [head],
    [
      correct(mostCorrected, { content: 'right' }),
      add('use two', { kind: 'decision', scope: 'net' }),
      add('it is 8', { kind: 'fact', fact_key: 'size' }),
      add(' said before'),
    ],
  );
  for (let step = 1; step < 10; step += 1) left = store.commit([left], [add(`left ${step}`)]);
  for (let step = 1; step < 10; step += 1) right = store.commit([right], [add(`right ${step}`)]);
  const before = store.db.counters.statements;
  const detection = rowsOf(store, () => {
    const found = detectConflicts(store.db, {
      projectId: historyProject,
      baseChangesetId: idOf(store, head),
      leftChangesetId: idOf(store, left),
      rightChangesetId: idOf(store, right),
    });
    expect(found.map(({ conflict_type }) => conflict_type)).toEqual([
      'concurrent_edit',
      'contradictory_decision',
      'incompatible_fact',
      'duplicate_content',
    ]);
  });
  return { claiming, detection, statements: store.db.counters.statements - before };
}
