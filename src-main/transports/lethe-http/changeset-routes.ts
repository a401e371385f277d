import { z } from 'zod';
import { type Changeset, type Op, opTypeSchema } from '../../../src-preload/contract/changeset.ts';
import { diffCategories, type SemanticDiff } from '../../../src-preload/contract/diff.ts';
import { protectedRefPrefix } from '../../../src-preload/contract/ids.ts';
import { jsonObjectSchema } from '../../../src-preload/contract/json.ts';
import { listLimitMax, logLimitDefault, logLimitMax, queryBytesMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { verifyRestoreProof } from '../../canonical/restore-proof.ts';
import type { CommitInput } from '../../lethe/api.ts';
import { type Answer, json, refusal } from './answer.ts';
import { flagField, numberField, objectsField, readBody, recordsField, textField, textsField } from './body.ts';
import {
  type Asked,
  asChangeset,
  asProject,
  asRef,
  clampLimit,
  invalid,
  param,
  queryCursor,
  queryFlag,
  queryLimit,
  queryMoment,
  queryText,
  type Route,
  type RouteDeps,
  required,
  restoreProofHeader,
} from './route.ts';
import { encodeChangeset, encodeDiff } from './wire.ts';

const opShape = z.object({
  ordinal: numberField,
  op_type: textField,
  target_event_id: textField,
  resulting_event_id: textField,
  payload: jsonObjectSchema.default({}),
});
const commitBody = z.object({
  project_id: textField,
  ref_name: textField,
  parent_ids: textsField,
  author_principal: textField,
  persona_id: textField,
  actor_id: textField,
  surface: textField,
  model: textField,
  environment: textField,
  session_id: textField,
  topic_id: textField,
  context_manifest_id: textField,
  message: textField,
  idempotency_key: textField,
  ops: recordsField(opShape),
  evidence: objectsField,
  verification: objectsField,
  expected_head: textField,
  advance_ref: flagField,
  create_ref_if_missing: flagField,
  protected: flagField,
});
type CommitBody = z.infer<typeof commitBody>;
const diffBody = z.object({ base_changeset_id: textField, cursor: textField, side: textField, limit: numberField });

/** Changesets and diffs (`lethe.md` §1.2, §1.3). Static places come first: no project hides them. */
export function changesetRoutes(deps: RouteDeps): readonly Route[] {
  return [
    { method: 'POST', pattern: '/memory/changesets', answer: (asked) => createChangeset(deps, asked) },
    {
      method: 'GET',
      pattern: '/memory/changesets/{id}',
      answer: (asked) => json(encodeChangeset(getChangeset(deps, param(asked, 'id')))),
    },
    {
      method: 'POST',
      pattern: '/memory/changesets/{id}/diff',
      reads: true,
      answer: (asked) => readDiff(deps, asked),
    },
    { method: 'GET', pattern: '/memory/{project}/changesets', answer: (asked) => listChangesets(deps, asked) },
  ];
}

function getChangeset({ lethe }: RouteDeps, id: string, field = 'changeset_id'): Changeset {
  const changeset = lethe.findChangeset(asChangeset(id));
  if (changeset !== undefined) return changeset;
  throw new Fault('CHANGESET_NOT_FOUND', `${field}: there is no such changeset.`, { field, changeset_id: id });
}

/** Newest first along first parents; an unknown ref or project has none (`lethe.md` §1.2). */
function listChangesets({ lethe }: RouteDeps, asked: Asked): Answer {
  const project = param(asked, 'project');
  const ref = queryText(asked, 'ref');
  const at = queryMoment(asked);
  const allParents = queryFlag(asked, 'all_parents');
  if (lethe.findRef(asProject(project), asRef(ref)) === undefined) return json({ changesets: [], project, ref });
  const input = {
    projectId: asProject(project),
    refName: asRef(ref),
    limit: queryLimit(asked, logLimitDefault, logLimitMax, logLimitDefault),
    cursor: queryCursor(asked),
    allParents,
  };
  const page = at === undefined ? lethe.log(input) : lethe.logAt({ ...input, at });
  const more = page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor };
  return json({ changesets: page.changesets.map(encodeChangeset), project, ref, ...more });
}

/** A commit, in the order of `lethe.md` §1.3 with D1, D8, D9, D10 and D15. */
async function createChangeset(deps: RouteDeps, asked: Asked): Promise<Answer> {
  const { lethe, metrics } = deps;
  const body = readBody(asked.body, commitBody);
  for (const field of ['project_id', 'ref_name', 'author_principal', 'idempotency_key'] as const)
    required(field, body[field]);
  const input = { ...toCommit(body), mayRestore: mayRestore(deps, asked) };
  requireUnprotected(deps, body);
  lethe.getProject(input.projectId);
  for (const id of body.parent_ids) {
    if (lethe.findChangeset(asChangeset(id))?.project_id !== body.project_id)
      return refusal(404, `parent ${quotable(id)}: changeset not found`);
  }
  const earlier = lethe.findChangesetByKey(input.projectId, input.authorPrincipal, input.idempotencyKey);
  const changeset = await (body.create_ref_if_missing ? lethe.commitCreatingRef(input) : lethe.commit(input));
  metrics.count(earlier === undefined ? 'created' : 'replays');
  return json(encodeChangeset(changeset), 201);
}

