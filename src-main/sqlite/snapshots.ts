import { Fault } from '../base/fault.ts';
import type { Connection, ReadableDb } from './driver.ts';

/** Reads one state of the store, however long that takes and whatever is written meanwhile. */
export type ReadSnapshot = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** Long reads over one state each, on connections of their own. */
export interface Snapshots {
  /** Runs `work` over the state of now. Throws CLOSED when the store is closed before it ends. */
  reading<Result>(work: (read: ReadSnapshot) => Promise<Result>): Promise<Result>;
  /** Ends the reads that are under way: they fault at their next chunk. */
  close(): void;
}

/**
 * Opens long reads with connections from `open`. While one is under way the write-ahead log cannot be cut, so work with
 * it is for what ends by itself.
 */
export function openSnapshots(open: () => Connection): Snapshots {
  const held = new Set<Connection>();
  return {
    reading: async (work) => {
      const connection = open();
      held.add(connection);
      try {
        connection.exec('BEGIN');
        return await work((chunk) => {
          if (!held.has(connection)) throw closed();
          return chunk(connection);
        });
      } finally {
        held.delete(connection);
        connection.close();
      }
    },
    close: () => {
      for (const connection of held) connection.close();
      held.clear();
    },
  };
}

function closed(): Fault {
  return new Fault('CLOSED', 'Memory Git is shutting down. The verification was not finished; run it again.');
}
