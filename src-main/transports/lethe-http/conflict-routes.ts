import { z } from 'zod';
import {
  type Conflict,
  conflictStatusSchema,
  conflictTypeSchema,
  severitySchema,
} from '../../../src-preload/contract/conflict.ts';
import { type Digest, digestSchema, type ProjectId } from '../../../src-preload/contract/ids.ts';
import { jsonObjectSchema } from '../../../src-preload/contract/json.ts';
import { listLimitMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { conflictId } from '../../canonical/conflict-digest.ts';
import type { ConflictSides } from '../../lethe/conflict-api.ts';
import { type Answer, json, refusal } from './answer.ts';
import { readBody, recordsField, textField, textsField } from './body.ts';
import { refusalOfFault } from './refusal-text.ts';
import {
  type Asked,
  asChangeset,
  asProject,
  asProposal,
  boundedName,
  invalid,
  param,
  queryCursor,
  queryLimit,
  queryText,
  type Route,
  type RouteDeps,
  required,
} from './route.ts';
import { encodeConflict } from './wire.ts';

const sidesFields = { base_changeset_id: textField, left_changeset_id: textField, right_changeset_id: textField };
const detectBody = z.object(sidesFields);
const conflictFields = z.object({
  ...sidesFields,
  project_id: textField,
  conflict_type: textField,
  severity: textField,
  summary: textField,
  details: jsonObjectSchema.default({}),
});
const persistBody = z.object({
  ...sidesFields,
  proposal_id: textField,
  conflicts: recordsField(conflictFields),
  conflict_ids: textsField,
  principal: textField,
});
const retireBody = z.object({ proposal_id: textField, status: textField, principal: textField });
const resolveBody = z.object({ resolution_note: textField, principal: textField });

const listedDefault = 100;
/** Sides of one request; each costs a detection. */
const sidesMax = 32;

type Given = z.infer<typeof conflictFields>;

/** Conflicts: found, kept, listed, retired, resolved (`lethe.md` §1.2). */
export function conflictRoutes(deps: RouteDeps): readonly Route[] {
  const { lethe, metrics } = deps;
  return [
    {
      method: 'POST',
      pattern: '/memory/{project}/conflicts/detect',
      reads: true,
      answer: (asked) => refusedAs400(() => detect(deps, asked)),
    },
    { method: 'GET', pattern: '/memory/{project}/conflicts', answer: (asked) => list(deps, asked) },
    {
      method: 'POST',
      pattern: '/memory/{project}/conflicts/persist',
      answer: (asked) => refusedAs400(() => persist(deps, asked)),
    },
    {
      method: 'POST',
      pattern: '/memory/{project}/conflicts/retire',
      answer: (asked) => refusedAs400(() => retire(deps, asked)),
    },
    {
      method: 'POST',
      pattern: '/memory/{project}/conflicts/{id}/resolve',
      answer: async (asked) => {
        const { resolution_note: note, principal } = readBody(asked.body, resolveBody);
        const conflict = await lethe.resolveConflict({
          projectId: projectOf(asked),
          conflictId: asConflict(param(asked, 'id')),
          note,
          principal: boundedName('principal', principal) || undefined,
        });
        metrics.count('conflictsResolved');
        const whole = principal === '' ? {} : { conflict: encodeConflict(conflict) };
        return json({ ...whole, resolved: conflict.conflict_id });
      },
    },
  ];
}

function projectOf(asked: Asked): ProjectId {
  return asProject(param(asked, 'project'));
}

/** Every failure that is the caller's is 400 here, and says what could not be loaded. */
async function refusedAs400(answer: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await answer();
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind === 'unavailable' || thrown.kind === 'read_only') throw thrown;
    const side = thrown.code === 'CHANGESET_NOT_FOUND' ? /^(base|left|right)/.exec(String(thrown.data.field)) : null;
    if (side !== null) return { ...refusal(400, `load ${side[0]}: changeset not found`), fault: thrown };
    return { ...refusalOfFault(thrown), status: 400 };
  }
}

/** The sides that fields name. Throws INPUT_INVALID for one that is left out. */
function sidesOf(projectId: ProjectId, fields: z.infer<typeof detectBody>, where = ''): ConflictSides {
  const { base_changeset_id: base, left_changeset_id: left, right_changeset_id: right } = fields;
  return {
    projectId,
    baseChangesetId: asChangeset(required(`${where}base_changeset_id`, base)),
    leftChangesetId: asChangeset(required(`${where}left_changeset_id`, left)),
    rightChangesetId: asChangeset(required(`${where}right_changeset_id`, right)),
  };
}

function detect({ lethe }: RouteDeps, asked: Asked): Answer {
  const sides = sidesOf(projectOf(asked), readBody(asked.body, detectBody));
  return json({ conflicts: lethe.detectConflicts(sides).map(encodeConflict) });
}

