import type { Changeset, Op, Ref } from '../../src-preload/contract/changeset.ts';
import type { SemanticDiff } from '../../src-preload/contract/diff.ts';
import type { ChangesetId, ProjectId, ProposalId, RefName } from '../../src-preload/contract/ids.ts';
import type { Advance, MergePreview } from '../../src-preload/contract/proposal.ts';

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
  /** The merge changeset, attached to no ref. */
  commitDetached(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly parentIds: readonly ChangesetId[];
    readonly authorPrincipal: string;
    readonly actorId: string;
    readonly message: string;
    readonly idempotencyKey: string;
    readonly ops: readonly Op[];
  }): Promise<Changeset>;
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
