import type { Changeset, Ref } from '../../src-preload/contract/changeset.ts';
import type { ChangesetId, ProjectId, RefName } from '../../src-preload/contract/ids.ts';
import { type AheadBehind, countAheadBehind } from './ahead-behind.ts';
import type { CommitInput } from './api.ts';
import { commitCreatingRef } from './commit-creating.ts';
import type { ReadVerb, Write } from './lethe-verbs.ts';
import { readLogAt } from './log-at.ts';
import { fastForwardRef } from './ref-fast-forward.ts';
import { listRefMoves, type RefMove } from './ref-moves.ts';
import type { VerbContext } from './verb-context.ts';

/** Verbs about refs as such, which gateways and the owner's lists of branches need beside what agents do. */
export interface GatewayVerbs {
  /**
   * Moves an unprotected ref to a descendant of its head. To the head itself nothing happens and the ref is answered.
   * Throws PROTECTED_REF, REF_NOT_FOUND, PROJECT_NOT_FOUND, CHANGESET_NOT_FOUND (unknown, or of another project),
   * REF_ARCHIVED, REF_MOVED, NOT_A_DESCENDANT.
   */
  fastForward(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly expectedHead: ChangesetId;
    readonly newHead: ChangesetId;
    readonly principal: string;
  }): Promise<Ref>;
  /**
   * A commit that may create its ref: a ref that is missing begins at the new changeset, in the same transaction; one that
   * exists is treated as `commit` does. Throws what `commit` and `createRef` throw.
   */
  commitCreatingRef(input: CommitInput): Promise<Changeset>;
  /** `log` of the history that the ref had at a moment. Throws what `log` and `context` throw. */
  logAt(input: Parameters<typeof readLogAt>[1]): ReturnType<typeof readLogAt>;
  /** Signed creations and moves of a ref, newest first; `cursor` from the page before. Throws REF_NOT_FOUND, PROJECT_NOT_FOUND, CURSOR_INVALID. */
  listRefMoves(input: {
    readonly projectId: ProjectId;
    readonly refName: RefName;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): { readonly moves: readonly RefMove[]; readonly nextCursor?: string | undefined };
  /** How far heads stand ahead of a base head and behind it, in their order. Throws CHANGESET_NOT_FOUND. */
  countAheadBehind(input: Parameters<typeof countAheadBehind>[1]): readonly AheadBehind[];
}

/** The gateway's verbs over the store's reading and writing. */
export function gatewayVerbs(read: ReadVerb, write: Write, context: VerbContext): GatewayVerbs {
  return {
    fastForward: (input) => write((db, emit) => fastForwardRef(db, emit, context, input)),
    commitCreatingRef: (input) => write((db, emit) => commitCreatingRef(db, emit, context, input)),
    logAt: (input) => read((db) => readLogAt(db, input)),
    countAheadBehind: (input) => read((db) => countAheadBehind(db, input)),
    listRefMoves: (input) => read((db) => listRefMoves(db, input)),
  };
}
