import type { Changeset, Ref } from '../../src-preload/contract/changeset.ts';
import { advanceIdSchema, digestSchema } from '../../src-preload/contract/ids.ts';
import { type Advance, mergeStrategySchema } from '../../src-preload/contract/proposal.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { MergeEnvelope } from '../canonical/signature.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import type { AdvanceInput } from './api.ts';
import { getChangesetRow, readChangeset } from './changeset-rows.ts';
import { type BlockingFindings, detectBlocking, type MoveSides, requireNoOpenBlocking } from './conflicts-blocking.ts';
import { supersedeConflicts } from './conflicts-settle.ts';
import { listAuthorsOfPicked, listOriginators } from './originators.ts';
import { openSight, sees } from './projection/sight.ts';
import { advanceCause, writeMove } from './ref-move.ts';
import { getRef, refMoved } from './refs.ts';
import { rowDigest } from './row-digest.ts';
import type { MergeAuthorization } from './rules/authorization-text.ts';
import { isNonce, judgeEnvelope } from './rules/envelope.ts';
import { findSeparationFault, findShapeFault, listPicked, shapeFault } from './rules/merge-shape.ts';
import { insertAdvance } from './tables/advances.ts';
import { findAuthorization, insertAuthorization } from './tables/authorizations.ts';
import { type ChangesetRow, findChangesetRow } from './tables/changesets.ts';
import { findImportedRecord } from './tables/imports.ts';
import { findChangesetSeq } from './tables/memory-ids.ts';
import { findRef, updateRefHead } from './tables/refs.ts';
import type { Emit, VerbContext } from './verb-context.ts';

/** What became of an attempt. A refusal is a value here, so that the spent nonce is kept when the verb ends. */
export type AdvanceOutcome =
  | { readonly kind: 'advanced'; readonly ref: Ref; readonly advance: Advance }
  | { readonly kind: 'refused'; readonly fault: Fault };

/**
 * Detects, ahead of the transaction, what blocks the move that a signed authorization asks for, so that a long detection holds
 * up no batch. Undefined when the move will be refused before conflicts are looked at. Nothing is written, no nonce is spent.
 */
export function foreseeAdvance(
  db: ReadableDb,
  context: VerbContext,
  input: AdvanceInput,
): BlockingFindings | undefined {
  const judgement = judgeEnvelope(input.mergeAuthorization, claimsOf(input), context.mergeKeys, context.clock.nowMs());
  if (judgement.kind !== 'accepted') return undefined;
  const { envelope } = judgement.authorization;
  if (isSpent(db, envelope.nonce)) return undefined;
  try {
    const to = readNewHead(db, input);
    const from = getChangesetRow(db, input.expectedHead, 'expected_head');
    if (findRef(db, input.projectId, input.refName)?.headSeq !== from.seq) return undefined;
    requireShape(db, envelope, from, to);
    return detectBlocking(db, context.detector, sidesOf(db, input, envelope, from, to));
  } catch (thrown) {
    // The verb itself refuses it, and records that.
    if (thrown instanceof Fault && thrown.kind !== 'unavailable') return undefined;
    throw thrown;
  }
}

/**
 * Moves a protected ref by a signed authorization, in the caller's transaction and the order of `lethe.md` §8. Faults that
 * precede the signature are thrown and leave no trace; what is refused after it spends the nonce (D20) while everything
 * else of the attempt is undone. The faults are those of `Lethe.advance`.
 * @param foreseen what `foreseeAdvance` found: between the same two sides it is not detected again
 */
export function advanceRef(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: AdvanceInput,
  foreseen: BlockingFindings | undefined,
): AdvanceOutcome {
  requireProtected(db, input);
  const judgement = judgeEnvelope(input.mergeAuthorization, claimsOf(input), context.mergeKeys, context.clock.nowMs());
  if (judgement.kind === 'unverified') throw judgement.fault;
  const { authorization } = judgement;
  if (isNonce(authorization.envelope.nonce) && isSpent(db, authorization.envelope.nonce)) {
    throw judgement.kind === 'refused' ? judgement.fault : nonceConsumed(authorization.envelope.nonce);
  }
  if (judgement.kind === 'refused') return spendRefused(db, context, authorization, judgement.fault);
  try {
    return db.savepoint(() => carryOut(db, emit, context, input, authorization, foreseen));
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind === 'unavailable') throw thrown;
    return spendRefused(db, context, authorization, thrown);
  }
}

