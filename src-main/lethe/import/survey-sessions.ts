import { type ProjectId, projectIdSchema } from '../../../src-preload/contract/ids.ts';
import type { ForeignTable } from '../rules/foreign-columns.ts';
import { type ForeignNode, orderForeign } from '../rules/foreign-order.ts';
import { type ForeignRow, nameForeignRow, parseForeignJson, textOf } from '../rules/foreign-row.ts';
import { sessionTables } from '../rules/foreign-session-tables.ts';
import { parseForeignTime } from '../rules/foreign-time.ts';
import { importRefused } from './refusal.ts';
import type { ForeignProject, ReadTable } from './survey.ts';

/** The sessions of a file and what hangs on them, by id. */
export interface SessionSurvey {
  readonly agents: ReadonlySet<string>;
  /** Session id to the project it belongs to. */
  readonly sessions: ReadonlyMap<string, string>;
  readonly threads: ReadonlyMap<string, string>;
  /** Event ids, parents before children, else by time and id. */
  readonly events: readonly string[];
  /** Event id to its project. */
  readonly eventProjects: ReadonlyMap<string, string>;
  /** Project id to its events, in the order of `events`. */
  readonly eventsOf: ReadonlyMap<string, readonly string[]>;
  readonly checkpoints: number;
  readonly links: number;
}

const states = new Set(['active', 'interrupted', 'completed']);
const threadStatuses = new Set(['open', 'resolved', 'blocked']);
const eventTypes = new Set(['record', 'log', 'flag', 'task', 'summary', 'system']);
const taskStatuses = new Set(['', 'todo', 'in_progress', 'done', 'blocked']);
const linkTypes = new Set(['', 'resume', 'fork', 'parallel']);

/** Refuses a row, named, with the reason. */
type Refuse = (reason: string) => never;

/** Reads the tables of sessions; events may name a project that has no row. Throws IMPORT_REFUSED. */
export async function surveySessions(read: ReadTable, projects: Map<string, ForeignProject>): Promise<SessionSurvey> {
  const agents = new Set<string>();
  const sessions = new Map<string, string>();
  const keys = new Set<string>();
  await read(sessionTables.agents, (row) => void agents.add(textOf(row, 'agent_id')));
  await read(sessionTables.sessions, (row) => {
    const refuse = refuser(sessionTables.sessions, row);
    requireKnown(refuse, 'agent_id', agents, row);
    requireKnown(refuse, 'project_id', projects, row);
    if (!states.has(textOf(row, 'state'))) refuse('state is not one of the known ones');
    const key = textOf(row, 'session_key');
    if (key !== '' && keys.has(key)) refuse('its session_key is that of another session');
    keys.add(key);
    requireCount(refuse, row, 'token_budget');
    requireCount(refuse, row, 'total_tokens_consumed');
    sessions.set(textOf(row, 'session_id'), textOf(row, 'project_id'));
  });
  const checkpoints = await surveyCheckpoints(read, sessions);
  const threads = await surveyThreads(read, sessions);
  const events = await surveyEvents(read, projects, sessions, threads);
  let links = 0;
  await read(sessionTables.session_links, (row) => {
    const refuse = refuser(sessionTables.session_links, row);
    requireKnown(refuse, 'session_id', sessions, row);
    requireKnown(refuse, 'prior_session_id', sessions, row);
    if (!linkTypes.has(textOf(row, 'link_type'))) refuse('link_type is not one of the known ones');
    links += 1;
  });
  return { agents, sessions, threads, ...events, checkpoints, links };
}

async function surveyCheckpoints(read: ReadTable, sessions: ReadonlyMap<string, string>): Promise<number> {
  const places = new Set<string>();
  await read(sessionTables.checkpoints, (row) => {
    const refuse = refuser(sessionTables.checkpoints, row);
    requireKnown(refuse, 'session_id', sessions, row);
    if (Number(row.seq) < 1) refuse('seq is not above 0');
    const place = `${textOf(row, 'seq')} ${textOf(row, 'session_id')}`;
    if (places.has(place)) refuse('its seq is that of another checkpoint of the session');
    places.add(place);
    if (parseForeignJson(textOf(row, 'snapshot')) === undefined) refuse('snapshot is no JSON');
  });
  return places.size;
}

async function surveyThreads(
  read: ReadTable,
  sessions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const threads = new Map<string, string>();
  await read(sessionTables.threads, (row) => {
    const refuse = refuser(sessionTables.threads, row);
    requireKnown(refuse, 'session_id', sessions, row);
    if (!threadStatuses.has(textOf(row, 'status'))) refuse('status is not one of the known ones');
    threads.set(textOf(row, 'thread_id'), sessions.get(textOf(row, 'session_id')) ?? '');
  });
  return threads;
}

async function surveyEvents(
  read: ReadTable,
  projects: Map<string, ForeignProject>,
  sessions: ReadonlyMap<string, string>,
  threads: ReadonlyMap<string, string>,
): Promise<Pick<SessionSurvey, 'events' | 'eventProjects' | 'eventsOf'>> {
  const nodes = new Map<string, ForeignNode>();
  const eventProjects = new Map<string, string>();
  await read(sessionTables.events, (row) => {
    const refuse = refuser(sessionTables.events, row);
    const projectId = projectIdSchema.safeParse(row.project_id);
    if (!projectId.success) return refuse('project_id cannot be the id of a project here');
    if (row.session_id !== null) requireKnown(refuse, 'session_id', sessions, row);
    if (row.thread_id !== null) requireKnown(refuse, 'thread_id', threads, row);
    if (!eventTypes.has(textOf(row, 'event_type'))) refuse('event_type is not one of the known ones');
    if (!taskStatuses.has(textOf(row, 'task_status'))) refuse('task_status is not one of the known ones');
    const confidence = Number(row.confidence ?? 0);
    if (confidence < 0 || confidence > 1) refuse('confidence is not between 0 and 1');
    const eventId = textOf(row, 'event_id');
    const parent = textOf(row, 'parent_event_id');
    const order = parseForeignTime(textOf(row, 'created_at'))?.order ?? '';
    nodes.set(eventId, { changesetId: eventId, parentIds: parent === '' ? [] : [parent], order });
    eventProjects.set(eventId, projectId.data);
    if (!projects.has(projectId.data)) projects.set(projectId.data, projectWithoutRow(projectId.data));
  });
  const ordered = orderForeign(nodes);
  if (ordered.kind === 'ordered') {
    const events = ordered.changesetIds;
    return { events, eventProjects, eventsOf: Map.groupBy(events, (eventId) => eventProjects.get(eventId) ?? '') };
  }
  const problem =
    ordered.kind === 'cycle' ? 'it is its own ancestor' : 'its parent_event_id names no event of the file';
  throw importRefused(`${nameForeignRow(sessionTables.events, { event_id: ordered.changesetId })}: ${problem}`);
}

function projectWithoutRow(projectId: ProjectId): ForeignProject {
  return { projectId, name: projectId, createdAt: undefined, updatedAt: undefined };
}

/** Refuses the file for one of its rows. */
export function refuser(table: ForeignTable, row: ForeignRow): Refuse {
  return (reason) => {
    throw importRefused(`${nameForeignRow(table, row)}: ${reason}`);
  };
}

function requireKnown(refuse: Refuse, name: string, known: { has(id: string): boolean }, row: ForeignRow): void {
  if (!known.has(textOf(row, name))) refuse(`${name} names nothing in the file`);
}

function requireCount(refuse: Refuse, row: ForeignRow, name: string): void {
  if (Number(row[name] ?? 0) < 0) refuse(`${name} is below 0`);
}
