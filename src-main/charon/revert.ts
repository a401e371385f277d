import type { Changeset, Ref } from '../../src-preload/contract/changeset.ts';
import {
  type ChangesetId,
  mainRefName,
  type ProjectId,
  projectIdSchema,
  type RefName,
  refNameSchema,
} from '../../src-preload/contract/ids.ts';
import { opsMax } from '../../src-preload/contract/limits.ts';
import type { Proposal } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from './api.ts';
import { type CharonContext, requireWritable } from './context.ts';
import { answerProposal, fileProposal } from './propose.ts';
import { findReplay, type KeyedRequest } from './replays.ts';
import { numbered } from './rules/combine-plans.ts';
import { isLive, type PlannedOp } from './rules/resolution-writing.ts';

/** What is to be taken back: a changeset, or what a move of main from one head to another brought. */
export type RevertInput = {
  readonly projectId: ProjectId;
  readonly message: string;
} & (
  | { readonly kind: 'changeset'; readonly changesetId: ChangesetId }
  | { readonly kind: 'advance'; readonly expectedHead: ChangesetId; readonly newHead: ChangesetId }
);

/** Memories that a refusal names at most. */
const namedMax = 100;
/** Branch names that are tried for one revert. */
const namesTriedMax = 1_000;

/**
 * Proposes to take something back (`charon.md` §4): a changeset on a new branch of the caller's, main's head its parent, that
 * gives every memory which the reverted one changed the state that it had before, at its first parent. Of a merge that is
 * what it brought in. Throws `CHANGESET_NOT_FOUND`, `REF_NOT_FOUND`, `INPUT_INVALID` (nothing to take back, or not in main),
 * `BOTH_SIDES_TOUCHED` naming what was changed since, and what `propose` throws.
 */
export async function proposeRevert(
  context: CharonContext,
  caller: Caller,
  input: RevertInput,
  request: KeyedRequest,
): Promise<Proposal> {
  const answered = findReplay(context.db, request);
  if (answered !== undefined) return answerProposal(context, answered);
  requireWritable(context);
  const made = (await findMade(context, request)) ?? (await commitRevert(context, caller, input, request));
  const [base] = made.parent_ids;
  assert(base !== undefined, 'a revert has the head of main as its parent');
  return fileProposal(
    context,
    caller,
    {
      projectId: input.projectId,
      targetRef: mainRefName,
      headChangesetId: made.changeset_id,
      baseChangesetId: base,
      message: input.message,
    },
    request,
  );
}

/** The changeset of the same request, when a crash came between it and its proposal. */
function findMade(context: CharonContext, request: KeyedRequest): Promise<Changeset | undefined> {
  const { projectId, principalId } = request.key;
  return context.store.findChangesetByKey(projectIdSchema.parse(projectId), principalId, storeKey(request));
}

/** Charon's key at the store (`charon.md` §3). */
function storeKey({ key }: KeyedRequest): string {
  return `${key.command}:${key.key}`;
}

async function commitRevert(
  context: CharonContext,
  caller: Caller,
  input: RevertInput,
  request: KeyedRequest,
): Promise<Changeset> {
  const main = await getMain(context, input.projectId);
  const span = await findSpan(context, input, main.head_changeset_id);
  const memoryIds = await context.store.changedBetween(span.from, span.to);
  if (memoryIds.length === 0) throw refuse(span.field, 'changed no memory: there is nothing to take back');
  if (memoryIds.length > opsMax)
    throw refuse(span.field, `changed ${memoryIds.length} memories, more than one changeset holds`);
  await requireUnchanged(context, input.projectId, memoryIds, span.to, main.head_changeset_id);
  const ops: PlannedOp[] = [];
  for (const memoryId of memoryIds) ops.push(...(await giveBack(context, input.projectId, memoryId, span)));
  if (ops.length === 0) throw refuse(span.field, 'left nothing that could be taken back');
  return context.store.commitToNewRef({
    projectId: input.projectId,
    refName: await freeName(context, caller, input.projectId, span.to),
    parentIds: [main.head_changeset_id],
    authorPrincipal: caller.principal.principal_id,
    actorId: caller.principal.actor_id,
    message: input.message,
    idempotencyKey: storeKey(request),
    ops: numbered(ops, 0),
  });
}

