import type { ConflictStatus } from '../../src-preload/contract/conflict.ts';
import { attributionBytesMax } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { utf8Length } from '../canonical/text.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { conflictEventDigest } from './conflict-rows.ts';
import {
  type Binding,
  type ConflictEventColumns,
  insertConflictEvent,
  listBindings,
  nextConflictEvent,
  putBinding,
} from './tables/conflict-events.ts';
import { type ConflictRow, updateConflictStatus } from './tables/conflicts.ts';

/** When, who and why, for the events of one verb. */
export interface LifeStamp {
  readonly at: string;
  /** Empty when the store was not told. */
  readonly principal: string;
  readonly cause: string;
}

/** The stamp of what happens now. Throws INPUT_INVALID for a principal over its bound. */
export function lifeStamp(nowMs: number, principal: string | undefined, cause: string): LifeStamp {
  const who = (principal ?? '').toWellFormed();
  if (utf8Length(who) <= attributionBytesMax) return { at: toTimestamp(nowMs), principal: who, cause };
  throw new Fault('INPUT_INVALID', `principal is over ${attributionBytesMax} bytes.`, { field: 'principal' });
}

/** Why something happened to a conflict, as its event says it. */
export const conflictCauses = { persist: 'persist', resolve: 'resolve', retire: 'retire' } as const;

/** The cause of a status that was taken over from another conflict with the same key. */
export function carriedCause(conflictId: string): string {
  return `carried:${conflictId}`;
}

/** Records that a new conflict is open. */
export function recordOpened(db: WritableDb, conflict: number, stamp: LifeStamp): void {
  record(db, { conflict, kind: 'status', status: 'open', proposal_id: '', note: '', ...stamp });
}

/** Gives a conflict another status, on record. */
export function changeStatus(
  db: WritableDb,
  conflict: number,
  status: ConflictStatus,
  stamp: LifeStamp,
  note = '',
): void {
  updateConflictStatus(db, conflict, status);
  record(db, { conflict, kind: 'status', status, proposal_id: '', note, ...stamp });
}

/** Binds a conflict to a proposal that waits; one that it is bound to already stays so. */
export function bindProposal(db: WritableDb, row: ConflictRow, proposalId: string, stamp: LifeStamp): void {
  const known = listBindings(db, row.number).find((binding) => binding.proposal_id === proposalId);
  if (known?.waits === 1) return;
  const event = recordBinding(db, row.number, 'bound', proposalId, stamp);
  const { number: conflict, project_id, created_ms, conflict_id } = row;
  putBinding(db, { conflict, proposal_id: proposalId, project_id, created_ms, conflict_id, waits: 1, event });
}

/** Releases a conflict from a proposal that waits no more; answers whether another one it is bound to still waits. */
export function releaseProposal(db: WritableDb, conflict: number, proposalId: string, stamp: LifeStamp): boolean {
  const bindings = listBindings(db, conflict);
  const known: Binding | undefined = bindings.find((binding) => binding.proposal_id === proposalId);
  assert(known?.waits === 1, 'only a waiting proposal is released');
  const event = recordBinding(db, conflict, 'released', proposalId, stamp);
  putBinding(db, { ...known, waits: 0, event });
  return bindings.some((binding) => binding.waits === 1 && binding.proposal_id !== proposalId);
}

function recordBinding(
  db: WritableDb,
  conflict: number,
  kind: 'bound' | 'released',
  proposalId: string,
  stamp: LifeStamp,
): number {
  return record(db, { conflict, kind, status: '', proposal_id: proposalId, note: '', ...stamp });
}

function record(db: WritableDb, columns: ConflictEventColumns): number {
  const numbered = { event: nextConflictEvent(db), ...columns };
  insertConflictEvent(db, { ...numbered, row_digest: conflictEventDigest(numbered) });
  return numbered.event;
}
