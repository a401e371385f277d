import { conflictStatuses, severities } from '../../../src-preload/contract/conflict.ts';
import { changesetIdSchema } from '../../../src-preload/contract/ids.ts';
import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import { mergeStrategies } from '../../../src-preload/contract/proposal.ts';
import { conflictId } from '../../canonical/conflict-digest.ts';
import { gitTables, laterTables } from '../rules/foreign-git-tables.ts';
import { type ForeignRow, parseForeignJson, textOf } from '../rules/foreign-row.ts';
import { assemblyTables } from '../rules/foreign-session-tables.ts';
import { parseForeignTime } from '../rules/foreign-time.ts';
import { importRefused } from './refusal.ts';
import type { ForeignProject, ReadTable } from './survey.ts';
import type { GitSurvey } from './survey-git.ts';
import { refuser, type SessionSurvey } from './survey-sessions.ts';

/** What the rest of the file was found to hold, for those rows that speak of it. */
export interface Surveyed {
  readonly projects: ReadonlyMap<string, ForeignProject>;
  readonly sessions: SessionSurvey;
  readonly git: GitSurvey;
}

/**
 * Reads what a file says about its history: conflicts with their identities, manifests, baselines, spent authorizations, and
 * advances, which must lead to the heads of their refs. Throws IMPORT_REFUSED naming the first row that does not hold.
 */
export async function surveyRecords(read: ReadTable, surveyed: Surveyed): Promise<Baselines> {
  await surveyConflicts(read, surveyed);
  await surveyManifests(read, surveyed);
  const baselines = await surveyBaselines(read, surveyed);
  await surveyAdvances(read, surveyed);
  await surveyAssemblies(read, surveyed);
  return baselines;
}

/** What a root froze: the events of it that the file has, and how many it has not. */
export interface FrozenEvents {
  readonly eventIds: readonly string[];
  readonly missing: number;
}

/** By project id; a project without a row is not there. */
export type Baselines = ReadonlyMap<string, FrozenEvents>;

async function surveyConflicts(read: ReadTable, { projects }: Surveyed): Promise<void> {
  await read(gitTables.memory_conflicts, (row) => {
    const refuse = refuser(gitTables.memory_conflicts, row);
    const details = parseForeignJson(textOf(row, 'details_json'));
    if (!isObject(details)) return refuse('details_json is no JSON object');
    if (!projects.has(textOf(row, 'project_id'))) refuse('its project is not in the file');
    if (!isOneOf(severities, textOf(row, 'severity'))) refuse('severity is not one of the known ones');
    if (!isOneOf(conflictStatuses, textOf(row, 'status'))) refuse('status is not one of the known ones');
    const id = conflictId({
      project_id: textOf(row, 'project_id'),
      base_changeset_id: textOf(row, 'base_changeset_id'),
      left_changeset_id: textOf(row, 'left_changeset_id'),
      right_changeset_id: textOf(row, 'right_changeset_id'),
      conflict_type: textOf(row, 'conflict_type'),
      summary: textOf(row, 'summary'),
      details,
    });
    // Rows from before conflicts had an identity are bound to no proposal and keep the random id that they were given.
    const isBefore = row.proposal_id === null && isUuid(textOf(row, 'conflict_id'));
    if (id !== row.conflict_id && !isBefore) refuse('conflict_id is not that of what it says');
  });
}

async function surveyManifests(read: ReadTable, { git }: Surveyed): Promise<void> {
  await read(gitTables.memory_manifests, (row) => {
    const refuse = refuser(gitTables.memory_manifests, row);
    if (!isOneOf(['input', 'output'], textOf(row, 'direction'))) refuse('direction is neither input nor output');
    if (git.changesets.get(textOf(row, 'head_changeset_id'))?.projectId !== textOf(row, 'project_id'))
      refuse('its head is no changeset of its project');
    for (const name of ['selected_memory_ids_json', 'unresolved_conflicts_json'])
      if (!Array.isArray(parseForeignJson(textOf(row, name)))) refuse(`${name} is no JSON list`);
    for (const name of ['inclusion_reasons_json', 'exclusion_reasons_json'])
      if (!isObject(parseForeignJson(textOf(row, name)))) refuse(`${name} is no JSON object`);
  });
}

async function surveyBaselines(read: ReadTable, { git, sessions }: Surveyed): Promise<Baselines> {
  const baselines = new Map<string, FrozenEvents>();
  await read(laterTables.memory_legacy_baselines, (row) => {
    const refuse = refuser(laterTables.memory_legacy_baselines, row);
    const projectId = textOf(row, 'project_id');
    const root = git.roots.get(projectId);
    if (root === undefined || root !== row.root_changeset_id)
      refuse('root_changeset_id is not the root of its project');
    if (git.changesets.get(root ?? '')?.createdAt !== row.captured_through)
      refuse('captured_through is not the moment of its root');
    const ids = parseForeignJson(textOf(row, 'event_ids_json'));
    if (!Array.isArray(ids) || ids.some((id: unknown) => typeof id !== 'string') || new Set(ids).size < ids.length)
      return refuse('event_ids_json is no JSON list of different event ids');
    const foreign = ids.find((id: string) => (sessions.eventProjects.get(id) ?? projectId) !== projectId);
    if (foreign !== undefined) refuse('it names an event of another project');
    const eventIds = ids.filter((id: string) => sessions.eventProjects.has(id));
    baselines.set(projectId, { eventIds, missing: ids.length - eventIds.length });
  });
  return baselines;
}

