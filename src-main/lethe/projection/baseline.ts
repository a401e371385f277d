import { isBlank } from '../../canonical/text.ts';
import type { WritableDb } from '../../sqlite/driver.ts';
import { baselineFields } from '../rules/event-fields.ts';
import { opNumber, opsPerChangeset } from '../rules/numbers.ts';
import { startVersion, type Version } from '../rules/overlay.ts';
import { insertBaselineSeq } from '../tables/baselines.ts';
import { insertPlace, nextChain, type Place } from '../tables/chains.ts';
import { type EventRow, toFields } from '../tables/events.ts';
import type { Touch } from '../tables/touches.ts';
import { type AppliedOps, writeApplied } from './apply.ts';
import { derivePlace } from './extend.ts';
import { defaultPageOptions, type PageOptions, writePage } from './pages.ts';
import { openWritableSight } from './sight.ts';

/** What the index keeps of an event that a root froze. */
export interface BaselineEvent {
  readonly eventId: string;
  /** The state that it starts with, with the number 0 in place of its own. */
  readonly start: Version;
  readonly blank: boolean;
}

/** An event as a baseline keeps it: its text stays where it is. */
export function toBaselineEvent(event: EventRow): BaselineEvent {
  const start = startVersion(0, baselineFields(toFields(event)));
  return { eventId: event.event_id, start: { ...start, payload: {} }, blank: isBlank(event.content) };
}

/** How many changeset numbers a root takes below its own for so many events: each number holds 65 536. */
export function countBaselineSeqs(events: number): number {
  return Math.max(0, Math.ceil(events / opsPerChangeset) - 1);
}

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
    const applied = applyBaseline(group, chain);
    const place = derivePlace(sight, group.seq, parents, chain, applied, options);
    if (group.seq !== root.seq) insertBaselineSeq(db, group.seq, root.seq);
    writeApplied(db, root.projectId, applied);
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

/** What the events of one number do to the index: each starts a memory under its own id. */
export function applyBaseline({ seq, events }: BaselineGroup, chain: number): AppliedOps {
  const touches: Touch[] = [];
  const versions: Version[] = [];
  const chosenIds = new Map<number, string>();
  for (const [index, { eventId, start, blank }] of events.entries()) {
    const number = opNumber(seq, index);
    touches.push({
      memory: number,
      key: number,
      chain,
      version: number,
      status: blank ? 'blank' : 'active',
      linked: undefined,
    });
    versions.push(renumbered(start, number));
    chosenIds.set(number, eventId);
  }
  const activeChange = touches.filter(({ status }) => status === 'active').length;
  return { touches, versions, attachments: [], relationships: [], chosenIds, activeChange };
}

function renumbered(start: Version, number: number): Version {
  const fields = Object.fromEntries(Object.keys(start.fields).map((field) => [field, number]));
  return { ...start, version: number, introduced: number, fields, source: number };
}
