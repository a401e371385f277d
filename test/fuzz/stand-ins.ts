import { opNumber } from '../../src-main/lethe/rules/numbers.ts';
import { listRecent, replay } from '../../src-main/lethe/rules/replay.ts';
import type { Op } from '../../src-preload/contract/changeset.ts';
import type { HistoryStore } from './history-store.ts';
import { type LoggedTouch, touchLog } from './touch-log.ts';

/** From scratch: the memories that stand for a duplicate of one side and for nothing once the sides are merged (`L142`). */
export function bereftOf(store: HistoryStore, left: number, right: number): readonly string[] {
  store.history.set(0, { changesetId: 'tentative', parents: [left, right], ops: [] });
  const merged = stateOf(store, 0);
  store.history.delete(0);
  const bereft = [
    [left, right],
    [right, left],
  ].flatMap(([own = 0, other = 0]) => {
    const side = stateOf(store, own);
    const shared = new Set(replay(store.history, other).changesets);
    return side.touches
      .filter((touch) => !shared.has(touch.seq) && side.newest.get(touch.memory) === touch)
      .flatMap((touch) => stayingOf(opOf(store, touch)) ?? [])
      .filter((stays) => isStoodFor(store, side, stays) && !isStoodFor(store, merged, stays));
  });
  return [...new Set(bereft)].toSorted();
}

interface State {
  readonly touches: readonly LoggedTouch[];
  readonly newest: ReadonlyMap<string, LoggedTouch>;
  readonly active: ReadonlySet<string>;
}

function stateOf(store: HistoryStore, head: number): State {
  const touches = touchLog(store, head);
  return {
    touches,
    newest: new Map(touches.map((touch) => [touch.memory, touch])),
    active: new Set(listRecent(replay(store.history, head)).map(({ memoryId }) => memoryId)),
  };
}

function isStoodFor(store: HistoryStore, state: State, memory: string): boolean {
  const followed = new Set<string>();
  for (let one: string | undefined = memory; one !== undefined && !followed.has(one); ) {
    if (state.active.has(one)) return true;
    followed.add(one);
    const touch = state.newest.get(one);
    one = touch === undefined ? undefined : (stayingOf(opOf(store, touch)) ?? touch.to);
  }
  return false;
}

function opOf(store: HistoryStore, { seq, key }: LoggedTouch): Op | undefined {
  return store.history.get(seq)?.ops.find(({ ordinal }) => opNumber(seq, ordinal) === key);
}

function stayingOf(op: Op | undefined): string | undefined {
  if (op?.op_type !== 'mark_duplicate') return undefined;
  const stays = op.payload?.duplicate_of ?? op.resulting_event_id;
  return typeof stays === 'string' ? stays : undefined;
}