interface Span {
  readonly field: string;
  readonly from: ChangesetId;
  readonly to: ChangesetId;
}

/** From where to where memory changed; both must lie in main's history. */
async function findSpan(context: CharonContext, input: RevertInput, mainHead: ChangesetId): Promise<Span> {
  const { store } = context;
  if (input.kind === 'changeset') {
    const changeset = await getChangeset(context, input.projectId, input.changesetId, 'changeset_id');
    const [from] = changeset.parent_ids;
    if (from === undefined) throw refuse('changeset_id', 'is where the project begins: there is nothing before it');
    if (!(await store.isAncestor(changeset.changeset_id, mainHead)))
      throw refuse('changeset_id', 'is not in the history of refs/shared/main: what is not merged needs no revert');
    return { field: 'changeset_id', from, to: changeset.changeset_id };
  }
  await getChangeset(context, input.projectId, input.expectedHead, 'expected_head');
  await getChangeset(context, input.projectId, input.newHead, 'new_head');
  if (!(await store.isAncestor(input.newHead, mainHead)))
    throw refuse('new_head', 'is not in the history of refs/shared/main');
  if (!(await store.isAncestor(input.expectedHead, input.newHead)))
    throw refuse('expected_head', 'is not in the history of new_head');
  return { field: 'new_head', from: input.expectedHead, to: input.newHead };
}

/** The op that gives a memory the state that it had before; one that was not there before is retired, unless it is already. */
async function giveBack(
  context: CharonContext,
  projectId: ProjectId,
  memoryId: string,
  span: Span,
): Promise<readonly PlannedOp[]> {
  const { store } = context;
  const provenance = { source_changeset_id: span.to };
  if ((await store.findMemory(projectId, memoryId, span.from)) !== undefined)
    return [{ op_type: 'correct_memory', target_event_id: memoryId, payload: { ...provenance, restores: span.from } }];
  const after = await store.findMemory(projectId, memoryId, span.to);
  return isLive(after ?? null) ? [{ op_type: 'supersede_memory', target_event_id: memoryId, payload: provenance }] : [];
}

async function requireUnchanged(
  context: CharonContext,
  projectId: ProjectId,
  memoryIds: readonly string[],
  from: ChangesetId,
  to: ChangesetId,
): Promise<void> {
  const changed = await context.store.changedSince({ projectId, memoryIds, from, to });
  if (changed.length === 0) return;
  const named = changed.slice(0, namedMax);
  throw new Fault(
    'BOTH_SIDES_TOUCHED',
    `${changed.length} of its memories were changed since: ${named
      .map((id) => JSON.stringify(id))
      .join(', ')
      .slice(0, 2_000)}. Revert what changed them first, or correct them one by one.`,
    { memory_ids: named, total: changed.length },
  );
}

/** `refs/agents/<actor>/revert-<8 hex>-<n>` with the first free n. */
async function freeName(
  context: CharonContext,
  caller: Caller,
  projectId: ProjectId,
  reverted: ChangesetId,
): Promise<RefName> {
  const stem = `refs/agents/${caller.principal.actor_id}/revert-${reverted.slice(-8)}`;
  for (let n = 1; n <= namesTriedMax; n += 1) {
    const name = refNameSchema.parse(`${stem}-${n}`);
    if ((await context.store.findRef(projectId, name)) === undefined) return name;
  }
  throw new Fault('QUOTA', `There are ${namesTriedMax} reverts of this changeset already.`, { max: namesTriedMax });
}

async function getMain(context: CharonContext, projectId: ProjectId): Promise<Ref> {
  const main = await context.store.findRef(projectId, mainRefName);
  if (main !== undefined) return main;
  throw new Fault('REF_NOT_FOUND', 'refs/shared/main does not exist in this project. Initialise the project first.', {
    ref: mainRefName,
  });
}

async function getChangeset(
  context: CharonContext,
  projectId: ProjectId,
  changesetId: ChangesetId,
  field: string,
): Promise<Changeset> {
  const found = await context.store.findChangeset(changesetId);
  if (found?.project_id === projectId) return found;
  throw new Fault('CHANGESET_NOT_FOUND', `${field} names no changeset of this project.`, { field });
}

function refuse(field: string, reason: string): Fault {
  return new Fault('INPUT_INVALID', `${field}: ${reason}.`, { field });
}