function claimsOf(input: AdvanceInput): Parameters<typeof judgeEnvelope>[1] {
  return {
    project_id: input.projectId,
    ref_name: input.refName,
    expected_head: input.expectedHead,
    new_head: input.newHead,
    proposal_id: input.mergeProposalId,
    reviewer_principal: input.reviewerPrincipal,
  };
}

function requireProtected(db: ReadableDb, input: AdvanceInput): void {
  const { ref } = getRef(db, input.projectId, input.refName);
  if (ref.protected && input.reviewerPrincipal !== '') return;
  throw new Fault(
    'MERGE_AUTHORIZATION_MALFORMED',
    'protected ref and signed merge authorization required: only protected refs move this way, and a reviewer must be named.',
    {
      ref: input.refName,
    },
  );
}

/** Shape, separation of duties, compare-and-set, open conflicts, records: everything that a refusal undoes. */
function carryOut(
  db: WritableDb,
  emit: Emit,
  context: VerbContext,
  input: AdvanceInput,
  authorization: MergeAuthorization,
  foreseen: BlockingFindings | undefined,
): AdvanceOutcome {
  const { envelope } = authorization;
  const to = readNewHead(db, input);
  const stored = getRef(db, input.projectId, input.refName);
  const from = findChangesetRow(db, input.expectedHead);
  const actual = stored.ref.head_changeset_id;
  if (from === undefined || from.project_id !== input.projectId)
    throw refMoved(input.refName, input.expectedHead, actual);
  requireShape(db, envelope, from, to);
  requireSeparation(db, context, envelope, from, to);
  if (stored.headSeq !== from.seq) throw refMoved(input.refName, input.expectedHead, actual);
  const sides = sidesOf(db, input, envelope, from, to);
  requireNoOpenBlocking(db, isOf(sides, foreseen) ? foreseen : detectBlocking(db, context.detector, sides));

  const movedMs = context.clock.nowMs();
  const advance = recordOf(input, envelope, context.ids.uuidv7(), movedMs);
  spend(db, authorization, movedMs, '');
  const place = { projectId: input.projectId, refName: input.refName };
  if (!updateRefHead(db, { ...place, fromSeq: from.seq, toSeq: to.row.seq, movedAt: advance.created_at })) {
    throw refMoved(input.refName, input.expectedHead, getRef(db, input.projectId, input.refName).ref.head_changeset_id);
  }
  const move = { ...place, fromHead: from.changeset_id, to: to.row, movedMs, principal: envelope.merger_principal };
  const { seq: moveSeq } = writeMove(db, context.headSigner, { ...move, cause: advanceCause(advance.advance_id) });
  insertAdvance(db, advance, moveSeq);
  supersedeConflicts(db, { advance, fromSeq: from.seq, toSeq: to.row.seq });
  emit({ kind: 'ref_moved', project_id: input.projectId, ref_name: input.refName, head_changeset_id: input.newHead });
  return { kind: 'advanced', ref: getRef(db, input.projectId, input.refName).ref, advance };
}

interface NewHead {
  readonly row: ChangesetRow;
  readonly changeset: Changeset;
}

function readNewHead(db: ReadableDb, input: AdvanceInput): NewHead {
  const row = getChangesetRow(db, input.newHead, 'new_head');
  if (row.project_id !== input.projectId) throw shapeFault('it is a changeset of another project');
  return { row, changeset: readChangeset(db, row) };
}

function requireShape(db: ReadableDb, envelope: MergeEnvelope, from: ChangesetRow, to: NewHead): void {
  const sight = openSight(db);
  const fault = findShapeFault({
    strategy: mergeStrategySchema.parse(envelope.strategy),
    expectedHead: from.changeset_id,
    newHead: {
      changesetId: to.changeset.changeset_id,
      parentIds: to.changeset.parent_ids,
      author: to.changeset.author_principal,
      ops: to.changeset.ops ?? [],
    },
    merger: envelope.merger_principal,
    exists: (changesetId) => findChangesetSeq(db, to.row.project_id, changesetId) !== undefined,
    contains: (head, changesetId) =>
      sees(sight, getChangesetRow(db, head, 'new_head').seq, getChangesetRow(db, changesetId, 'new_head').seq),
  });
  if (fault !== undefined) throw fault;
}