async function surveyAssemblies(read: ReadTable, { sessions, projects }: Surveyed): Promise<void> {
  const { context_assemblies, context_assembly_items, context_assembly_feedback } = assemblyTables;
  const assemblies = new Set<string>();
  await read(context_assemblies, (row) => {
    const refuse = refuser(context_assemblies, row);
    if (!sessions.sessions.has(textOf(row, 'session_id'))) refuse('its session is not in the file');
    if (!projects.has(textOf(row, 'project_id'))) refuse('its project is not in the file');
    assemblies.add(textOf(row, 'assembly_id'));
  });
  for (const table of [context_assembly_items, context_assembly_feedback])
    await read(table, (row) => {
      if (!assemblies.has(textOf(row, 'assembly_id'))) refuser(table, row)('its assembly is not in the file');
    });
}

async function surveyAdvances(read: ReadTable, { git }: Surveyed): Promise<void> {
  const authorizations = new Map<string, ForeignRow>();
  await read(laterTables.memory_merge_authorizations, (row) => {
    const refuse = refuser(laterTables.memory_merge_authorizations, row);
    if (!/^[0-9a-f]{32}$/.test(textOf(row, 'nonce'))) refuse('nonce is no nonce');
    authorizations.set(textOf(row, 'nonce'), row);
  });
  const byRef = new Map<string, ForeignRow[]>();
  const spent = new Set<string>();
  await read(laterTables.memory_protected_ref_advances, (row) => {
    const refuse = refuser(laterTables.memory_protected_ref_advances, row);
    const nonce = textOf(row, 'authorization_nonce');
    const authorization = authorizations.get(nonce);
    if (authorization === undefined) return refuse('authorization_nonce names no authorization of the file');
    if (spent.has(nonce)) refuse('its authorization moved a ref twice');
    spent.add(nonce);
    const differs = agreed.find((name) => row[name] !== authorization[name]);
    if (differs !== undefined) refuse(`its authorization says another ${differs}`);
    if (!isOneOf(mergeStrategies, textOf(row, 'strategy'))) refuse('strategy is not one of the known ones');
    for (const name of ['expected_head', 'new_head'])
      if (git.changesets.get(textOf(row, name))?.projectId !== textOf(row, 'project_id'))
        refuse(`${name} is no changeset of its project`);
    const ref = refKey(textOf(row, 'project_id'), textOf(row, 'ref_name'));
    const others = byRef.get(ref);
    if (others === undefined) byRef.set(ref, [row]);
    else others.push(row);
  });
  for (const { projectId, refName, head } of git.refs) {
    requireChain(byRef.get(refKey(projectId, refName)) ?? [], head);
    byRef.delete(refKey(projectId, refName));
  }
  const orphan = [...byRef.values()][0]?.[0];
  if (orphan !== undefined) refuser(laterTables.memory_protected_ref_advances, orphan)('its ref is not in the file');
}

const agreed = [
  'project_id',
  'ref_name',
  'expected_head',
  'new_head',
  'merge_proposal_id',
  'proposal_digest',
  'reviewer_principal',
  'merger_principal',
  'strategy',
] as const;

/** The advances of a ref, in the order of time, start where the one before went, and the last one went to its head. */
function requireChain(advances: readonly ForeignRow[], head: string): void {
  const order = (row: ForeignRow): string => parseForeignTime(textOf(row, 'created_at'))?.order ?? '';
  const sorted = advances.toSorted((left, right) =>
    `${order(left)}${textOf(left, 'advance_id')}` < `${order(right)}${textOf(right, 'advance_id')}` ? -1 : 1,
  );
  for (const [index, row] of sorted.entries()) {
    const next = sorted[index + 1];
    const goesOn = next === undefined ? row.new_head === head : row.new_head === next.expected_head;
    if (goesOn) continue;
    const problem =
      next === undefined
        ? 'it is the last of its ref, which stands elsewhere'
        : 'the next one of its ref starts elsewhere';
    throw importRefused(`${textOf(row, 'advance_id')} of memory_protected_ref_advances: ${problem}`);
  }
}

function refKey(projectId: string, refName: string): string {
  return `${projectId}\n${refName}`;
}

function isOneOf(allowed: readonly string[], value: string): boolean {
  return allowed.includes(value);
}

function isUuid(text: string): boolean {
  return changesetIdSchema.safeParse(text).success;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
