import { isBlank } from '../../canonical/text.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { baselineFields } from '../rules/event-fields.ts';
import { opNumber, opsPerChangeset } from '../rules/numbers.ts';
import { startVersion, type Version } from '../rules/overlay.ts';
import { insertBaselineSeq } from '../tables/baselines.ts';
import { insertPlace, nextChain, type Place } from '../tables/chains.ts';
import { type EventRow, toFields } from '../tables/events.ts';
import { insertBaselineId } from '../tables/memory-ids.ts';
import type { Touch } from '../tables/touches.ts';
import { type AppliedOps, writeApplied } from './apply.ts';
import { derivePlace } from './extend.ts';
import { defaultPageOptions, type PageOptions, writePage } from './pages.ts';
import { openWritableSight } from './sight.ts';

/** What the index keeps of an event that a root froze; its text stays where it is. */
export interface BaselineEvent {
  readonly eventId: string;
  /** The fields that it sets. */
  readonly fields: readonly string[];
  readonly blank: boolean;
}

/** An event as a baseline keeps it. */
export function toBaselineEvent(event: EventRow): BaselineEvent {
  const { fields } = startVersion(0, baselineFields(toFields(event)));
  return { eventId: event.event_id, fields: Object.keys(fields), blank: isBlank(event.content) };
}

/** How many changeset numbers a root takes below its own for so many events: each number holds 65 536. */
export function countBaselineSeqs(events: number): number {
  return Math.max(0, Math.ceil(events / opsPerChangeset) - 1);
}

/** Events whose rows are written together: their number bounds what is held at once. */
const eventsPerWrite = 1_000;

/** The root whose events the index takes in. */
export interface ProjectedRoot {
  readonly seq: number;
  readonly projectId: string;
}

/**
 * Starts the derived index of a project (`L241`): the root with the events that it froze, in their order, as memories that
 * are active from the root on. The first events stand in numbers that the root took below its own (`countBaselineSeqs`),
 * which are places of their own on its line; the last 65 536 stand in its own number. Cost follows the events.
 */
export function extendBaseline(
  db: WritableDb,
  root: ProjectedRoot,
  events: readonly BaselineEvent[],
  options: PageOptions = defaultPageOptions,
): void {
  const sight = openWritableSight(db);
  const chain = nextChain(db);
  let parents: readonly Place[] = [];
  for (const group of groupBaseline(root.seq, events)) {
    if (group.seq !== root.seq) insertBaselineSeq(db, group.seq, root.seq);
    let activeChange = 0;
    for (let from = 0; from < group.events.length; from += eventsPerWrite) {
      const applied = applyBaseline(group, chain, from, from + eventsPerWrite);
      activeChange += applied.activeChange;
      for (const [number, id] of applied.chosenIds) insertBaselineId(db, number, root.projectId, id);
      writeApplied(db, root.projectId, { ...applied, chosenIds: new Map() });
    }
    const place = derivePlace(sight, group.seq, parents, chain, { touches: group.events, activeChange }, options);
    insertPlace(db, place);
    if (place.steps === 0) writePage(db, group.seq, options);
    parents = [place];
  }
}

/** Events that share a changeset number. */
export interface BaselineGroup {
  readonly seq: number;
  readonly events: readonly BaselineEvent[];
}

/** The events of a root by the changeset number that holds them, ascending; the last is the root's own, also without events. */
export function groupBaseline(rootSeq: number, events: readonly BaselineEvent[]): readonly BaselineGroup[] {
  const before = countBaselineSeqs(events.length);
  return Array.from({ length: before + 1 }, (_, index) => ({
    seq: rootSeq - before + index,
    events: events.slice(index * opsPerChangeset, (index + 1) * opsPerChangeset),
  }));
}

/** What the events of one number at places `from` ≤ place < `below` do to the index: each starts a memory under its own id. */
export function applyBaseline({ seq, events }: BaselineGroup, chain: number, from: number, below: number): AppliedOps {
  const touches: Touch[] = [];
  const versions: Version[] = [];
  const chosenIds = new Map<number, string>();
  let activeChange = 0;
  for (const [index, event] of events.slice(from, below).entries()) {
    const number = opNumber(seq, from + index);
    const status = event.blank ? 'blank' : 'active';
    touches.push({ memory: number, key: number, chain, version: number, status, linked: undefined });
    versions.push(startOf(event, number));
    chosenIds.set(number, event.eventId);
    if (!event.blank) activeChange += 1;
  }
  return { touches, versions, attachments: [], relationships: [], chosenIds, activeChange };
}

/** The state that an event starts with: its fields are its own, and it has no payload (`lethe.md` §5.5). */
function startOf(event: BaselineEvent, number: number): Version {
  const fields = Object.fromEntries(event.fields.map((field) => [field, number]));
  return { version: number, introduced: number, fields, payload: {}, source: number };
}
