import { opNumber } from '../../src-main/lethe/rules/numbers.ts';
import { replay } from '../../src-main/lethe/rules/replay.ts';
import type { OpType } from '../../src-preload/contract/changeset.ts';
import type { HistoryStore } from './history-store.ts';

/** What an op of a history did to one memory. */
export interface LoggedTouch {
  readonly memory: string;
  readonly key: number;
  readonly seq: number;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Ops that touch the memory that they name and make no other. */
const marks: ReadonlySet<OpType> = new Set([
  'mark_duplicate',
  'propose_deprecation',
  'attach_evidence',
  'attach_verification',
]);

/** Every touch in the history of a head, in replay order. */
export function touchLog(store: HistoryStore, head: number): readonly LoggedTouch[] {
  const known = new Set<string>();
  const log: LoggedTouch[] = [];
  for (const seq of replay(store.history, head).changesets) {
    const changeset = store.history.get(seq);
    for (const op of changeset?.ops ?? []) {
      const key = opNumber(seq, op.ordinal);
      const named = op.target_event_id ?? op.payload?.duplicate_id;
      const target = typeof named === 'string' && known.has(named) ? named : undefined;
      if (marks.has(op.op_type)) {
        if (target !== undefined) log.push({ memory: target, key, seq, from: undefined, to: undefined });
        continue;
      }
      if (op.op_type === 'add_relationship') continue;
      const content = op.payload?.content;
      const starts = op.op_type !== 'correct_memory' && typeof content === 'string' && content !== '';
      const renames = op.op_type === 'correct_memory' && target !== undefined && op.resulting_event_id !== undefined;
      const made =
        starts || renames ? (op.resulting_event_id ?? `mem:${changeset?.changesetId}:${op.ordinal}`) : undefined;
      if (target !== undefined && target !== made) log.push({ memory: target, key, seq, from: undefined, to: made });
      if (made !== undefined)
        log.push({ memory: made, key, seq, from: target === made ? undefined : target, to: undefined });
      if (made !== undefined) known.add(made);
    }
  }
  return log;
}
