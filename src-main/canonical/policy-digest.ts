// The two digests of Charon: the state of a proposal that a verdict is bound to (charon.md §4) and the hash of one entry
// of the audit ledger (§6).

import type { JsonObject } from '../../src-preload/contract/json.ts';
import { domainDigest, sha256Hex } from './digest.ts';
import { encodeCanonical } from './json.ts';
import { compareUtf8 } from './text.ts';

/** A proposal as its digest sees it (charon.md §4). The order of the three lists means nothing. */
export type DigestedProposal = {
  readonly proposal_id: string;
  readonly kind: string;
  readonly project_id: string;
  readonly originator: string;
  readonly target_ref: string;
  readonly base_changeset_id: string;
  readonly head_changeset_id: string;
  readonly message: string;
  readonly conflicts: readonly { readonly conflict_key: string; readonly status: string }[];
  readonly resolutions: readonly {
    readonly conflict_key: string;
    readonly choice: string;
    readonly ops: readonly JsonObject[];
  }[];
  /** `null` when the whole head is proposed. */
  readonly selected_ops: readonly { readonly changeset_id: string; readonly ordinal: number }[] | null;
};

/** The digest that a reviewer's verdict is bound to (charon.md §4). Whatever changes of what was reviewed changes it too. */
export function proposalStateDigest(proposal: DigestedProposal): string {
  const conflicts = proposal.conflicts
    .map(({ conflict_key, status }) => ({ conflict_key, status }))
    .sort((a, b) => compareUtf8(a.conflict_key, b.conflict_key) || compareUtf8(a.status, b.status));
  const resolutions = proposal.resolutions
    .map(({ conflict_key, choice, ops }) => ({ conflict_key, choice, ops }))
    .sort((a, b) => compareUtf8(a.conflict_key, b.conflict_key));
  const selected = proposal.selected_ops
    ?.map(({ changeset_id, ordinal }) => ({ changeset_id, ordinal }))
    .sort((a, b) => compareUtf8(a.changeset_id, b.changeset_id) || a.ordinal - b.ordinal);
  return domainDigest('charon/proposal-state/v2', {
    base_changeset_id: proposal.base_changeset_id,
    conflicts,
    head_changeset_id: proposal.head_changeset_id,
    kind: proposal.kind,
    message: proposal.message,
    originator: proposal.originator,
    project_id: proposal.project_id,
    proposal_id: proposal.proposal_id,
    resolutions,
    selected_ops: selected ?? null,
    target_ref: proposal.target_ref,
  });
}

/** `prev_hash` of the first entry of an audit ledger (charon.md §6). */
export const auditGenesisHash = '0'.repeat(64);

/** Every column of an audit entry but its own hash and MAC. Columns that do not apply are `null`, never left out. */
export type DigestedAuditEntry = JsonObject & { readonly seq: number; readonly prev_hash: string };

/** `entry_hash` of an audit entry: SHA-256 over the canonical JSON of its columns, `prev_hash` among them (charon.md §6). */
export function auditEntryHash(entry: DigestedAuditEntry): string {
  return sha256Hex(encodeCanonical(entry));
}
