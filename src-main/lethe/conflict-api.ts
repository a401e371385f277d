import type { Conflict, ConflictStatus } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId, Digest, ProjectId, ProposalId } from '../../src-preload/contract/ids.ts';

/** The three changesets that a detection is about: ours is left, theirs is right, everywhere (`lethe.md` §0.3). */
export interface ConflictSides {
  readonly projectId: ProjectId;
  /** As declared: part of the identity of what is found, never what decides what changed. */
  readonly baseChangesetId: ChangesetId;
  /** The target's head. */
  readonly leftChangesetId: ChangesetId;
  /** The proposal's head. */
  readonly rightChangesetId: ChangesetId;
}

/** Conflicts: found by a pure read, kept bound to proposals, resolved or retired; nothing here changes memory. */
export interface ConflictVerbs {
  /**
   * What the detectors find between two sides (`lethe.md` §7 with §0.3, D6, D7): each finding once, in the order of severity
   * (blocking first), type, then id. Writes nothing and answers the same again. `created_at` is the protocol's zero time.
   * Cost follows what the sides changed. Throws CHANGESET_NOT_FOUND (unknown, or of another project), PROJECT_NOT_FOUND.
   */
  detectConflicts(sides: ConflictSides): readonly Conflict[];
  /**
   * Keeps the findings with these ids, bound to a proposal: a new row is open, unless the newest row of the project with the
   * same conflict key was resolved, whose resolution it carries. A row that is open or resolved stays so and is bound to this
   * proposal too (D17); one that was retired is treated as a new one. Only what detection finds for these sides can be kept (D2). Throws INPUT_INVALID naming the first id that is
   * not found or for a proposal id over its bound, and what `detectConflicts` throws: nothing is kept then. Many are kept in
   * several short transactions; asked again after a crash in between, the rest follows.
   */
  persistConflicts(input: {
    readonly sides: ConflictSides;
    readonly proposalId: ProposalId;
    readonly conflictIds: readonly Digest[];
    /** Who, for the record; a gateway does not say. */
    readonly principal?: string | undefined;
  }): Promise<readonly Conflict[]>;
  /** Open → resolved, with a note. Throws CONFLICT_NOT_FOUND for one that is unknown or not open, INPUT_INVALID for a note over its bound. */
  resolveConflict(input: {
    readonly projectId: ProjectId;
    readonly conflictId: Digest;
    readonly note: string;
    readonly principal?: string | undefined;
  }): Promise<Conflict>;
  /**
   * Ends the open conflicts that are bound to a proposal and to no other one that still waits: rejected, canceled or
   * superseded. A proposal waits until it is retired or its merge lands. The number of rows. Many end in several short
   * transactions, as they are kept.
   */
  retireConflicts(input: {
    readonly projectId: ProjectId;
    readonly proposalId: ProposalId;
    readonly status: 'rejected' | 'canceled' | 'superseded';
    readonly principal?: string | undefined;
  }): Promise<number>;
  /** Newest first, then by id, in pages. Throws PROJECT_NOT_FOUND, CURSOR_INVALID. */
  listConflicts(input: {
    readonly projectId: ProjectId;
    readonly status?: ConflictStatus | undefined;
    readonly proposalId?: ProposalId | undefined;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): { readonly conflicts: readonly Conflict[]; readonly nextCursor?: string | undefined };
}
