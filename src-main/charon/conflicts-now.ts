import {
  type Conflict,
  type Resolution,
  type ResolutionInput,
  severities,
} from '../../src-preload/contract/conflict.ts';
import type { ChangesetId, ProposalId } from '../../src-preload/contract/ids.ts';
import { proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import type { ConflictCounts } from '../../src-preload/contract/proposal.ts';
import type { CharonContext } from './context.ts';
import { memoriesOfPicks, readPicks } from './picks.ts';
import { readPlanFacts } from './resolution-facts.ts';
import { combinePlans } from './rules/combine-plans.ts';
import { aboutOf, memoryIdsOf } from './rules/merge-shape.ts';
import { proposalOfNote } from './rules/resolution-note.ts';
import { isThreeWay, planResolution } from './rules/resolution-plan.ts';
import type { ResolutionPlan } from './rules/resolution-writing.ts';
import type { DetectionSides } from './store-port.ts';
import { findLandedResolution } from './tables/attempt-resolutions.ts';
import { findStoredProposal, type StoredProposal } from './tables/proposals.ts';
import { listDrafts, type StoredDraft } from './tables/resolution-drafts.ts';

/** How one conflict would be settled, with the ops for it or the reason why there are none. */
export interface PlannedResolution {
  readonly conflict: Conflict;
  readonly chosen: ResolutionInput;
  readonly draftedAt: Resolution['drafted_at'];
  readonly plan: ResolutionPlan;
}

/** What stands between a proposal and its target at one of its heads, and how it would be settled. */
export interface ConflictsNow {
  /** Blocking ones first; what counts as resolved stands although detection finds it. */
  readonly conflicts: readonly Conflict[];
  /** Every draft as it was read, also those whose conflict is not there now. */
  readonly drafts: readonly StoredDraft[];
  /** In the order in which they would be carried out. */
  readonly resolutions: readonly PlannedResolution[];
}

const nothing: ConflictsNow = { conflicts: [], drafts: [], resolutions: [] };

/**
 * Detects what stands between a proposal and a head of its target, and plans what is drafted for it (`charon.md` §4). Nothing is
 * written; what was detected between the same changesets before is not asked again.
 */
export async function lookForConflicts(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
): Promise<ConflictsNow> {
  const drafts = listDrafts(context.db, stored.proposal_id);
  const detected = await detect(context, stored, targetHead);
  if (detected.length === 0 && stored.selected_ops === null) return { ...nothing, drafts };
  const kept = await listKept(context, stored);
  const found = [...detected, ...metAtMerge(stored, targetHead, detected, kept)];
  const rows = { byId: firstBy(kept, 'conflict_id'), byKey: firstBy(kept, 'conflict_key') };
  const conflicts = found.map((conflict) => {
    const row = rows.byId.get(conflict.conflict_id) ?? rows.byKey.get(conflict.conflict_key);
    return row === undefined ? conflict : withStatus(context, conflict, row);
  });
  return { conflicts, drafts, resolutions: await planAll(context, stored, targetHead, conflicts, drafts) };
}

/** What was kept for a proposal that is decided, each conflict as it was last; nothing of it is asked any more. */
export async function recallConflicts(context: CharonContext, stored: StoredProposal): Promise<ConflictsNow> {
  const newest = firstBy(await listKept(context, stored), 'conflict_key');
  const conflicts = severities
    .toReversed()
    .flatMap((severity) => [...newest.values()].filter((conflict) => conflict.severity === severity));
  return { ...nothing, conflicts };
}

/** What detection finds between a head of the target and the proposal's; of a cherry-pick what concerns the memories of its ops. */
export async function detect(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
): Promise<readonly Conflict[]> {
  const found = await detectOnce(context, sidesOf(stored, targetHead));
  const picks = found.length === 0 ? undefined : await readPicks(context, stored.selected_ops);
  if (picks === undefined) return found;
  const memories = memoriesOfPicks(picks);
  return found.filter((conflict) => {
    const named = memoryIdsOf(conflict);
    // One that blocks and names none is about more than could be compared: it may be about these as well.
    return named.length === 0 ? conflict.severity === 'blocking' : named.some((id) => memories.has(id));
  });
}

/** The three changesets of a proposal against a head of its target. */
export function sidesOf(stored: StoredProposal, targetHead: ChangesetId): DetectionSides {
  return {
    projectId: stored.project_id,
    baseChangesetId: stored.base_changeset_id,
    leftChangesetId: targetHead,
    rightChangesetId: stored.head_changeset_id,
  };
}

/** Changesets never change, so neither does what is found between them. */
function detectOnce(context: CharonContext, sides: DetectionSides): Promise<readonly Conflict[]> {
  const key = `${sides.baseChangesetId} ${sides.leftChangesetId} ${sides.rightChangesetId}`;
  return context.memos.detected.get(key, () => context.store.detectConflicts(sides));
}

/** The conflicts that are kept for a proposal, newest first. */
async function listKept(context: CharonContext, stored: StoredProposal): Promise<readonly Conflict[]> {
  const kept: Conflict[] = [];
  let cursor: string | undefined;
  do {
    const page = await context.store.listConflicts({
      projectId: stored.project_id,
      proposalId: stored.proposal_id,
      limit: listLimitMax,
      cursor,
    });
    kept.push(...page.conflicts);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return kept;
}

/**
 * What an earlier attempt to merge a cherry-pick met between this head of the target and its copies, and what no detection
 * between the two heads can show: their branch may have taken back later what they bring.
 */
function metAtMerge(
  stored: StoredProposal,
  targetHead: ChangesetId,
  detected: readonly Conflict[],
  kept: readonly Conflict[],
): readonly Conflict[] {
  if (stored.selected_ops === null) return [];
  const known = new Set(detected.map(aboutOf));
  const met = kept.filter(
    ({ severity, status, left_changeset_id: left, right_changeset_id: right }) =>
      severity === 'blocking' && status === 'open' && left === targetHead && right !== stored.head_changeset_id,
  );
  return [...firstBy(met, 'conflict_key').values()].filter((conflict) => !known.has(aboutOf(conflict)));
}

/** Of conflicts that have the same there, the first. */
function firstBy(conflicts: readonly Conflict[], field: 'conflict_id' | 'conflict_key'): ReadonlyMap<string, Conflict> {
  return new Map(conflicts.toReversed().map((conflict) => [conflict[field], conflict]));
}

/** What is detected is open, unless what is kept under its id, or else under its key, was resolved and that stands. */
function withStatus(context: CharonContext, conflict: Conflict, row: Conflict): Conflict {
  const { proposal_id: proposalId, created_at: createdAt, resolved_at: resolvedAt, resolution_note: note } = row;
  const known = {
    ...conflict,
    created_at: createdAt,
    ...(proposalId === undefined ? {} : { proposal_id: proposalId }),
  };
  if (row.status !== 'resolved' || !stands(context, note ?? '')) return known;
  return {
    ...known,
    status: 'resolved',
    ...(resolvedAt === undefined ? {} : { resolved_at: resolvedAt }),
    ...(note === undefined ? {} : { resolution_note: note }),
  };
}

/** A resolution by a merge that did not land resolved nothing; one that names no merge was made by somebody else, and stands. */
function stands({ db }: CharonContext, note: string): boolean {
  const by = proposalIdSchema.safeParse(proposalOfNote(note));
  return !by.success || findStoredProposal(db, by.data)?.status === 'completed';
}

/** Blocking conflicts that a merge has to write something for: open ones, and memories that both sides changed. */
function needsResolution(conflict: Conflict): boolean {
  return conflict.severity === 'blocking' && (conflict.status === 'open' || isThreeWay(conflict));
}

async function planAll(
  context: CharonContext,
  stored: StoredProposal,
  targetHead: ChangesetId,
  conflicts: readonly Conflict[],
  drafts: readonly StoredDraft[],
): Promise<readonly PlannedResolution[]> {
  const planned: PlannedResolution[] = [];
  const waiting = conflicts.filter(needsResolution);
  // States of single memories first: what relates or retires memories builds on them.
  for (const conflict of [...waiting.filter(isThreeWay), ...waiting.filter((one) => !isThreeWay(one))]) {
    const drafted = findDraft(context, stored, conflict, drafts);
    if (drafted === undefined) continue;
    const facts = await readPlanFacts(context, stored, targetHead, conflict);
    planned.push({ conflict, ...drafted, plan: planResolution(conflict, drafted.chosen, facts) });
  }
  const plans = combinePlans(planned.map(({ plan }) => plan));
  return planned.map((resolution, index) => ({ ...resolution, plan: plans[index] ?? resolution.plan }));
}

/** What is drafted here, or what a landed merge did about the same when it was settled before (`lethe.md` D17). */
function findDraft(
  { db }: CharonContext,
  stored: StoredProposal,
  conflict: Conflict,
  drafts: readonly StoredDraft[],
): Pick<PlannedResolution, 'chosen' | 'draftedAt'> | undefined {
  const draft = drafts.find(({ conflict_key: key }) => key === conflict.conflict_key);
  if (draft !== undefined) return { chosen: toInput(draft), draftedAt: draft.drafted_at };
  if (conflict.status !== 'resolved') return undefined;
  const landed = findLandedResolution(db, stored.project_id, conflict.conflict_key);
  if (landed === undefined) return undefined;
  const { conflict_id: _id, ops: _ops, drafted_at: draftedAt, ...chosen } = landed;
  return { chosen, draftedAt };
}

/** A draft as it was given. */
function toInput(draft: StoredDraft): ResolutionInput {
  return {
    conflict_key: draft.conflict_key,
    choice: draft.choice,
    ...(draft.note === null ? {} : { note: draft.note }),
    ...(draft.content === null ? {} : { content: draft.content }),
    ...(draft.scope === null ? {} : { scope: draft.scope }),
  };
}

/** Blocking conflicts that nothing can be written for as things stand: a merge waits for them. */
export function listUnresolved({ conflicts, resolutions }: ConflictsNow): readonly Conflict[] {
  const covered = new Set(
    resolutions.filter(({ plan }) => plan.kind === 'ops').map(({ conflict }) => conflict.conflict_id),
  );
  return conflicts.filter((conflict) => needsResolution(conflict) && !covered.has(conflict.conflict_id));
}

/** How many there are, by severity; of a proposal that is decided none waits. */
export function countConflicts(now: ConflictsNow, isOpen: boolean): ConflictCounts {
  const of = (severity: Conflict['severity']): number =>
    now.conflicts.filter((conflict) => conflict.severity === severity).length;
  return {
    blocking: of('blocking'),
    warning: of('warning'),
    info: of('info'),
    unresolved: isOpen ? listUnresolved(now).length : 0,
  };
}

/** The form that crosses a border. */
export function toResolution({ conflict, chosen, draftedAt, plan }: PlannedResolution): Resolution {
  return {
    ...chosen,
    conflict_id: conflict.conflict_id,
    drafted_at: draftedAt,
    ops: plan.kind === 'ops' ? [...plan.ops] : [],
    ...(plan.kind === 'impossible' ? { problem: plan.reason } : {}),
  };
}

/** True when what is drafted for a proposal is still what was looked at. */
export function sameDrafts(db: CharonContext['db'], proposalId: ProposalId, now: ConflictsNow): boolean {
  return JSON.stringify(listDrafts(db, proposalId)) === JSON.stringify(now.drafts);
}
