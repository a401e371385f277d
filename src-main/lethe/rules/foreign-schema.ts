import { opsMax } from '../../../src-preload/contract/limits.ts';
import { type ForeignTable, nullable, text, time } from './foreign-columns.ts';

/** Where a reference database says which of its migrations were applied. */
export const versionTable: ForeignTable = {
  name: 'schema_versions',
  key: ['name'],
  columns: { name: text(128), applied: nullable(time) },
};

const sessionMigrations = [
  '001_init.sql',
  '002_add_session_key.sql',
  '003_add_token_budget.sql',
  '004_add_lifetime_tokens.sql',
  '005_add_threads.sql',
  '006_project_scoped_events.sql',
  '007_unique_session_key.sql',
];
const gitMigration = '009_memory_git.sql';
/** After this one no row bears a digest of the first algorithm (`lethe.md` §3.1). */
const digestMigration = '011_changeset_digests_v2';
const known = new Set([
  ...sessionMigrations,
  '006_project_scoped_events',
  '008_context_assembly_ledger.sql',
  gitMigration,
  '010_memory_context_bridge.sql',
  '011_memory_conflict_lifecycle.sql',
  digestMigration,
  '012_merge_authorizations.sql',
  '013_memory_git_request_digest.sql',
]);

/** What a file's list of migrations says it is. */
export type ForeignKind =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'sessions' | 'git'; readonly mayHoldFirstDigests: boolean };

/** Which reference database the migrations make it: of sessions alone (0.3), or with Memory Git (0.4). */
export function decideForeignKind(applied: ReadonlySet<string>): ForeignKind {
  const unknown = [...applied].find((name) => !known.has(name));
  if (unknown !== undefined)
    return {
      kind: 'refused',
      reason: 'it was written by a newer version than this one can read, or by another program',
    };
  const has = (name: string): boolean => applied.has(name) || applied.has(name.replace('.sql', ''));
  const missing = sessionMigrations.find((name) => !has(name));
  if (missing !== undefined)
    return {
      kind: 'refused',
      reason: `it is older than version 0.3: migration ${missing} was not applied. Open it once with the reference server`,
    };
  return { kind: applied.has(gitMigration) ? 'git' : 'sessions', mayHoldFirstDigests: !applied.has(digestMigration) };
}

/** Bounds that no single value has. */
export const foreignBounds = {
  fileBytesMax: 1_073_741_824,
  changesetsMax: 500_000,
  refsMax: 10_000,
  projectsMax: 10_000,
  opsMax,
} as const;
