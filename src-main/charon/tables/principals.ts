import type { Timestamp } from '../../../src-preload/contract/ids.ts';
import type { Grant, Principal, Profile } from '../../../src-preload/contract/principal.ts';
import { principalSchema } from '../../../src-preload/contract/principal.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

interface PrincipalRow {
  readonly principal_id: string;
  readonly name: string;
  readonly actor_id: string;
  readonly profile: string;
  readonly enabled: number;
  readonly created_at: string;
}

const columns = 'principal_id, name, actor_id, profile, enabled, created_at';

/** Every principal in the order in which they were made, the owner first. */
export function listPrincipals(db: ReadableDb): readonly Principal[] {
  const rows = db.query<[], PrincipalRow>(`SELECT ${columns} FROM principals ORDER BY seq`).all();
  return rows.map((row) => toPrincipal(db, row));
}

/** The principal with its grants of this moment. */
export function findPrincipal(db: ReadableDb, principalId: string): Principal | undefined {
  const row = db
    .query<[string], PrincipalRow>(`SELECT ${columns} FROM principals WHERE principal_id = ?`)
    .get(principalId);
  return row && toPrincipal(db, row);
}

/** Names are exact: no case folding, no trimming. */
export function findPrincipalByName(db: ReadableDb, name: string): Principal | undefined {
  const row = db.query<[string], PrincipalRow>(`SELECT ${columns} FROM principals WHERE name = ?`).get(name);
  return row && toPrincipal(db, row);
}

/** True when some principal, of whatever case, has that actor id. `actorKey` is the id in lower case. */
export function actorIdIsTaken(db: ReadableDb, actorKey: string): boolean {
  return (
    db.query<[string], { one: number }>('SELECT 1 AS one FROM principals WHERE actor_key = ?').get(actorKey) !==
    undefined
  );
}

/** The one owner, or undefined before first start. */
export function findOwner(db: ReadableDb): Principal | undefined {
  const row = db.query<[], PrincipalRow>(`SELECT ${columns} FROM principals WHERE profile = 'owner'`).get();
  return row && toPrincipal(db, row);
}

/** A new principal, without its grants. */
export function insertPrincipal(db: WritableDb, principal: Principal, actorKey: string): void {
  db.command<[string, string, string, string, string, number, string]>(
    'INSERT INTO principals (principal_id, name, actor_id, actor_key, profile, enabled, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(
    principal.principal_id,
    principal.name,
    principal.actor_id,
    actorKey,
    principal.profile,
    principal.enabled ? 1 : 0,
    principal.created_at,
  );
}

/** Sets the profile; the table refuses to make or unmake an owner. */
export function updateProfile(db: WritableDb, principalId: string, profile: Profile): void {
  db.command<[string, string]>('UPDATE principals SET profile = ? WHERE principal_id = ?').run(profile, principalId);
}

/** Enables or disables; the table refuses to disable the owner. */
export function updateEnabled(db: WritableDb, principalId: string, enabled: boolean): void {
  db.command<[number, string]>('UPDATE principals SET enabled = ? WHERE principal_id = ?').run(
    enabled ? 1 : 0,
    principalId,
  );
}

/** Adds a grant; one that is there stays as it is. */
export function insertGrant(db: WritableDb, principalId: string, grant: Grant, grantedAt: Timestamp): void {
  db.command<[string, string, string]>(
    'INSERT INTO grants (principal_id, project, granted_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  ).run(principalId, grant, grantedAt);
}

/** Takes one exact grant away; true when there was one. */
export function deleteGrant(db: WritableDb, principalId: string, grant: Grant): boolean {
  return (
    db.command<[string, string]>('DELETE FROM grants WHERE principal_id = ? AND project = ?').run(principalId, grant)
      .changes === 1
  );
}

function toPrincipal(db: ReadableDb, row: PrincipalRow): Principal {
  const grants = db
    .query<[string], { project: string }>('SELECT project FROM grants WHERE principal_id = +? ORDER BY project')
    .all(row.principal_id);
  return principalSchema.parse({ ...row, enabled: row.enabled === 1, grants: grants.map((grant) => grant.project) });
}
