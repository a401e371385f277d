import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** An intent that has no outcome yet. */
export interface OpenIntent {
  readonly seq: number;
  readonly correlationId: string;
  readonly idempotencyKey: string | undefined;
  readonly ambiguous: boolean;
}

/** Remembers that the intent of that place waits for its outcome. */
export function insertOpenIntent(
  db: WritableDb,
  seq: number,
  correlationId: string,
  idempotencyKey: string | undefined,
): void {
  db.command<[number, string, string | null]>(
    'INSERT INTO audit_open_intents (seq, correlation_id, idempotency_key) VALUES (?, ?, ?)',
  ).run(seq, correlationId, idempotencyKey ?? null);
}

/** The outcome has come. */
export function deleteOpenIntents(db: WritableDb, correlationId: string): void {
  db.command<[string]>('DELETE FROM audit_open_intents WHERE correlation_id = ?').run(correlationId);
}

/** Nobody can say what came of it: listed until it is settled by hand. */
export function markAmbiguous(db: WritableDb, seq: number): void {
  db.command<[number]>('UPDATE audit_open_intents SET ambiguous = 1 WHERE seq = ?').run(seq);
}

/** Oldest first. */
export function listOpenIntents(db: ReadableDb): readonly OpenIntent[] {
  const rows = db
    .query<[], { seq: number; correlation_id: string; idempotency_key: string | null; ambiguous: number }>(
      'SELECT seq, correlation_id, idempotency_key, ambiguous FROM audit_open_intents ORDER BY seq',
    )
    .all();
  return rows.map((row) => ({
    seq: row.seq,
    correlationId: row.correlation_id,
    idempotencyKey: row.idempotency_key ?? undefined,
    ambiguous: row.ambiguous === 1,
  }));
}
