import type { ReadableDb } from '../../sqlite/driver.ts';
import type { OpRow } from './ops.ts';

/** An op with what its changeset says of itself. Absent texts are empty. */
export interface SideOpRow extends OpRow {
  readonly changeset_id: string;
  readonly project_id: string;
  readonly ref_name: string;
  readonly topic_id: string;
  readonly actor_id: string;
}

export const sideOpQueries = {
  ofRun: `SELECT c.changeset_id, c.project_id, c.ref_name, c.topic_id, c.actor_id,
      o.op, o.op_type, o.target_event_id, o.resulting_event_id, p.body
    FROM memory_places at
    CROSS JOIN memory_changesets c ON c.seq = at.seq
    CROSS JOIN memory_changeset_ops o ON o.op BETWEEN at.seq * 65536 AND at.seq * 65536 + 65535
    LEFT JOIN memory_op_payloads p ON p.op = o.op
    WHERE at.chain = +? AND at.position > +? AND at.position <= +?`,
} as const;

/** The ops of the changesets at positions `after` < position ≤ `upTo` of a chain. */
export function listOpsOfRun(db: ReadableDb, chain: number, after: number, upTo: number): readonly SideOpRow[] {
  return db.query<[number, number, number], SideOpRow>(sideOpQueries.ofRun).all(chain, after, upTo);
}