/** None of a status that does not exist, or of a project that does not, as the reference has it. */
function list({ lethe }: RouteDeps, asked: Asked): Answer {
  const status = queryText(asked, 'status');
  const known = conflictStatusSchema.optional().safeParse(status === '' ? undefined : status);
  if (!known.success) return listed([]);
  const proposal = queryText(asked, 'proposal_id');
  try {
    const { conflicts, nextCursor } = lethe.listConflicts({
      projectId: projectOf(asked),
      status: known.data,
      proposalId: proposal === '' ? undefined : asProposal(proposal),
      limit: queryLimit(asked, listedDefault, listLimitMax, listedDefault),
      cursor: queryCursor(asked),
    });
    return listed(conflicts, nextCursor);
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'PROJECT_NOT_FOUND') return listed([]);
    throw thrown;
  }
}

function listed(conflicts: readonly Conflict[], next?: string): Answer {
  const page = { conflicts: conflicts.map(encodeConflict), count: conflicts.length };
  return json({ ...page, ...(next === undefined ? {} : { next_cursor: next }) });
}

/** Keeps what was given as far as detection finds it; when it does not find all of it, nothing is kept (`lethe.md` D2). */
async function persist({ lethe, metrics }: RouteDeps, asked: Asked): Promise<Answer> {
  const projectId = projectOf(asked);
  const body = readBody(asked.body, persistBody);
  const proposalId = asProposal(required('proposal_id', body.proposal_id));
  const principal = boundedName('principal', body.principal) || undefined;
  if (body.conflict_ids.length > 0) {
    const sides = sidesOf(projectId, body);
    const kept = await lethe.persistConflicts({
      ...{ sides, proposalId, principal },
      conflictIds: body.conflict_ids.map(asConflict),
    });
    metrics.count('conflictsPersisted', body.conflict_ids.length);
    return json({ conflicts: kept.map(encodeConflict), persisted: body.conflict_ids.length, proposal_id: proposalId });
  }
  const groups = groupBySides(projectId, body.conflicts);
  if (groups.length > sidesMax)
    throw invalid('conflicts', `conflicts: at most ${sidesMax} different bases, lefts and rights at once`);
  if (groups.length > 1)
    for (const { sides, conflictIds } of groups) {
      const found = new Set(lethe.detectConflicts(sides).map((conflict) => conflict.conflict_id));
      const unfound = conflictIds.find((id) => !found.has(id));
      if (unfound !== undefined) throw invalid('conflicts', `conflict ${unfound}: detection does not find it`);
    }
  for (const { sides, conflictIds } of groups)
    await lethe.persistConflicts({ sides, proposalId, conflictIds, principal });
  if (body.conflicts.length > 0) metrics.count('conflictsPersisted', body.conflicts.length);
  return json({ persisted: body.conflicts.length, proposal_id: proposalId });
}

interface Group {
  readonly sides: ConflictSides;
  readonly conflictIds: Digest[];
}

/** What was given, by the changesets that it is about; ids are computed from what it says, as the reference does. */
function groupBySides(projectId: ProjectId, given: readonly Given[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const [index, conflict] of given.entries()) {
    const where = `conflicts[${index}].`;
    const sides = sidesOf(projectId, conflict, where);
    const key = [sides.baseChangesetId, sides.leftChangesetId, sides.rightChangesetId].join('\n');
    const group = groups.get(key) ?? { sides, conflictIds: [] };
    groups.set(key, group);
    group.conflictIds.push(idOf(projectId, conflict, where));
  }
  return [...groups.values()];
}

function idOf(projectId: ProjectId, conflict: Given, where: string): Digest {
  const { project_id: project, conflict_type: type, severity, summary } = conflict;
  if (project !== '' && project !== projectId) throw invalid('conflicts', `${where}project_id: project mismatch`);
  if (!conflictTypeSchema.safeParse(required(`${where}conflict_type`, type)).success)
    throw invalid('conflicts', `${where}conflict_type: there is no such type`);
  if (severity !== '' && !severitySchema.safeParse(severity).success)
    throw invalid('conflicts', `${where}severity: there is no such severity`);
  required(`${where}summary`, summary);
  return digestSchema.parse(conflictId({ ...conflict, project_id: projectId }));
}

async function retire({ lethe, metrics }: RouteDeps, asked: Asked): Promise<Answer> {
  const body = readBody(asked.body, retireBody);
  const proposalId = asProposal(required('proposal_id', body.proposal_id));
  const status = z.enum(['rejected', 'canceled', 'superseded']).safeParse(required('status', body.status));
  if (!status.success) throw invalid('status', 'status: one of rejected, canceled, superseded is needed');
  const principal = boundedName('principal', body.principal) || undefined;
  const of = { projectId: projectOf(asked), proposalId, principal };
  const retired = await lethe.retireConflicts({ ...of, status: status.data });
  if (retired > 0) metrics.count('conflictsRetired', retired);
  return json({ retired, proposal_id: proposalId, status: status.data });
}

/** Looked up as it came: what is no id is not there. */
function asConflict(text: string): Digest {
  return text as Digest;
}
