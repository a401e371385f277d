import { openReplay, type ReplayedTouch } from '../../src-main/lethe/rules/replay.ts';
import type { HistoryStore } from './history-store.ts';

/** Every touch in the history of a head, in replay order. */
export function touchLog(store: HistoryStore, head: number): readonly ReplayedTouch[] {
  const replay = openReplay(store.history);
  return replay.at(head).changesets.flatMap((seq) => replay.touchesOf(seq));
}
