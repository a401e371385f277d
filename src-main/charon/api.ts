import type { AuditEntry, Door, VerifyReport } from '../../src-preload/contract/audit.ts';
import type { Ref } from '../../src-preload/contract/changeset.ts';
import type { AmbiguousIntent, ReconcileCheck } from '../../src-preload/contract/commands/operations.ts';
import type { ResolutionInput, Severity } from '../../src-preload/contract/conflict.ts';
import type {
  ChangesetId,
  Digest,
  ObolId,
  PrincipalId,
  ProjectId,
  ProposalId,
  RefName,
} from '../../src-preload/contract/ids.ts';
import type { Grant, Obol, Principal, Profile, Scope } from '../../src-preload/contract/principal.ts';
import type {
  Advance,
  MergeStrategy,
  Proposal,
  ProposalDetail,
  ProposalStatus,
  SelectedOp,
  Verdict,
} from '../../src-preload/contract/proposal.ts';
import type { FileCheck } from '../sqlite/check-file.ts';
import type { OwnerConfirmation } from './confirmation.ts';
import type { Ltx } from './ltx-api.ts';
import type { Oauth } from './oauth-api.ts';
import type { RevertInput } from './revert.ts';
import type { RecordedSubject } from './rules/audit-entry.ts';
import type { ProvenCaller } from './rules/caller.ts';
import type { QuotaUse } from './rules/quota.ts';

/** Who is calling, as established by a door, with the rights of this very moment. */
export type Caller = ProvenCaller;

/** What an audit entry says beside its chain. Ids and digests only. */
export type AuditSubject = RecordedSubject;

/** The audit ledger (`charon.md` §6). */
export interface AuditLedger {
  /** Resolves once the intent is durable; throws AUDIT_UNAVAILABLE, and then nothing may run. Intents of one moment share an fsync. */
  intent(subject: AuditSubject): Promise<void>;
  /** Not awaited: goes with the next batch, within 50 ms. Never throws: what waits is bounded by the intents, which a backlog of 10 000 refuses. */
  outcome(subject: AuditSubject, outcome: string): void;
  /** A denial, a refused credential or a read: recorded in batches within 1 s. Never throws; at 10 000 waiting it is counted, and the count is recorded. */
  note(subject: AuditSubject, outcome: string): void;
  /** Waits until everything handed over is durable. */
  flush(): Promise<void>;
  backlog(): number;
  /** True while the latest write to the ledger was one that failed. */
  isFailing(): boolean;
  /** Writes to the ledger that failed since the start; each one is tried again or refused its intent. */
  appendFailures(): number;
  tail(page: { readonly limit: number; readonly beforeSeq?: number | undefined }): readonly AuditEntry[];
  /** Chain, MACs, anchor; the first bad seq first. Chunked, so that others work in between. */
  verify(): Promise<VerifyReport>;
}

/** Remembered answers (`charon.md` §3 Idempotency): ids of the answer, never its content. */
export interface ReplayKey {
  readonly principalId: PrincipalId;
  readonly command: string;
  readonly projectId: string;
  readonly key: string;
}

/** A merge that is asked for. */
export interface ProposeInput {
  readonly projectId: ProjectId;
  readonly targetRef: RefName;
  readonly headChangesetId: ChangesetId;
  readonly baseChangesetId: ChangesetId;
  readonly message: string;
  /** A cherry-pick: numbers are ordinals of the head. */
  readonly selectedOps?: readonly (number | SelectedOp)[] | undefined;
  /** What an import brought in beside the project (`charon.md` §4); otherwise the kind follows from what is asked. */
  readonly kind?: 'memory' | undefined;
}

/** A merge that is done. */
export interface MergeResult {
  readonly proposalId: ProposalId;
  readonly status: ProposalStatus;
  readonly strategy: MergeStrategy;
  readonly resultingChangesetId: ChangesetId;
  readonly ref: Ref;
}

/** The policy engine's verbs. Writes resolve once durable. */
export interface Charon {
  readonly homeId: string;
  readonly audit: AuditLedger;

  /** True in recovery: every read works, mutations are `READ_ONLY`, the audit ledger alone still grows. */
  readonly readOnly: boolean;

