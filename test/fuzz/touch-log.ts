import type { Replay, ReplayedTouch } from '../../src-main/lethe/rules/replay.ts';

/** Every touch in the history of a head, in replay order. */
export function touchLog(replay: Replay, head: number): readonly ReplayedTouch[] {
  return replay.at(head).changesets.flatMap((seq) => replay.touchesOf(seq));
}
