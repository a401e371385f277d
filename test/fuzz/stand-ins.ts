import { listRecent, type Replayed, replay } from '../../src-main/lethe/rules/replay.ts';
import { type HistoryStore, tentatively } from './history-store.ts';

/** From scratch: the memories that stand for a duplicate of one side and for nothing once the sides are merged (`L142`). */
export function bereftOf(store: HistoryStore, left: number, right: number): readonly string[] {
  const merged = tentatively(store, [left, right], (head) => stateOf(replay(store.history, head)));
  const bereft = [
    [left, right],
    [right, left],
  ].flatMap(([own = 0, other = 0]) => {
    const side = stateOf(replay(store.history, own));
    const shared = new Set(replay(store.history, other).changesets);
    return [...side.replayed.states.values()]
      .filter(({ seq, state }) => !shared.has(seq) && state.memory.status === 'duplicate')
      .flatMap(({ state }) => state.heir ?? [])
      .filter((stays) => isStoodFor(side, stays) && !isStoodFor(merged, stays));
  });
  return [...new Set(bereft)].toSorted();
}

interface State {
  readonly replayed: Replayed;
  readonly active: ReadonlySet<string>;
}

function stateOf(replayed: Replayed): State {
  return { replayed, active: new Set(listRecent(replayed).map(({ memoryId }) => memoryId)) };
}

function isStoodFor({ replayed, active }: State, memory: string): boolean {
  const followed = new Set<string>();
  for (let one: string | undefined = memory; one !== undefined && !followed.has(one); ) {
    if (active.has(one)) return true;
    followed.add(one);
    one = replayed.states.get(one)?.state.heir;
  }
  return false;
}
