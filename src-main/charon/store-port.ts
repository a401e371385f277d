import type { Changeset, Op, Ref } from '../../src-preload/contract/changeset.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ChangesetId, Digest, ProjectId, ProposalId, RefName } from '../../src-preload/contract/ids.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import type { Advance, MergePreview } from '../../src-preload/contract/proposal.ts';

/** The three changesets that a detection is about: left is the target's head, right the proposal's (`lethe.md` §0.3). */
export interface DetectionSides {
  readonly projectId: ProjectId;
  readonly baseChangesetId: ChangesetId;
  readonly leftChangesetId: ChangesetId;
  readonly rightChangesetId: ChangesetId;
}

/** A changeset of Charon's own making: a merge, or what a revert puts on a branch. */
export interface CommitRequest {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly parentIds: readonly ChangesetId[];
  readonly authorPrincipal: string;
  readonly actorId: string;
  readonly message: string;
  readonly idempotencyKey: string;
  /** May give memories a state that they had (`restores`, `lethe.md` §0.4). */
  readonly ops: readonly Op[];
}

/**
 * What Charon needs of a store, whichever process it lives in. Two adapters serve it: the store of this process, and
 * one over HTTP. Faults are the store's own and pass through unchanged.
 */
export interface MemoryStorePort {
  findRef(projectId: ProjectId, refName: RefName): Promise<Ref | undefined>;
  findChangeset(changesetId: ChangesetId): Promise<Changeset | undefined>;
  isAncestor(ancestor: ChangesetId, descendant: ChangesetId): Promise<boolean>;
  mergePreview(input: {
    readonly projectId: ProjectId;
    readonly targetHead: ChangesetId;
    readonly head: ChangesetId;
  }): Promise<MergePreview>;
  /** Changes of the target's own side, before → after. */
  proposalDiff(input: {
    readonly base: ChangesetId;
    readonly head: ChangesetId;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<SemanticDiff>;
  originators(from: ChangesetId, to: ChangesetId): Promise<readonly string[]>;
  /** What a memory is at a changeset; undefined when that has never known it. */
  findMemory(projectId: ProjectId, memoryId: string, head: ChangesetId): Promise<AcceptedMemory | undefined>;
  /** What came in the place of a memory that is retired at a changeset, or stays for it; undefined when nothing did. */
  findSuccessor(projectId: ProjectId, memoryId: string, head: ChangesetId): Promise<string | undefined>;
  /** Memories of a list that were touched, or that relationships start at which were made, after `from` and up to `to`. */
  changedSince(input: {
    readonly projectId: ProjectId;
    readonly memoryIds: readonly string[];
    readonly from: ChangesetId;
    readonly to: ChangesetId;
  }): Promise<readonly string[]>;
  /** Memories whose state differs between two changesets, each once, in byte order. */
  changedBetween(from: ChangesetId, to: ChangesetId): Promise<readonly string[]>;
  /** The changeset, attached to no ref. */
  commitDetached(input: CommitRequest): Promise<Changeset>;
  /** The changeset on a new ref of that name, both or neither. Throws `REF_EXISTS`. */
  commitToNewRef(input: CommitRequest): Promise<Changeset>;
  /** What stands between two sides, blocking ones first; the same again for the same changesets. */
  detectConflicts(sides: DetectionSides): Promise<readonly Conflict[]>;
  /** Keeps findings of these sides, bound to the proposal. */
  persistConflicts(input: {
    readonly sides: DetectionSides;
    readonly proposalId: ProposalId;
    readonly conflictIds: readonly Digest[];
    readonly principal: string;
  }): Promise<readonly Conflict[]>;
  /** Open → resolved. Throws `CONFLICT_NOT_FOUND` for one that is not open. */
  resolveConflict(input: {
    readonly projectId: ProjectId;
    readonly conflictId: Digest;
    readonly note: string;
    readonly principal: string;
  }): Promise<Conflict>;
  /** Ends the open conflicts that are bound to this proposal alone. */
  retireConflicts(input: {
    readonly projectId: ProjectId;
    readonly proposalId: ProposalId;
    readonly status: 'rejected' | 'canceled';
  }): Promise<number>;
  listConflicts(input: {
    readonly projectId: ProjectId;
    readonly proposalId: ProposalId;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<{ readonly conflicts: readonly Conflict[]; readonly nextCursor?: string | undefined }>;
  /** The manifest of what a proposal brings; the same again changes nothing. */
  recordOutput(input: {
    readonly projectId: ProjectId;
    readonly refName: string;
    readonly headChangesetId: ChangesetId;
    readonly baseChangesetId: ChangesetId;
    readonly proposedTargetRef: RefName;
    readonly mergeProposalId: ProposalId;
    readonly unresolvedConflicts: readonly Digest[];
    readonly sessionId?: string | undefined;
    readonly actorId?: string | undefined;
  }): Promise<void>;
  advance(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly expectedHead: ChangesetId;
    readonly newHead: ChangesetId;
    readonly mergeProposalId: ProposalId;
    readonly reviewerPrincipal: string;
    readonly mergeAuthorization: string;
  }): Promise<{ readonly ref: Ref; readonly advance: Advance }>;
  findAdvance(by: { readonly projectId: ProjectId; readonly proposalId: ProposalId }): Promise<Advance | undefined>;
  findChangesetByKey(
    projectId: ProjectId,
    authorPrincipal: string,
    idempotencyKey: string,
  ): Promise<Changeset | undefined>;
}
