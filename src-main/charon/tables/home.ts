import { z } from 'zod';
import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const homeId = z.uuidv4();

/** The id of this home, or undefined before its first start. */
export function findHomeId(db: ReadableDb): string | undefined {
  const row = db.query<[], { home_id: string }>('SELECT home_id FROM home WHERE one = 1').get();
  return row === undefined ? undefined : homeId.parse(row.home_id);
}

/** Writes the id of a new home; a second one is refused by the table. */
export function insertHome(db: WritableDb, id: string, createdAt: Timestamp): void {
  db.command<[string, string]>('INSERT INTO home (one, home_id, created_at) VALUES (1, ?, ?)').run(
    homeId.parse(id),
    createdAt,
  );
}
