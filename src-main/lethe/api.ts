import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import type { Changeset, GraphNode, Op, Project, Ref } from '../../src-preload/contract/changeset.ts';
import type { SemanticDiff } from '../../src-preload/contract/diff.ts';
import type {
  ChangesetId,
  ManifestId,
  ProjectId,
  ProposalId,
  RefName,
  Timestamp,
} from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import type { Manifest, MemoryContext, SearchMatch } from '../../src-preload/contract/memory.ts';
import type { Advance, MergePreview } from '../../src-preload/contract/proposal.ts';
import type { FileCheck } from '../sqlite/check-file.ts';
import type { ConflictVerbs } from './conflict-api.ts';
import type { GatewayVerbs } from './gateway.ts';
import type { ImportVerbs } from './import/import.ts';
import type { ManifestInput, OutputManifestInput } from './manifest-record.ts';
import type { MemoryAnswer, MemoryInput } from './memory.ts';
import type { MemoryFilter } from './rules/memory-filter.ts';
import type { SessionVerbs } from './session-api.ts';

/** A commit, or (with `advanceRef` false) a detached changeset such as the one a merge prepares. */
export interface CommitInput {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly parentIds: readonly ChangesetId[];
  readonly authorPrincipal: string;
  readonly actorId?: string | undefined;
  readonly personaId?: string | undefined;
  readonly surface?: string | undefined;
  readonly model?: string | undefined;
  readonly environment?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly topicId?: string | undefined;
  readonly contextManifestId?: string | undefined;
  readonly message: string;
  readonly idempotencyKey: string;
  readonly ops: readonly Op[];
  readonly evidence?: readonly JsonObject[] | undefined;
  readonly verification?: readonly JsonObject[] | undefined;
  /** Must be the ref's head when `advanceRef`. */
  readonly expectedHead?: ChangesetId | undefined;
  readonly advanceRef: boolean;
  /**
   * Whether its corrections may restore a former state (`lethe.md` §0.4). Set by the product's own verbs alone, for reverts
   * and for the resolutions of a merge; no door takes it from a caller. Not part of what a replay under the key compares.
   */
  readonly mayRestore?: boolean | undefined;
}

/** Which state a read is about: a head outright, a moment, or the ref's head now. At most one of `head` and `at`. */
export interface HeadSelector {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly headChangesetId?: ChangesetId | undefined;
  readonly at?: Timestamp | undefined;
}

export interface ContextInput extends HeadSelector, MemoryFilter {
  readonly query?: string | undefined;
  readonly limit: number;
  /** Lists, instead of memories, those that the first page of the question leaves out, with the reasons. */
  readonly excluded?: boolean | undefined;
  readonly cursor?: string | undefined;
}

export interface PinInput extends ContextInput {
  readonly actorId?: string | undefined;
  readonly sessionId?: string | undefined;
}

export interface SearchInput extends HeadSelector, MemoryFilter {
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface AdvanceInput {
  readonly projectId: ProjectId;
  readonly refName: RefName;
  readonly expectedHead: ChangesetId;
  readonly newHead: ChangesetId;
  readonly mergeProposalId: ProposalId;
  readonly reviewerPrincipal: string;
  /** JSON text `{"envelope": {…14 fields…}, "signature": "hex"}` (`lethe.md` §8). */
  readonly mergeAuthorization: string;
}

/**
 * The store's verbs. Reads are answered from one read transaction and never write; writes resolve once durable.
 * Faults are named at each verb; every verb may also throw `STORE_BUSY`, `STORE_UNAVAILABLE`, `DISK_FULL`,
 * `READ_ONLY` (writes in recovery) and `INTEGRITY_MISMATCH` (a row whose digest does not hold).
 */
export interface Lethe extends GatewayVerbs, ConflictVerbs, SessionVerbs, ImportVerbs {
  /** In project id order. */
  listProjects(): readonly Project[];
  /** Throws PROJECT_NOT_FOUND. */
  getProject(projectId: ProjectId): Project;
  /** Project, root changeset, baseline and protected `refs/shared/main`, in one transaction; again: the same answer, `created` false. */
  initProject(input: {
    readonly projectId: ProjectId;
    readonly principal: string;
  }): Promise<{ readonly changeset: Changeset; readonly ref: Ref; readonly created: boolean }>;

