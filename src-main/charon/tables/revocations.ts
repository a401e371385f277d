import { z } from 'zod';
import { type agentProfileSchema, grantSchema, profileSchema } from '../../../src-preload/contract/principal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { listSettings, type SettingRow, upsertSetting } from './settings.ts';

const revokedSchema = z.strictObject({ id: z.string(), revoked_at: z.string() });
const principalSchema = z.strictObject({ id: z.string(), profile: profileSchema, enabled: z.int() });

/** Everything in a policy store that takes away: what of it must outlive a restore (`charon.md` §7). */
export interface Revocations {
  readonly epoch: number;
  readonly obols: readonly Revoked[];
  readonly keys: readonly Revoked[];
  readonly oauthGrants: readonly Revoked[];
  readonly passports: readonly Revoked[];
  /** Security settings with their MACs: what the owner decided last. */
  readonly settings: readonly (SettingRow & { readonly name: string })[];
  /** Agents as they stand: their profile, whether they are enabled, the projects that they have. */
  readonly agents: readonly {
    readonly id: string;
    readonly profile: z.infer<typeof profileSchema>;
    readonly enabled: boolean;
    readonly projects: ReadonlySet<string>;
  }[];
}

type Revoked = z.infer<typeof revokedSchema>;

/** How far the owner has seen the ledger says something of that very ledger. */
const actsSeenName = 'acts_seen_through';

/** Reads them from a store of this version or an older one: what it has no table for, it never revoked. */
export function readRevocations(db: ReadableDb): Revocations {
  const epoch = hasTable(db, 'credential_epoch')
    ? (db.query<[], { epoch: number }>('SELECT epoch FROM credential_epoch WHERE one = 1').get()?.epoch ?? 0)
    : 0;
  return {
    epoch,
    obols: listRevoked(db, 'obols', 'obol_id'),
    keys: listRevoked(db, 'ltx_keys', 'key_id'),
    oauthGrants: listRevoked(db, 'oauth_grants', 'grant_id'),
    passports: listRevoked(db, 'passports', 'principal_id'),
    settings: listSettings(db).filter(({ name }) => name !== actsSeenName),
    agents: db
      .query<[], unknown>(
        "SELECT principal_id AS id, profile, enabled FROM principals WHERE profile <> 'owner' ORDER BY seq",
      )
      .all()
      .map((row) => {
        const { id, profile, enabled } = principalSchema.parse(row);
        return { id, profile, enabled: enabled === 1, projects: projectsOf(db, id) };
      }),
  };
}

/** Revokes what was revoked elsewhere and is not here, what is not known here needs none; security settings are those of there. */
export function applyRevoked(db: WritableDb, { obols, keys, oauthGrants, passports, settings }: Revocations): void {
  revoke(db, 'obols', 'obol_id', obols);
  revoke(db, 'ltx_keys', 'key_id', keys);
  revoke(db, 'oauth_grants', 'grant_id', oauthGrants);
  revoke(db, 'passports', 'principal_id', passports);
  for (const { name, ...row } of settings) upsertSetting(db, name, row);
}

/** Takes from an agent what it does not have elsewhere any more. */
export function narrowAgent(
  db: WritableDb,
  id: string,
  to: {
    readonly profile: z.infer<typeof agentProfileSchema>;
    readonly enabled: boolean;
    readonly projects: ReadonlySet<string>;
  },
): void {
  db.command<[string, number, string]>('UPDATE principals SET profile = ?, enabled = ? WHERE principal_id = ?').run(
    to.profile,
    to.enabled ? 1 : 0,
    id,
  );
  const drop = db.command<[string, string]>('DELETE FROM grants WHERE principal_id = ? AND project = ?');
  for (const project of projectsOf(db, id)) if (!to.projects.has(project)) drop.run(id, project);
}

function projectsOf(db: ReadableDb, id: string): ReadonlySet<string> {
  const rows = db
    .query<[string], { project: string }>('SELECT project FROM grants WHERE principal_id = ? ORDER BY project')
    .all(id);
  return new Set(rows.map(({ project }) => grantSchema.parse(project)));
}

function listRevoked(db: ReadableDb, table: string, key: string): readonly Revoked[] {
  if (!hasTable(db, table)) return [];
  return db
    .query<[], unknown>(`SELECT ${key} AS id, revoked_at FROM ${table} WHERE revoked_at IS NOT NULL ORDER BY ${key}`)
    .all()
    .map((row) => revokedSchema.parse(row));
}

function revoke(db: WritableDb, table: string, key: string, revoked: readonly Revoked[]): void {
  const update = db.command<[string, string]>(
    `UPDATE ${table} SET revoked_at = ? WHERE ${key} = ? AND revoked_at IS NULL`,
  );
  for (const { id, revoked_at: at } of revoked) update.run(at, id);
}

function hasTable(db: ReadableDb, name: string): boolean {
  return (
    db
      .query<[string], { found: number }>("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = ?")
      .get(name) !== undefined
  );
}
