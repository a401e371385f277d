import type { ReadableDb, SqlValue, WritableDb } from '../../sqlite/driver.ts';

/** The opening or the closing of a custody epoch. Steps of an agent count from 1, odd ones open. */
export interface CustodyRow {
  readonly seq: number;
  readonly agent: number;
  readonly step: number;
  readonly epoch: number;
  readonly kind: 'open' | 'close';
  readonly custodian: string;
  readonly written_ms: number;
  readonly previous_digest: string;
  readonly row_digest: string;
}

const columns = [
  'seq',
  'agent',
  'step',
  'epoch',
  'kind',
  'custodian',
  'written_ms',
  'previous_digest',
  'row_digest',
] as const satisfies readonly (keyof CustodyRow)[];
const listed = columns.join(', ');

export const custodyQueries = {
  newest: `SELECT ${listed} FROM ledger_custody WHERE agent = ? ORDER BY step DESC LIMIT 1`,
  byStep: `SELECT ${listed} FROM ledger_custody WHERE agent = ? AND step = ?`,
  after: `SELECT ${listed} FROM ledger_custody WHERE seq > +? ORDER BY seq LIMIT +?`,
} as const;

/** The newest step of an agent's custody. */
export function findCustodyRow(db: ReadableDb, agent: number): CustodyRow | undefined {
  return db.query<[number], CustodyRow>(custodyQueries.newest).get(agent);
}

/** One step of an agent's custody. */
export function findCustodyStep(db: ReadableDb, agent: number, step: number): CustodyRow | undefined {
  return db.query<[number, number], CustodyRow>(custodyQueries.byStep).get(agent, step);
}

/** Steps of all agents above a number, oldest first. */
export function listCustodyAfter(db: ReadableDb, after: number, limit: number): readonly CustodyRow[] {
  return db.query<[number, number], CustodyRow>(custodyQueries.after).all(after, limit);
}

/** The greatest number of a step of any agent; 0 before the first. */
export function findLastCustodySeq(db: ReadableDb): number {
  return db.query<[], { seq: number | null }>('SELECT max(seq) AS seq FROM ledger_custody').get()?.seq ?? 0;
}

/** Appends a step. */
export function insertCustodyRow(db: WritableDb, row: CustodyRow): void {
  db.command<SqlValue[]>(`INSERT INTO ledger_custody (${listed}) VALUES (${columns.map(() => '?').join(', ')})`).run(
    ...columns.map((column) => row[column]),
  );
}
