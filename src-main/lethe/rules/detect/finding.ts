import type { Conflict, ConflictType, Severity } from '../../../../src-preload/contract/conflict.ts';
import {
  type ChangesetId,
  digestSchema,
  type ProjectId,
  timestampSchema,
} from '../../../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../../../src-preload/contract/json.ts';
import { conflictId, conflictIdentity, conflictKey, memoryStatesDigest } from '../../../canonical/conflict-digest.ts';
import { compareUtf8 } from '../../../canonical/text.ts';

/** What one side says of memories: by memory id, `null` where it does not have the memory. */
export type SaidStates = ReadonlyMap<string, JsonObject | null>;

/** What a detector found, before it is bound to the three changesets. */
export interface Finding {
  readonly type: ConflictType;
  readonly severity: Severity;
  readonly summary: string;
  /** By the keys of `lethe.md` §7 and §0.3, without `memory_ids`. */
  readonly details: JsonObject;
  /** The memories that it is about: those that it withholds when it blocks. */
  readonly memoryIds: Iterable<string>;
  /** What the left position says of those memories, and what the right one says: the key hangs on it (`lethe.md` §0.3). */
  readonly left: SaidStates;
  readonly right: SaidStates;
}

/** States of a finding that is about what was done, and so does not change with what is said now. */
export const noStates: SaidStates = new Map();

/** Findings as they come, each identity once (`lethe.md` D7). */
export interface FindingBook {
  /** Keeps a finding. Of one identity the first is told; what later ones name and say is added to it. */
  add(finding: Finding): void;
  /** Whether its identity is kept already. */
  has(finding: Finding): boolean;
  /** Identities so far. */
  readonly size: number;
  list(): readonly Finding[];
}

/** An empty book. */
export function openFindings(): FindingBook {
  const byIdentity = new Map<string, Entry>();
  return {
    add: (finding) => {
      const identity = identityOf(finding);
      const entry = byIdentity.get(identity);
      if (entry === undefined) byIdentity.set(identity, openEntry(finding));
      else join(entry, finding);
    },
    has: (finding) => byIdentity.has(identityOf(finding)),
    get size() {
      return byIdentity.size;
    },
    list: () => [...byIdentity.values()].map(({ told, ...said }) => ({ ...told, ...said })),
  };
}

interface Entry {
  readonly told: Finding;
  readonly memoryIds: Set<string>;
  readonly left: Map<string, JsonObject | null>;
  readonly right: Map<string, JsonObject | null>;
}

function openEntry(told: Finding): Entry {
  return { told, memoryIds: new Set(told.memoryIds), left: new Map(told.left), right: new Map(told.right) };
}

function join(entry: Entry, more: Finding): void {
  for (const id of more.memoryIds) entry.memoryIds.add(id);
  for (const [id, said] of more.left) if (!entry.left.has(id)) entry.left.set(id, said);
  for (const [id, said] of more.right) if (!entry.right.has(id)) entry.right.set(id, said);
}

function identityOf({ type, summary, details }: Finding): string {
  return `${type}\n${conflictIdentity({ conflict_type: type, summary, details })}`;
}

/** Of a pair of decisions that a protected one makes graver only the graver finding is told (`lethe.md` §7 row 4). */
function withoutMilder(findings: readonly Finding[]): readonly Finding[] {
  const identity = ({ summary, details }: Finding): string =>
    conflictIdentity({ conflict_type: 'protected_decision', summary, details });
  const graver = new Set(findings.filter(({ type }) => type === 'protected_decision').map(identity));
  return findings.filter((finding) => finding.type !== 'contradictory_decision' || !graver.has(identity(finding)));
}

/** The three changesets that findings are bound to. */
interface BoundTo {
  readonly projectId: ProjectId;
  readonly baseChangesetId: ChangesetId;
  readonly leftChangesetId: ChangesetId;
  readonly rightChangesetId: ChangesetId;
}

/** Detection writes nothing and knows no time (`lethe.md` §1.2). */
const detectedAt = timestampSchema.parse('0001-01-01T00:00:00Z');
const severityRank = { blocking: 0, warning: 1, info: 2 } as const satisfies Record<Severity, number>;

/** The findings bound to their three changesets: blocking ones first, then by type, then by id. */
export function composeConflicts(findings: readonly Finding[], sides: BoundTo): readonly Conflict[] {
  return withoutMilder(findings)
    .map((finding) => compose(finding, sides))
    .toSorted(
      (one, other) =>
        severityRank[one.severity] - severityRank[other.severity] ||
        compareUtf8(one.conflict_type, other.conflict_type) ||
        compareUtf8(one.conflict_id, other.conflict_id),
    );
}

function compose(finding: Finding, sides: BoundTo): Conflict {
  const digested = {
    project_id: sides.projectId,
    base_changeset_id: sides.baseChangesetId,
    left_changeset_id: sides.leftChangesetId,
    right_changeset_id: sides.rightChangesetId,
    conflict_type: finding.type,
    summary: finding.summary,
    details: { ...finding.details, memory_ids: [...finding.memoryIds].toSorted(compareUtf8) },
  };
  return {
    conflict_id: digestSchema.parse(conflictId(digested)),
    ...digested,
    severity: finding.severity,
    status: 'open',
    created_at: detectedAt,
    conflict_key: digestSchema.parse(keyOf(finding, sides.projectId)),
  };
}

function keyOf({ type, summary, details, left, right }: Finding, projectId: string): string {
  return conflictKey({
    project_id: projectId,
    conflict_type: type,
    identity: conflictIdentity({ conflict_type: type, summary, details }),
    left_state: memoryStatesDigest(left),
    right_state: memoryStatesDigest(right),
  });
}