  /** The one owner principal, made at first start. */
  owner(): Principal;
  /** The owner as a caller through one of the owner's doors. */
  ownerCaller(door: Door): Caller;
  /** How acts of power outside the desk are confirmed, and which there were (`charon.md` §8). */
  readonly word: OwnerConfirmation;
  /** Who may come in to the memory ledger. */
  readonly ltx: Ltx;
  /** Programs that sign in (`charon.md` §2). */
  readonly oauth: Oauth;
  /** Of an obol, or of a key or session of the memory ledger. Constant work for every bad token; undefined for unknown, expired, revoked, other audience, and disabled principal alike. */
  authenticate(token: string, door: Door): Caller | undefined;
  /** Last use, kept at most once a minute; never throws. */
  noteUse(obolId: ObolId, use: { readonly client: string; readonly tool: string }): void;

  /** Throws SCOPE_MISSING, OWNER_ONLY. */
  requireScope(caller: Caller, scope: Scope | 'owner'): void;
  /** `reading` accepts the `*` grant. Throws GRANT_MISSING, with the same text whether or not the project exists. */
  requireGrant(caller: Caller, projectId: ProjectId, reading: boolean): void;
  /** May this caller commit to this ref? Throws PROTECTED_REF, NOT_REF_OWNER. `createdBy` is the ref's creator. */
  requireOwnedRef(caller: Caller, refName: RefName, createdBy: string | undefined): void;
  /** May this caller create a ref of that name? Throws PROTECTED_REF, NOT_REF_OWNER, REF_NAME_INVALID. */
  requireCreatableRef(caller: Caller, refName: RefName): void;
  ownedPrefixes(principal: Principal): readonly string[];

  listPrincipals(): readonly Principal[];
  getPrincipal(principalId: PrincipalId): Principal;
  findPrincipal(principalId: string): Principal | undefined;
  reconcilePrincipal(input: {
    readonly name: string;
    readonly profile: Profile;
    readonly grant: Grant;
    readonly actorId?: string | undefined;
  }): Promise<{ readonly principal: Principal; readonly created: boolean }>;
  setPrincipalEnabled(principalId: PrincipalId, enabled: boolean): Promise<Principal>;
  revokeGrant(principalId: PrincipalId, grant: Grant): Promise<Principal>;

  mintObol(input: {
    readonly principalId: PrincipalId;
    readonly expiresMs: number | null;
  }): Promise<{ readonly obol: Obol; readonly token: string }>;
  listObols(principalId?: PrincipalId): readonly Obol[];
  revokeObol(obolId: ObolId): Promise<Obol>;
  /** Lets in again a token that was minted before a restore. Throws OBOL_NOT_FOUND, OBOL_REVOKED. */
  reapproveObol(obolId: ObolId): Promise<Obol>;

  /** Is there room for that use in the quotas of a principal (`charon.md` §3)? Takes nothing. Throws QUOTA. */
  requireQuota(principalId: PrincipalId, use: QuotaUse): void;
  /** Takes a use, all of it or nothing; negative refs give back those of a call that made none. Throws QUOTA. */
  takeQuota(principalId: PrincipalId, use: QuotaUse): Promise<void>;

  /** The remembered answer ids of the same request; throws IDEMPOTENCY_MISMATCH for another request under that key. */
  findReplay(key: ReplayKey, requestDigest: string): readonly string[] | undefined;
  rememberReplay(key: ReplayKey, requestDigest: string, answerIds: readonly string[]): Promise<void>;

