import type { WriteVerb } from './batch.ts';
import type { ReadableDb } from './driver.ts';
import type { Snapshots } from './snapshots.ts';

/**
 * An open database file as one of the stores in it sees it: readers, the writer that all of them share, and long reads.
 * Whoever opened the file closes it.
 */
export interface StoreFile<Event> {
  /** True in recovery: `write` refuses. */
  readonly readOnly: boolean;
  /** Runs `work` in one read transaction. */
  read<Result>(work: (db: ReadableDb) => Result): Result;
  /** As `Batch.write`; READ_ONLY in recovery, CLOSED after the file was closed. */
  write<Result>(verb: WriteVerb<Result, Event>): Promise<Result>;
  /** Long reads over one state each. */
  readonly snapshots: Pick<Snapshots, 'reading'>;
}
