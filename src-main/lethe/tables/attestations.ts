import type { JsonObject } from '../../../src-preload/contract/json.ts';
import { encodePlain } from '../../canonical/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

export type AttestationList = 'evidence' | 'verification';

/** One entry of a changeset's evidence or verification; `body` is its plain encoding. */
export interface AttestationRow {
  readonly seq: number;
  readonly list: AttestationList;
  readonly position: number;
  readonly body: string;
}

/** Evidence and verification of the changesets numbered `from` to `upto`, both included, each list in its order. */
export function listAttestationRows(db: ReadableDb, from: number, upto: number): readonly AttestationRow[] {
  return db
    .query<[number, number], AttestationRow>(
      'SELECT seq, list, position, body FROM memory_attestations WHERE seq BETWEEN ? AND ? ORDER BY seq, list, position',
    )
    .all(from, upto);
}

/** Writes one list of a changeset; answers it as it is stored. */
export function insertAttestations(
  db: WritableDb,
  seq: number,
  list: AttestationList,
  entries: readonly JsonObject[],
): readonly AttestationRow[] {
  const insert = db.command<[number, string, number, string]>(
    'INSERT INTO memory_attestations (seq, list, position, body) VALUES (?, ?, ?, ?)',
  );
  return entries.map((entry, position) => {
    const body = encodePlain(entry);
    insert.run(seq, list, position, body);
    return { seq, list, position, body };
  });
}

/** The entries of one list among the rows of one changeset. */
export function decodeAttestations(rows: readonly AttestationRow[], list: AttestationList): readonly JsonObject[] {
  return rows.filter((row) => row.list === list).map((row) => JSON.parse(row.body) as JsonObject);
}
