import type { Op, OpType } from '../../../src-preload/contract/changeset.ts';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { encodePlain } from '../../canonical/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { lastOpOf, opNumber, ordinalOf } from '../rules/numbers.ts';

/** An op as it is stored; `body` is the plain encoding of its payload, null when it has none. */
export interface OpRow {
  readonly op: number;
  readonly op_type: string;
  readonly target_event_id: string | null;
  readonly resulting_event_id: string | null;
  readonly body: string | null;
}

const select = `SELECT o.op, o.op_type, o.target_event_id, o.resulting_event_id, p.body
  FROM memory_changeset_ops o LEFT JOIN memory_op_payloads p ON p.op = o.op WHERE o.op BETWEEN ? AND ? ORDER BY o.op`;

/** The ops of the changesets numbered `from` to `upto`, both included, in the order of history. */
export function listOpRows(db: ReadableDb, from: number, upto: number): readonly OpRow[] {
  return db.query<[number, number], OpRow>(select).all(opNumber(from, 0), lastOpOf(upto));
}

/** One op with its payload. */
export function findOpRow(db: ReadableDb, op: number): OpRow | undefined {
  return db.query<[number, number], OpRow>(select).get(op, op);
}

/** The stored payload text of one op. */
export function findOpPayload(db: ReadableDb, op: number): string | undefined {
  return db.query<[number], { body: string }>('SELECT body FROM memory_op_payloads WHERE op = ?').get(op)?.body;
}

/** Writes the ops of a changeset and their payloads; answers them as they are stored. */
export function insertOps(db: WritableDb, seq: number, ops: readonly Op[]): readonly OpRow[] {
  const insertOp = db.command<[number, string, string | null, string | null]>(
    'INSERT INTO memory_changeset_ops (op, op_type, target_event_id, resulting_event_id) VALUES (?, ?, ?, ?)',
  );
  const insertPayload = db.command<[number, string]>('INSERT INTO memory_op_payloads (op, body) VALUES (?, ?)');
  return ops.map((op) => {
    const row: OpRow = {
      op: opNumber(seq, op.ordinal),
      op_type: op.op_type,
      target_event_id: op.target_event_id ?? null,
      resulting_event_id: op.resulting_event_id ?? null,
      body: op.payload === undefined ? null : encodePlain(op.payload),
    };
    insertOp.run(row.op, row.op_type, row.target_event_id, row.resulting_event_id);
    if (row.body !== null) insertPayload.run(row.op, row.body);
    return row;
  });
}

/** A stored row as an op. A payload that is no JSON object is thrown as it is: the reader names the changeset. */
export function decodeOp(row: OpRow): Op {
  return {
    ordinal: ordinalOf(row.op),
    op_type: row.op_type as OpType,
    ...(row.target_event_id === null ? {} : { target_event_id: row.target_event_id }),
    ...(row.resulting_event_id === null ? {} : { resulting_event_id: row.resulting_event_id }),
    ...(row.body === null ? {} : { payload: JSON.parse(row.body) as JsonObject }),
  };
}
