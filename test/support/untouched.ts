import { expect } from 'vitest';
import type { Connection } from '../../src-main/sqlite/driver.ts';

/** Every row of every table of the history, as one text: equal before and after means that nothing at all was written. */
export function contentsOf(db: Connection): string {
  const tables = db
    .query<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'memory_%' ORDER BY name",
    )
    .all();
  const rows = tables.map(({ name }) =>
    db
      .query<[], Record<string, unknown>>(`SELECT * FROM ${name}`)
      .all()
      .map((row) => Object.values(row).map(String)),
  );
  return JSON.stringify(rows);
}

/** Expects a refusal that wrote nothing. */
export async function expectRefused(db: Connection, answer: Promise<unknown>, wanted: object): Promise<void> {
  const before = contentsOf(db);
  await expect(answer).rejects.toMatchObject(wanted);
  expect(contentsOf(db)).toBe(before);
}
