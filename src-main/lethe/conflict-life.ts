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

/** Writes what becomes of conflicts in one verb: the status or binding, and the event that says so (`L205`). */
export interface ConflictLife {
  /** A new conflict is open. */
  open(conflict: number): void;
  /** A conflict has another status. */
  change(conflict: number, status: ConflictStatus, note?: string, cause?: string): void;
  /** A conflict is bound to a proposal that waits; one that it is bound to already stays so. */
  bind(row: Pick<ConflictRow, 'number' | 'project_id' | 'created_ms' | 'conflict_id'>, proposalId: string): void;
  /** A conflict is released from a proposal that waits no more; answers whether another one it is bound to still waits. */
  release(conflict: number, proposalId: string): boolean;
}

/** Opens the record of one verb, in the caller's transaction. */
export function openConflictLife(db: WritableDb, stamp: LifeStamp): ConflictLife {
  let next = nextConflictEvent(db);
  const record = (
    told: Omit<ConflictEventColumns, keyof LifeStamp | 'note'>,
    note = '',
    cause = stamp.cause,
  ): number => {
    const columns = { event: next, ...told, ...stamp, cause, note };
    insertConflictEvent(db, { ...columns, row_digest: conflictEventDigest(columns) });
    next += 1;
    return columns.event;
  };
  const recordStatus = (conflict: number, status: ConflictStatus, note?: string, cause?: string): void =>
    void record({ conflict, kind: 'status', status, proposal_id: '' }, note, cause);
  return {
    open: (conflict) => recordStatus(conflict, 'open'),
    change: (conflict, status, note, cause) => {
      updateConflictStatus(db, conflict, status);
      recordStatus(conflict, status, note, cause);
    },
    bind: ({ number: conflict, project_id, created_ms, conflict_id }, proposalId) => {
      const known = listBindings(db, conflict).find((binding) => binding.proposal_id === proposalId);
      if (known?.waits === 1) return;
      const event = record({ conflict, kind: 'bound', status: '', proposal_id: proposalId });
      putBinding(db, { conflict, proposal_id: proposalId, project_id, created_ms, conflict_id, waits: 1, event });
    },
    release: (conflict, proposalId) => {
      const bindings = listBindings(db, conflict);
      const known: Binding | undefined = bindings.find((binding) => binding.proposal_id === proposalId);
      assert(known?.waits === 1, 'only a waiting proposal is released');
      const event = record({ conflict, kind: 'released', status: '', proposal_id: proposalId });
      putBinding(db, { ...known, waits: 0, event });
      return bindings.some((binding) => binding.waits === 1 && binding.proposal_id !== proposalId);
    },
  };
}
