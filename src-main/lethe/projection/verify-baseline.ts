import type { ReadableDb } from '../../sqlite/driver.ts';
import { listFrozenEvents } from '../frozen-events.ts';
import { lastOpOf, opNumber } from '../rules/numbers.ts';
import type { ReplayedEvent } from '../rules/replay-ops.ts';
import { listBaselineSeqs } from '../tables/baselines.ts';
import { findPlace, type Place } from '../tables/chains.ts';
import type { ChangesetRow } from '../tables/changesets.ts';
import { toFields } from '../tables/events.ts';
import { findChosenId, isOfBaseline } from '../tables/memory-ids.ts';
import { listTouchesOfChain } from '../tables/touches.ts';
import { findVersion } from '../tables/versions.ts';
import type { AppliedOps } from './apply.ts';
import { applyBaseline, type BaselineGroup, groupBaseline, toBaselineEvent } from './baseline.ts';
import { derivePlace, type VectorSight } from './extend.ts';
import type { PageOptions } from './pages.ts';
import { openSight } from './sight.ts';
import { isSame, openScratchNodes, type Report, verifyEventOf, verifyPage } from './verify-rows.ts';

const eventsPerCheck = 1_000;

/**
 * Compares the rows that the index holds of a root and of the numbers it took with what its frozen events make of them
 * (`L118`, `L241`): places, touches, states, ids, recency pages. Answers the events for the replay; those that are listed
 * and not there are passed over, as the projection passes over them (`lethe.md` §5.5).
 */
export function verifyBaselineRows(
  db: ReadableDb,
  root: ChangesetRow,
  report: Report,
  options: PageOptions,
): readonly ReplayedEvent[] {
  const rows = listFrozenEvents(db, root);
  const groups = groupBaseline(root.seq, rows.map(toBaselineEvent));
  const before = groups.map(({ seq }) => seq).slice(0, -1);
  if (!isSame(before, listBaselineSeqs(db, root.seq))) report('the numbers that it took for its baseline are others');
  let parents: readonly Place[] = [];
  for (const group of groups) {
    const place = verifyGroup(db, root.project_id, group, parents, report, options);
    if (place === undefined) break;
    parents = [place];
  }
  return rows.map((row) => ({ ...toFields(row), eventId: row.event_id }));
}

function verifyGroup(
  db: ReadableDb,
  projectId: string,
  group: BaselineGroup,
  parents: readonly Place[],
  report: Report,
  options: PageOptions,
): Place | undefined {
  const stored = findPlace(db, group.seq);
  if (stored === undefined) {
    report('it has no place in the index');
    return undefined;
  }
  const sight: VectorSight = { ...openSight(db), nodes: openScratchNodes(db) };
  let activeChange = 0;
  for (let from = 0; from < group.events.length; from += eventsPerCheck) {
    const applied = applyBaseline(group, stored.chain, from, from + eventsPerCheck);
    activeChange += applied.activeChange;
    verifyApplied(db, projectId, group, from, applied, report);
  }
  const next = opNumber(group.seq, group.events.length);
  if (listTouchesOfChain(db, stored.chain, next - 1, lastOpOf(group.seq), 1).length > 0)
    report('the index has touches that its baseline does not make');
  const place = derivePlace(sight, group.seq, parents, stored.chain, { touches: group.events, activeChange }, options);
  if (!isSame(place, stored)) report('its place in the index is not the one that its baseline gives it');
  verifyPage(db, stored, report, options);
  return stored;
}

/** Compares the rows of the events from a place on. */
function verifyApplied(
  db: ReadableDb,
  projectId: string,
  { seq }: BaselineGroup,
  from: number,
  { touches, versions, chosenIds }: AppliedOps,
  report: Report,
): void {
  const [first] = touches;
  if (first === undefined) return;
  const [after, upTo] = [opNumber(seq, from) - 1, opNumber(seq, from + touches.length) - 1];
  if (!isSame(touches, listTouchesOfChain(db, first.chain, after, upTo, touches.length + 1)))
    report('the index does not have the touches that its baseline makes');
  const states = versions.map(({ version }) => findVersion(db, version));
  if (!isSame(versions, states)) report('the index does not have the states that its baseline makes');
  for (const [number, id] of chosenIds) {
    if (findChosenId(db, number) !== id) report('the index does not have the ids that its baseline gives');
    if (!isOfBaseline(db, number)) report('the index does not know what is of its baseline');
    verifyEventOf(db, projectId, number, report);
  }
}
