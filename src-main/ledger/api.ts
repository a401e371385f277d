import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import type { Timestamp } from '../../src-preload/contract/ids.ts';
import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import type {
  Custody,
  DerivedFrom,
  Importance,
  LedgerAgentId,
  LedgerDiff,
  LedgerEntry,
  LedgerHistory,
  LedgerKey,
  LedgerKeyState,
  LedgerMatch,
  LedgerPoint,
  LedgerState,
  LedgerUsage,
  LedgerValue,
  Policy,
} from '../../src-preload/contract/ledger.ts';

/** A value to put; `ttl` in seconds. What is left out is `normal`, no source, confidence 1, no end, derived from nothing. */
export interface PutInput {
  readonly agentId: LedgerAgentId;
  readonly key: LedgerKey;
  readonly value: JsonValue;
  readonly ttl?: number | undefined;
  readonly importance?: Importance | undefined;
  readonly source?: string | undefined;
  readonly confidence?: number | undefined;
  readonly derivedFrom?: DerivedFrom | undefined;
  /** The version that the key must hold live (`If-Match`). */
  readonly ifVersion?: number | undefined;
}

export interface ListInput {
  readonly agentId: LedgerAgentId;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly prefix?: string | undefined;
  /** Exactly this one. */
  readonly importance?: Importance | undefined;
}

export interface SearchInput {
  readonly agentId: LedgerAgentId;
  readonly query: string;
  readonly limit: number;
  /** This or more important. */
  readonly importance?: Importance | undefined;
  /** Least similarity, 0 to 1. */
  readonly threshold: number;
}

/** A page of something listed in the order of what the cursor stands for. */
export interface PageInput {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What an amendment was signed with, kept beside it so that it can be verified again. */
export interface AmendInput {
  readonly agentId: LedgerAgentId;
  readonly templateId: string;
  readonly params: JsonObject;
  readonly challengeId: string;
  readonly challengeNonce: string;
  readonly issuedAt: Timestamp;
  readonly expiresAt: Timestamp;
  /** Standard base64 of the 64 bytes. */
  readonly signature: string;
  /** The passport's public key: the raw 32 bytes in base64url. */
  readonly publicKey: string;
}

/**
 * The memory ledger (`ledger.md`): each agent's own keys, every put and delete a version. All writes throw
 * MEMORY_LEDGER_UNAVAILABLE when the database is locked, full or read-only: nothing is then half written.
 */
export interface Ledger {
  /** Appends a version. Throws MEMORY_VALUE_TOO_LARGE, MEMORY_LEDGER_VERSION_CONFLICT {key, expected, actual}. */
  put(
    input: PutInput,
  ): Promise<{ readonly entry: LedgerEntry; readonly ttl: number | null; readonly usage: LedgerUsage }>;
  /** Appends a tombstone. Throws MEMORY_KEY_NOT_FOUND (nothing is written), MEMORY_LEDGER_VERSION_CONFLICT. */
  delete(input: {
    readonly agentId: LedgerAgentId;
    readonly key: LedgerKey;
    readonly ifVersion?: number | undefined;
  }): Promise<{ readonly version: number; readonly usage: LedgerUsage }>;
  /** The live value. Throws MEMORY_KEY_NOT_FOUND when there is none: never put, deleted, or its time is over. */
  get(agentId: LedgerAgentId, key: LedgerKey): LedgerValue;
  /** Live entries in the order of their keys, with the number of all that match. */
  list(input: ListInput): { readonly entries: readonly LedgerEntry[]; readonly total: number };
  /** Live values by importance, then newest, then key; `importance` is a floor. */
  context(input: {
    readonly agentId: LedgerAgentId;
    readonly limit: number;
    readonly importance?: Importance | undefined;
  }): readonly LedgerValue[];
  /** Live values that answer a query, the most similar first. Throws MEMORY_QUERY_REQUIRED, MEMORY_SEARCH_UNAVAILABLE. */
  search(input: SearchInput): readonly LedgerMatch[];
  /** What the agent's memory amounts to now; zeros when there is none. */
  usage(agentId: LedgerAgentId): LedgerUsage;

  /** Agents that have a history, in id order. Throws CURSOR_INVALID. */
  listAgents(page: PageInput): {
    readonly agents: readonly { readonly agent_id: LedgerAgentId; readonly usage: LedgerUsage }[];
    readonly nextCursor?: string | undefined;
  };
  /** Keys that have a history, tombstones among them, in key order. Throws CURSOR_INVALID. */
  listKeys(input: PageInput & { readonly agentId: LedgerAgentId; readonly prefix?: string | undefined }): {
    readonly keys: readonly LedgerKeyState[];
    readonly nextCursor?: string | undefined;
  };
  /** Versions of a key, the newest first. Throws MEMORY_KEY_NOT_FOUND when it has none, CURSOR_INVALID. */
  history(input: PageInput & { readonly agentId: LedgerAgentId; readonly key: LedgerKey }): LedgerHistory;
  /** What a key held at a version or a moment. Throws MEMORY_KEY_NOT_FOUND for a key or version that there is not. */
  valueAt(input: {
    readonly agentId: LedgerAgentId;
    readonly key: LedgerKey;
    readonly point: LedgerPoint;
  }): LedgerState;
  /** What differs between two points of a key, in pages by path. Throws as `valueAt`, and CURSOR_INVALID. */
  diff(
    input: PageInput & {
      readonly agentId: LedgerAgentId;
      readonly key: LedgerKey;
      readonly from: LedgerPoint;
      readonly to: LedgerPoint;
    },
  ): LedgerDiff;

  /** The policy that stands. Throws CONSOLIDATION_POLICY_NOT_FOUND before the first. */
  getPolicy(agentId: LedgerAgentId): Policy;
  /** Every version of the policy, the newest first. Throws CURSOR_INVALID. */
  listPolicies(input: PageInput & { readonly agentId: LedgerAgentId }): {
    readonly policies: readonly Policy[];
    readonly nextCursor?: string | undefined;
  };
  /**
   * Appends a version of the policy, its signature verified over the canonical text of what was given. Throws
   * CONSOLIDATION_POLICY_TEMPLATE_INVALID, CONSOLIDATION_POLICY_PARAMS_INVALID, CONSOLIDATION_POLICY_AMEND_FORBIDDEN when
   * no custody epoch is open.
   */
  appendPolicy(input: AmendInput): Promise<Policy>;
  /** Who has custody, or had it last; undefined before the first epoch. */
  findCustody(agentId: LedgerAgentId): Custody | undefined;
  /** Opens the next epoch, 1 at registration. Throws CUSTODY_STATE when one is open. */
  openCustody(agentId: LedgerAgentId, custodian: string): Promise<Custody>;
  /** Closes the open epoch. Throws CUSTODY_STATE when none is open. */
  closeCustody(agentId: LedgerAgentId): Promise<Custody>;

  /** Verifies every row of every agent, chunk by chunk over one state; `onProgress` hears rows done and of how many. */
  verify(onProgress?: (done: number, total: number) => void): Promise<VerifyReport>;
  /** One bounded step of what follows behind writes: expired values, the search index. True when another would do more. */
  maintain(): Promise<boolean>;
}