  /** In ref name order; `after` is the last name of the page before; with `archived`, archived ones too. Throws PROJECT_NOT_FOUND. */
  listRefs(
    projectId: ProjectId,
    page: { readonly limit: number; readonly after?: RefName | undefined; readonly archived?: boolean | undefined },
  ): readonly Ref[];
  findRef(projectId: ProjectId, refName: RefName): Ref | undefined;
  /** Throws PROTECTED_REF, REF_EXISTS, CHANGESET_NOT_FOUND (unknown, or of another project), PROJECT_NOT_FOUND. */
  createRef(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly headChangesetId: ChangesetId;
    readonly principal: string;
  }): Promise<Ref>;
  /**
   * Archives an unprotected ref at its head, for good: hidden from lists, moved no more, its name taken, its history read
   * as before. Again: the same answer. Throws PROTECTED_REF, PROJECT_NOT_FOUND, REF_NOT_FOUND, REF_MOVED.
   */
  archiveRef(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly expectedHead: ChangesetId;
    readonly principal: string;
  }): Promise<Ref>;

  /**
   * Validates (`OP_INVALID` with op index, type and reason), inserts, extends the derived index and moves the ref, in one
   * transaction. Throws PROTECTED_REF, REF_NOT_FOUND, REF_ARCHIVED, REF_MOVED {ref, expected, actual}, CHANGESET_NOT_FOUND (a parent),
   * NOT_A_DESCENDANT (the parents do not contain the ref's head), BOTH_SIDES_TOUCHED {memory_ids} when the
   * ops leave undecided what two parents changed differently, IDEMPOTENCY_MISMATCH, KEY_RESERVED, MANIFEST_NOT_FOUND. The same request under its key answers the same changeset.
   */
  commit(input: CommitInput): Promise<Changeset>;
  /** The changeset with its ops, its integrity digest verified. */
  findChangeset(changesetId: ChangesetId): Changeset | undefined;
  findChangesetByKey(projectId: ProjectId, authorPrincipal: string, idempotencyKey: string): Changeset | undefined;
  /** Newest first; the cursor pins the head. Throws REF_NOT_FOUND, CURSOR_INVALID. */
  log(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly allParents: boolean;
  }): {
    readonly changesets: readonly Changeset[];
    readonly nextCursor?: string | undefined;
  };
  /** Every changeset of the project, newest first. Throws PROJECT_NOT_FOUND, CURSOR_INVALID. */
  graph(input: { readonly projectId: ProjectId; readonly limit: number; readonly cursor?: string | undefined }): {
    readonly nodes: readonly GraphNode[];
    readonly nextCursor?: string | undefined;
  };
  /** `ancestor` is `descendant` or one of its ancestors. Throws CHANGESET_NOT_FOUND. */
  isAncestor(ancestor: ChangesetId, descendant: ChangesetId): boolean;

  /** Throws REF_NOT_FOUND, CHANGESET_NOT_FOUND, HEAD_NOT_REACHABLE, STATE_NOT_FOUND (`at` before the first state), CURSOR_INVALID. */
  context(input: ContextInput): MemoryContext;
  /** Number of active memories at a changeset that no conflict withholds. */
  totalActive(changesetId: ChangesetId): number;
  /** The context and an immutable manifest of it; an equal one of the same actor is used again (`lethe.md` §0.6). */
  pinContext(input: PinInput): Promise<MemoryContext>;
  getManifest(manifestId: ManifestId): Manifest;
  /** Records a manifest as a client gives it. Throws PROJECT_NOT_FOUND, CHANGESET_NOT_FOUND, INPUT_INVALID naming the field. */
  recordManifest(input: ManifestInput): Promise<Manifest>;
  /** Records what a proposal brings; the same again answers the manifest that there is. Throws as `recordManifest`. */
  recordOutputManifest(input: OutputManifestInput): Promise<Manifest>;
  /** The pinned context again, byte for byte. Throws MANIFEST_NOT_FOUND, STATE_NOT_FOUND for a manifest that pins none, INTEGRITY_MISMATCH when the digest differs. */
  manifestContext(projectId: ProjectId, manifestId: ManifestId): MemoryContext;
  search(input: SearchInput): {
    readonly headChangesetId: ChangesetId;
    readonly matches: readonly SearchMatch[];
    readonly complete: boolean;
    readonly nextCursor?: string | undefined;
  };
  /**
   * One memory at any changeset of the project, or where a ref stands, or stood at a moment; with the reason when a context
   * does not show it. Throws MEMORY_NOT_FOUND when the head has never known it. Lineage oldest first, in pages of `limit`.
   */
  getMemory(input: MemoryInput): MemoryAnswer;
  /**
   * What changed between two states of one project. `side: 'target'` lists only the memories that changesets of the
   * target's own side touched: what a merge of target into base would bring, whatever else base holds.
   * Pages of `limit` items in the order of the ops. Throws CHANGESET_NOT_FOUND (also for two projects), CURSOR_INVALID.
   */
  diff(input: {
    readonly baseChangesetId: ChangesetId;
    readonly targetChangesetId: ChangesetId;
    readonly side: 'both' | 'target';
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): SemanticDiff;
  /** What a merge of `head` into a ref at `targetHead` would be; writes nothing. */
  mergePreview(input: {
    readonly projectId: ProjectId;
    readonly targetHead: ChangesetId;
    readonly head: ChangesetId;
  }): MergePreview;
  /** Authors of the changesets that moving from `from` to `to` would bring in, each once, sorted. */
  originators(from: ChangesetId, to: ChangesetId): readonly string[];

  /**
   * The only way a protected ref moves (`lethe.md` §8, §0.1, D20): verifies the signed envelope, its fields and times, the
   * shape, the ancestry and the originators; consumes the nonce, moves the ref, writes the advance record and the signed
   * ref move in one transaction. An attempt refused after its signature verified burns the nonce.
   * Throws MERGE_AUTHORIZATION_MALFORMED, MERGE_AUTHORIZATION_REFUSED, NONCE_CONSUMED, REF_NOT_FOUND, REF_MOVED, MERGE_SHAPE,
   * NOTHING_TO_MERGE, ORIGINATOR_MAY_NOT_MERGE, CHANGESET_NOT_FOUND.
   */
  advance(input: AdvanceInput): Promise<{ readonly ref: Ref; readonly advance: Advance }>;
  findAdvance(by: { readonly projectId: ProjectId; readonly proposalId: ProposalId }): Advance | undefined;
  listAdvances(
    projectId: ProjectId,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ): readonly Advance[];

  /**
   * Verifies everything about a project in chunks, letting others work in between; names the first problem first. What was found whole
   * before is compared with its seals, the rest is verified from scratch and sealed (`L300`). Throws PROJECT_NOT_FOUND.
   * @param options.isFull trusts no seal, replays the heads from nothing, and seals everything anew
   */
  verifyChain(
    projectId: ProjectId,
    onProgress?: (done: number, total: number) => void,
    options?: { readonly isFull?: boolean | undefined },
  ): Promise<VerifyReport>;

  /** Looks over the database file, table by table, the full-text indexes too; what it finds it tells. */
  checkFile(): Promise<FileCheck>;

  /** Work that follows behind commits (full text, recency pages), one bounded chunk; true when more is waiting. */
  maintain(): Promise<boolean>;
  /**
   * Verifies the next whole stretch of history that has no seal and is behind the full-text index, and seals it; true when another
   * may follow. Nothing when there is none: cost follows new history only.
   */
  sealNext(): Promise<boolean>;
  /** How often writes were tried again since the store was opened, because another process held the database (`lethe.md` §9.5). */
  busyRetries(): number;
  /** Finishes what waits, checkpoints, closes the file. */
  close(): void;
}
