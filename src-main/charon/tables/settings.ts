import { z } from 'zod';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

const settingRowSchema = z.strictObject({
  value: z.string(),
  changed_at: z.string(),
  mac: z.string(),
  mac_key_id: z.string(),
});
const namedSettingSchema = settingRowSchema.extend({ name: z.string() });
/** A setting as stored, with its MAC. */
export type SettingRow = z.infer<typeof settingRowSchema>;

/** A security setting as stored; whether its MAC holds is for the caller to check. */
export function findSetting(db: ReadableDb, name: string): SettingRow | undefined {
  const row = db
    .query<[string], unknown>('SELECT value, changed_at, mac, mac_key_id FROM settings WHERE name = ?')
    .get(name);
  return row === undefined ? undefined : settingRowSchema.parse(row);
}

/** Every setting as stored, by name. */
export function listSettings(db: ReadableDb): readonly (SettingRow & { readonly name: string })[] {
  return db
    .query<[], unknown>('SELECT name, value, changed_at, mac, mac_key_id FROM settings ORDER BY name')
    .all()
    .map((row) => namedSettingSchema.parse(row));
}

/** Writes a setting over what was there. */
export function upsertSetting(db: WritableDb, name: string, row: SettingRow): void {
  db.command<[string, string, string, string, string]>(
    `INSERT INTO settings (name, value, changed_at, mac, mac_key_id) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, mac = excluded.mac, mac_key_id = excluded.mac_key_id`,
  ).run(name, row.value, row.changed_at, row.mac, row.mac_key_id);
}
