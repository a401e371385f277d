import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { ReadableDb, SqlValue, WritableDb } from '../../sqlite/driver.ts';

/** What a manifest row is: a context pinned before `form` was known, a context, a record that pins none. */
export const manifestForms = { before: 1, context: 2, record: 3 } as const;

/** The columns that manifests had from the first; the digest of a row of that form covers these alone. */
const firstColumns = [
  'manifest_id',
  'direction',
  'project_id',
  'ref_name',
  'head_seq',
  'selected_memory_ids',
  'inclusion_reasons',
  'query',
  'page_limit',
  'kinds',
  'tags',
  'cursor',
  'total_active',
  'context_digest',
  'session_id',
  'actor_id',
  'created_at',
] as const;

/** The columns that came later, and what they hold in a row from before. */
const laterColumns = {
  filters: '{}',
  next_cursor: '',
  withheld: '[]',
  unresolved_conflicts: '[]',
  exclusion_reasons: '{}',
  base_seq: null,
  resulting_seq: null,
  proposed_target_ref: '',
  merge_proposal_id: '',
} as const;
const laterNames = [
  'filters',
  'next_cursor',
  'withheld',
  'unresolved_conflicts',
  'exclusion_reasons',
  'base_seq',
  'resulting_seq',
  'proposed_target_ref',
  'merge_proposal_id',
] as const satisfies readonly (keyof typeof laterColumns)[];

/** A manifest as it is stored; lists and maps are plain encodings, absent texts empty. */
export interface ManifestRow {
  readonly manifest_id: string;
  readonly direction: 'input' | 'output';
  readonly project_id: string;
  readonly ref_name: string;
  readonly head_seq: number;
  readonly selected_memory_ids: string;
  readonly inclusion_reasons: string;
  readonly query: string;
  readonly page_limit: number;
  readonly kinds: string;
  readonly tags: string;
  readonly cursor: string;
  readonly total_active: number;
  readonly context_digest: string;
  readonly session_id: string;
  readonly actor_id: string;
  readonly created_at: string;
  readonly form: number;
  /** The parts of the filter beside kinds and tags. */
  readonly filters: string;
  /** The cursor that the reply ended with. */
  readonly next_cursor: string;
  /** Pairs of a withheld memory's id and its conflict's. */
  readonly withheld: string;
  readonly unresolved_conflicts: string;
  readonly exclusion_reasons: string;
  readonly base_seq: number | null;
  readonly resulting_seq: number | null;
  readonly proposed_target_ref: string;
  readonly merge_proposal_id: string;
  readonly row_digest: string;
}

const columns = [...firstColumns, 'form', ...laterNames, 'row_digest'] as const;
const listed = columns.join(', ');

export const manifestQueries = {
  byId: `SELECT ${listed} FROM memory_manifests WHERE manifest_id = ?`,
  ofReply: `SELECT ${listed} FROM memory_manifests WHERE project_id = +? AND actor_id = +? AND context_digest = +? ORDER BY manifest_id`,
  ofProposal: `SELECT ${listed} FROM memory_manifests WHERE project_id = +? AND merge_proposal_id = +? AND merge_proposal_id <> '' ORDER BY manifest_id`,
  after: `SELECT ${listed} FROM memory_manifests WHERE manifest_id > +? ORDER BY manifest_id LIMIT +?`,
} as const;

/** What a row's digest covers: every other column, and of a row from before those that there were. */
export function digestedColumns({ row_digest: _, ...row }: ManifestRow): JsonObject {
  const names = row.form === manifestForms.before ? firstColumns : [...firstColumns, 'form' as const, ...laterNames];
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** Whether the columns that a row's digest does not cover are as they were left. */
export function isAsLeft(row: ManifestRow): boolean {
  return row.form !== manifestForms.before || laterNames.every((name) => row[name] === laterColumns[name]);
}

/** The manifest of that id, of whatever project. */
export function findManifestRow(db: ReadableDb, manifestId: string): ManifestRow | undefined {
  return db.query<[string], ManifestRow>(manifestQueries.byId).get(manifestId);
}

/** An actor's manifests of replies with that digest. */
export function listManifestRowsOfReply(
  db: ReadableDb,
  projectId: string,
  actorId: string,
  contextDigest: string,
): readonly ManifestRow[] {
  return db
    .query<[string, string, string], ManifestRow>(manifestQueries.ofReply)
    .all(projectId, actorId, contextDigest);
}

/** The manifests that name a proposal, in id order. */
export function listManifestRowsOfProposal(
  db: ReadableDb,
  projectId: string,
  proposalId: string,
): readonly ManifestRow[] {
  return db.query<[string, string], ManifestRow>(manifestQueries.ofProposal).all(projectId, proposalId);
}

/** Manifests of all projects with ids above `after`, in id order, at most `limit`. */
export function listManifestRowsAfter(db: ReadableDb, after: string, limit: number): readonly ManifestRow[] {
  return db.query<[string, number], ManifestRow>(manifestQueries.after).all(after, limit);
}

/** Writes a manifest. */
export function insertManifestRow(db: WritableDb, row: ManifestRow): void {
  const places = columns.map(() => '?').join(', ');
  db.command<SqlValue[]>(`INSERT INTO memory_manifests (${listed}) VALUES (${places})`).run(
    ...columns.map((column) => row[column]),
  );
}