  /** Throws REF_NOT_FOUND, INPUT_INVALID (the target is not protected; the base is no ancestor of both heads; selected ops that are not whole), CHANGESET_NOT_FOUND, NOTHING_TO_MERGE, QUOTA, IDEMPOTENCY_MISMATCH. */
  propose(
    caller: Caller,
    input: ProposeInput,
    replay: { readonly key: ReplayKey; readonly requestDigest: string },
  ): Promise<Proposal>;
  /** Throws REF_NOT_FOUND, CHANGESET_NOT_FOUND, INPUT_INVALID (nothing to take back, or not in main), BOTH_SIDES_TOUCHED naming what was changed since, and what `propose` throws. */
  proposeRevert(
    caller: Caller,
    input: RevertInput,
    replay: { readonly key: ReplayKey; readonly requestDigest: string },
  ): Promise<Proposal>;
  /** Throws PROPOSAL_NOT_FOUND, PROPOSAL_STATE, CONFLICT_NOT_FOUND, INPUT_INVALID. */
  draftResolution(caller: Caller, proposalId: ProposalId, resolution: ResolutionInput): Promise<void>;
  /** Throws PROPOSAL_NOT_FOUND, PROPOSAL_STATE. */
  dropResolution(proposalId: ProposalId, conflictKey: Digest): Promise<void>;
  /** Whose a proposal is and where it belongs. */
  findFiled(proposalId: ProposalId): Pick<Proposal, 'project_id' | 'originator'> | undefined;
  findProposal(proposalId: ProposalId): Promise<Proposal | undefined>;
  /** Also remembers what was served to this principal, for a later verdict that names no digest. */
  showProposal(
    caller: Caller,
    proposalId: ProposalId,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<ProposalDetail>;
  /** The same of one look, in pages of whatever size fits: what is shown is what it was when it was opened. Throws PROPOSAL_NOT_FOUND. */
  openProposal(
    caller: Caller,
    proposalId: ProposalId,
  ): Promise<(page: { readonly limit: number; readonly cursor?: string | undefined }) => Promise<ProposalDetail>>;
  listProposals(input: {
    readonly projectId: ProjectId;
    readonly status?: ProposalStatus | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): Promise<{ readonly proposals: readonly Proposal[]; readonly nextCursor?: string | undefined }>;
  countPending(projectId: ProjectId): number;
  /** At the owner's doors digest and target head are required. Throws PROPOSAL_NOT_FOUND, SELF_REVIEW, PROPOSAL_STATE, PROPOSAL_STALE, INPUT_INVALID. */
  review(
    caller: Caller,
    input: {
      readonly proposalId: ProposalId;
      readonly verdict: Verdict;
      readonly comment: string;
      readonly severity: Severity;
      readonly proposalDigest?: string | undefined;
      readonly targetHead?: ChangesetId | undefined;
    },
  ): Promise<{
    readonly findingId: string;
    readonly proposalDigest: string;
    readonly outcome: 'approved' | 'changes_requested' | 'rejected';
  }>;
  /** Throws PROPOSAL_NOT_FOUND, SELF_APPROVAL, NOT_APPROVED, CHANGES_REQUESTED, PROPOSAL_STALE, PROPOSAL_STATE, OPEN_CONFLICT, NOTHING_TO_MERGE and the store's own. */
  merge(
    caller: Caller,
    proposalId: ProposalId,
    replay: { readonly key: ReplayKey; readonly requestDigest: string },
  ): Promise<MergeResult>;
  /** Throws PROPOSAL_NOT_FOUND, NOT_ORIGINATOR, PROPOSAL_STATE. */
  cancel(caller: Caller, proposalId: ProposalId): Promise<Proposal>;

  /** May the owner merge the owner's own proposal at the owner's doors? On unless set; off when the stored value does not carry the ledger's MAC. */
  ownerSelfMerge(): boolean;
  setOwnerSelfMerge(on: boolean): Promise<void>;

  /** Whether anything was ever asked about a project here: then there is a store that has it. */
  knowsProjects(): boolean;

  /** Moves pending proposals past their time to `expired`; how many. */
  expireProposals(): Promise<number>;
  /** After a crash: settles proposals left `merging` and intents without an outcome from the store's records (`charon.md` §6). */
  settle(): Promise<{ readonly settled: number; readonly ambiguous: number }>;
  /** The same by the owner's order, while calls run: what was listed as ambiguous and still is gets closed, on record. Throws READ_ONLY. */
  settleByHand(): Promise<{ readonly settled: number; readonly closed: number; readonly left: number }>;
  /** Intents that no record decides, oldest first. */
  listAmbiguousIntents(): readonly AmbiguousIntent[];
  /** How many intents have no outcome and are not listed as ambiguous: what is under way at this moment. */
  countOpenIntents(): number;
  /** Records something that the engine itself did; never throws. */
  record(command: string, outcome: string, objectIds: readonly string[]): void;
  /** Every proposal against the store (`charon.md` §7); repairs nothing. */
  reconcileProposals(): Promise<ReconcileCheck>;
  /** What Charon's records do not know of advance records of a project; `seen` holds the proposals of the pages before. */
  findStrayAdvances(
    projectId: ProjectId,
    advances: readonly Advance[],
    seen: Set<string>,
  ): readonly { readonly where: string; readonly problem: string }[];
  /** Looks over the database file, table by table. */
  checkFile(): Promise<FileCheck>;
  /** Flushes the ledger, checkpoints, closes the file. */
  close(): Promise<void>;
}
