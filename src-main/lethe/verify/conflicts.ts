import { type ConflictStatus, conflictStatuses } from '../../../src-preload/contract/conflict.ts';
import type { ProjectId, Timestamp } from '../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { fromTimestamp } from '../../base/clock.ts';
import { checking, type Findings } from '../../base/findings.ts';
import { conflictId } from '../../canonical/conflict-digest.ts';
import { encodePlain } from '../../canonical/json.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { conflictDigest, conflictEventDigest, namedMemories } from '../conflict-rows.ts';
import { changesetIdOf } from '../projection/identity.ts';
import {
  type Binding,
  type ConflictEvent,
  listBindings,
  listConflictEventsAfter,
  listEventsOfConflict,
  listNamedMemories,
} from '../tables/conflict-events.ts';
import { type ConflictRow, lastConflictNumber, listConflictRowsAfter } from '../tables/conflicts.ts';

const rowsPerChunk = 100;
const eventsPerChunk = 1_000;

type Report = (problem: string) => void;

/**
 * Verifies the next conflicts of the store above a number: none is missing; those of the project are as they were kept,
 * their ids what they are about, and status and bindings what their events say. Undefined at the end.
 */
export function verifyConflicts(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  findings: Findings,
): number | undefined {
  const rows = listConflictRowsAfter(db, after, rowsPerChunk);
  for (const [index, row] of rows.entries()) {
    if (row.number !== (rows[index - 1]?.number ?? after) + 1)
      findings.add(`conflict number ${row.number - 1}`, 'it is missing');
    const where = `conflict ${row.conflict_id}`;
    checking(findings, where, () => {
      if (conflictDigest(row) !== row.row_digest) findings.add(where, 'its row was altered');
      if (row.project_id === projectId) verifyConflict(db, row, (problem) => findings.add(where, problem));
    });
  }
  return rows.at(-1)?.number;
}

function verifyConflict(db: ReadableDb, row: ConflictRow, report: Report): void {
  const details: JsonObject = JSON.parse(row.details);
  if (encodePlain(details) !== row.details) report('its details are not stored in their one form');
  const id = conflictId({
    project_id: row.project_id,
    base_changeset_id: changesetIdOf(db, row.base_seq),
    left_changeset_id: changesetIdOf(db, row.left_seq),
    right_changeset_id: changesetIdOf(db, row.right_seq),
    conflict_type: row.conflict_type,
    summary: row.summary,
    details,
  });
  if (id !== row.conflict_id) report('its id is not that of what it is about');
  if (fromTimestamp(row.created_at as Timestamp) !== row.created_ms) report('its times disagree');
  if (!isSame(listNamedMemories(db, row.number), namedMemories(db, row.project_id, details)))
    report('the memories that it keeps back are not those that it names');
  verifyLife(db, row, report);
}

/** The events of a conflict, one after the other, lead to the status and the bindings that it has. */
function verifyLife(db: ReadableDb, row: ConflictRow, report: Report): void {
  let status: ConflictStatus | undefined;
  const bindings = new Map<string, Pick<Binding, 'waits' | 'event'>>();
  for (const event of listEventsOfConflict(db, row.number)) {
    const { kind, proposal_id: proposalId } = event;
    if (conflictEventDigest(event) !== event.row_digest) report(`its event ${event.event} was altered`);
    if (kind === 'status') {
      const next = conflictStatuses.find((one) => one === event.status);
      if (next === undefined || !mayFollow(status, next))
        report(`its event ${event.event} cannot follow the one before`);
      status = next;
    } else {
      const waits = kind === 'bound' ? 1 : 0;
      if ((bindings.get(proposalId)?.waits ?? 0) === waits)
        report(`its event ${event.event} cannot follow the one before`);
      bindings.set(proposalId, { waits, event: event.event });
    }
  }
  if (status !== row.status) report('its status is not what its last event says');
  const kept = listBindings(db, row.number);
  if (
    kept.length !== bindings.size ||
    !kept.every((binding) => isTold(row, binding, bindings.get(binding.proposal_id)))
  )
    report('the proposals that it is bound to are not those of its events');
}

/** A conflict begins open, ends resolved or is retired, and what was retired can be open again. */
function mayFollow(before: ConflictStatus | undefined, next: ConflictStatus): boolean {
  if (before === undefined) return next === 'open';
  return before === 'open' ? next !== 'open' : before !== 'resolved' && next === 'open';
}

function isTold(row: ConflictRow, binding: Binding, told: Pick<Binding, 'waits' | 'event'> | undefined): boolean {
  const isOfRow =
    binding.project_id === row.project_id &&
    binding.created_ms === row.created_ms &&
    binding.conflict_id === row.conflict_id;
  return isOfRow && told?.waits === binding.waits && told.event === binding.event;
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/** Looks for a gap in the next events of the store above a number, and for events of conflicts that are gone. Undefined at the end. */
export function verifyConflictEvents(db: ReadableDb, after: number, findings: Findings): number | undefined {
  const events: readonly ConflictEvent[] = listConflictEventsAfter(db, after, eventsPerChunk);
  const last = lastConflictNumber(db);
  for (const [index, { event, conflict }] of events.entries()) {
    if (event !== (events[index - 1]?.event ?? after) + 1) findings.add(`conflict event ${event - 1}`, 'it is missing');
    if (conflict > last) findings.add(`conflict number ${conflict}`, 'it is missing');
  }
  return events.at(-1)?.event;
}