/** Whether the policy engine itself asks (`lethe.md` §0.4). A proof that does not hold is refused, never left aside. */
function mayRestore({ mergeKeys }: RouteDeps, { proof, body }: Asked): boolean {
  if (proof === '') return false;
  if (verifyRestoreProof(mergeKeys, proof, body)) return true;
  throw new Fault('MERGE_AUTHORIZATION_REFUSED', `${restoreProofHeader}: this is no proof of the policy engine.`);
}

function toCommit(body: CommitBody): CommitInput {
  const moves = body.advance_ref || body.create_ref_if_missing;
  if (body.advance_ref && !body.create_ref_if_missing) required('expected_head', body.expected_head);
  return {
    projectId: asProject(body.project_id),
    refName: asRef(body.ref_name),
    parentIds: body.parent_ids.map(asChangeset),
    authorPrincipal: body.author_principal.toWellFormed(),
    personaId: body.persona_id,
    actorId: body.actor_id,
    surface: body.surface,
    model: body.model,
    environment: body.environment,
    sessionId: body.session_id,
    topicId: body.topic_id,
    contextManifestId: body.context_manifest_id,
    message: body.message,
    idempotencyKey: body.idempotency_key.toWellFormed(),
    ops: toOps(body),
    evidence: body.evidence,
    verification: body.verification,
    expectedHead: moves && body.expected_head !== '' ? asChangeset(body.expected_head) : undefined,
    advanceRef: body.advance_ref,
  };
}

/** The ops under their places in the list; an unknown kind of op is refused before anything else of it is read. */
function toOps(body: CommitBody): readonly Op[] {
  if (body.ops.length === 0) throw invalid('ops', 'changeset requires at least one operation');
  return body.ops.map((op, ordinal) => {
    const kind = opTypeSchema.safeParse(op.op_type);
    if (!kind.success) throw opUnknown(ordinal, op.op_type);
    return {
      ordinal,
      op_type: kind.data,
      target_event_id: op.target_event_id,
      resulting_event_id: op.resulting_event_id,
      payload: op.payload,
    };
  });
}

function opUnknown(index: number, opType: string): Fault {
  const reason = 'op_type is not one of the known ones';
  const text = `invalid semantic operation: ops[${index}] (${quotable(opType)}): ${reason}`;
  return new Fault('OP_INVALID', text, { op_index: index, op_type: opType, reason });
}

/** A caller's own word as it may stand in a refusal. */
function quotable(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 199)}…` : text);
}

/** Steps 4 and 5: no client creates or moves a protected ref this way, whatever else is wrong with the request. */
function requireUnprotected({ lethe }: RouteDeps, body: CommitBody): void {
  const isProtectedName = body.ref_name.startsWith(protectedRefPrefix);
  const creates = body.create_ref_if_missing && (body.protected || isProtectedName);
  const isMoved = body.advance_ref && (isProtectedName || isStoredProtected());
  if (creates || isMoved) throw new Fault('PROTECTED_REF', 'protected ref requires merge path', { ref: body.ref_name });

  function isStoredProtected(): boolean {
    return lethe.findRef(asProject(body.project_id), asRef(body.ref_name))?.protected === true;
  }
}

/** Pages of a diff that are put together when no limit was asked for. */
const diffPagesMax = 20;

/**
 * What changed from base to target (`lethe.md` §6, D4). Without a base, everything that the target holds: the difference
 * from the project's root, which is empty. One answer of up to `diffPagesMax` pages, with a cursor when there is more.
 */
function readDiff(deps: RouteDeps, asked: Asked): Answer {
  const body = readBody(asked.body, diffBody);
  const target = getChangeset(deps, param(asked, 'id'));
  const base =
    body.base_changeset_id === ''
      ? rootOf(deps, target)
      : getChangeset(deps, body.base_changeset_id, 'base_changeset_id');
  const side = body.side === 'target' ? 'target' : 'both';
  const ends = { baseChangesetId: base.changeset_id, targetChangesetId: target.changeset_id, side } as const;
  const limit = clampLimit(body.limit, listLimitMax, listLimitMax, listLimitMax);
  const read = (cursor: string | undefined): SemanticDiff => deps.lethe.diff({ ...ends, limit, cursor });
  let whole = read(body.cursor === '' ? undefined : body.cursor.slice(0, queryBytesMax));
  const pagesMax = body.limit > 0 ? 1 : diffPagesMax;
  for (let pages = 1; pages < pagesMax && whole.next_cursor !== undefined; pages += 1)
    whole = joined(whole, read(whole.next_cursor));
  return json(encodeDiff(whole, body.base_changeset_id));
}

function rootOf({ lethe }: RouteDeps, target: Changeset): Changeset {
  const root = lethe.findChangesetByKey(target.project_id, 'system', 'legacy-root');
  if (root !== undefined) return root;
  throw new Fault('CHANGESET_NOT_FOUND', 'base_changeset_id: this project has no root.', {
    field: 'base_changeset_id',
  });
}

function joined(first: SemanticDiff, next: SemanticDiff): SemanticDiff {
  const lists = diffCategories.map((category) => [category, [...first[category], ...next[category]]] as const);
  const notes = [...(first.kind_notes ?? []), ...(next.kind_notes ?? [])];
  return { ...next, ...Object.fromEntries(lists), ...(notes.length === 0 ? {} : { kind_notes: notes }) };
}