/** Who wrote what the move brings in may neither review nor merge it. */
function requireSeparation(
  db: ReadableDb,
  context: VerbContext,
  envelope: MergeEnvelope,
  from: ChangesetRow,
  to: NewHead,
): void {
  const isPicked = mergeStrategySchema.parse(envelope.strategy) === 'cherry_pick';
  const fault = findSeparationFault({
    originators: isPicked
      ? listAuthorsOfPicked(db, listPicked(to.changeset.ops ?? []))
      : listOriginators(db, from.seq, broughtBy(db, envelope, to).seq),
    reviewer: envelope.reviewer_principal,
    merger: envelope.merger_principal,
    owner: context.ownerPrincipal,
  });
  if (fault !== undefined) throw fault;
}

function sidesOf(
  db: ReadableDb,
  { projectId }: AdvanceInput,
  envelope: MergeEnvelope,
  from: ChangesetRow,
  to: NewHead,
): MoveSides {
  return { projectId, leftSeq: from.seq, rightSeq: broughtBy(db, envelope, to).seq };
}

function isOf(sides: MoveSides, foreseen: BlockingFindings | undefined): foreseen is BlockingFindings {
  return (
    foreseen?.projectId === sides.projectId &&
    foreseen.leftSeq === sides.leftSeq &&
    foreseen.rightSeq === sides.rightSeq
  );
}

/** The proposal's side: what a merge_commit brings in by its second parent, and otherwise the new head itself. */
function broughtBy(db: ReadableDb, envelope: MergeEnvelope, to: NewHead): ChangesetRow {
  const [, second] = envelope.strategy === 'merge_commit' ? to.changeset.parent_ids : [];
  return second === undefined ? to.row : getChangesetRow(db, second, 'new_head');
}

function recordOf(input: AdvanceInput, envelope: MergeEnvelope, id: string, movedMs: number): Advance {
  return {
    advance_id: advanceIdSchema.parse(id),
    project_id: input.projectId,
    ref_name: input.refName,
    expected_head: input.expectedHead,
    new_head: input.newHead,
    merge_proposal_id: envelope.proposal_id,
    proposal_digest: digestSchema.parse(envelope.proposal_digest),
    reviewer_principal: envelope.reviewer_principal,
    merger_principal: envelope.merger_principal,
    strategy: mergeStrategySchema.parse(envelope.strategy),
    authorization_nonce: envelope.nonce,
    created_at: toTimestamp(movedMs),
  };
}

/** Records that a refused attempt spent its nonce; one that is no nonce cannot be, and never will be accepted. */
function spendRefused(
  db: WritableDb,
  context: VerbContext,
  authorization: MergeAuthorization,
  fault: Fault,
): AdvanceOutcome {
  if (isNonce(authorization.envelope.nonce)) spend(db, authorization, context.clock.nowMs(), fault.code);
  return { kind: 'refused', fault };
}

function spend(db: WritableDb, authorization: MergeAuthorization, usedMs: number, refusal: string): void {
  const { envelope } = authorization;
  const columns = {
    nonce: envelope.nonce,
    version: envelope.version,
    key_id: envelope.key_id,
    project_id: envelope.project_id,
    ref_name: envelope.ref_name,
    expected_head: envelope.expected_head,
    new_head: envelope.new_head,
    merge_proposal_id: envelope.proposal_id,
    proposal_digest: envelope.proposal_digest,
    reviewer_principal: envelope.reviewer_principal,
    merger_principal: envelope.merger_principal,
    strategy: envelope.strategy,
    issued_at: envelope.issued_at,
    expires_at: envelope.expires_at,
    signature: authorization.signature.toLowerCase(),
    used_at: toTimestamp(usedMs),
    outcome: refusal === '' ? 'consumed' : 'refused',
    refusal,
  } as const;
  insertAuthorization(db, { ...columns, row_digest: rowDigest('merge-authorization', columns) });
}

/** Whether a nonce was used here, or in a store whose history was imported. */
function isSpent(db: ReadableDb, nonce: string): boolean {
  return findAuthorization(db, nonce) !== undefined || findImportedRecord(db, 'authorization', nonce) !== undefined;
}

function nonceConsumed(nonce: string): Fault {
  return new Fault('NONCE_CONSUMED', `merge authorization nonce already consumed: ${nonce}`, { nonce });
}
