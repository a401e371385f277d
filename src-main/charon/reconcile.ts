import { setImmediate as nextTick } from 'node:timers/promises';
import {
  type AmbiguousIntent,
  findingsToldMax,
  type ReconcileCheck,
} from '../../src-preload/contract/commands/operations.ts';
import { type ProjectId, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import type { Advance } from '../../src-preload/contract/proposal.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { CharonContext } from './context.ts';
import { listAuthors } from './picks.ts';
import { isOpen } from './rules/proposal-state.ts';
import { compareWithAdvance, findSelfApproval } from './rules/reconcile.ts';
import { findAuditEntry } from './tables/audit-entries.ts';
import { findLastAttempt } from './tables/merge-attempts.ts';
import { listOpenIntents } from './tables/open-intents.ts';
import { findOwner } from './tables/principals.ts';
import { scanProposals } from './tables/proposal-scan.ts';
import { findStoredProposal, type StoredProposal } from './tables/proposals.ts';

const proposalsPerPage = 100;

/** Collects what one check found; beyond the bound it only counts. */
export interface CheckUnderWay {
  looked(): void;
  find(where: string, problem: string): void;
  note(text: string): void;
  done(): ReconcileCheck;
}

/** Starts a check. */
export function openCheck(name: ReconcileCheck['name']): CheckUnderWay {
  const findings: ReconcileCheck['findings'] = [];
  const notes: string[] = [];
  let checked = 0;
  let omitted = 0;
  return {
    looked: () => {
      checked += 1;
    },
    find: (where, problem) => {
      if (findings.length < findingsToldMax) findings.push({ where, problem });
      else omitted += 1;
    },
    note: (text) => void notes.push(text),
    done: () => ({
      name,
      checked,
      findings,
      notes: omitted === 0 ? notes : [...notes, `${omitted} more findings are not listed`],
    }),
  };
}

/**
 * Looks at every proposal (`charon.md` §7): a completed one agrees with its target's advance record in everything, and no party
 * to it approved it; an open one's changesets exist; none is left inside a merge that nobody runs. Changes nothing. One
 * page at a time, others work in between. Throws what the store throws when it cannot be asked.
 */
export async function reconcileProposals(context: CharonContext): Promise<ReconcileCheck> {
  const check = openCheck('proposals');
  for (let afterSeq = 0; ; ) {
    const page = scanProposals(context.db, afterSeq, proposalsPerPage);
    for (const { seq, proposalId, stored } of page) {
      afterSeq = seq;
      check.looked();
      const report = (problem: string): void => check.find(`proposal ${proposalId}`, problem);
      if (stored === undefined) report('its row cannot be read');
      else await checkProposal(context, stored, report);
    }
    if (page.length < proposalsPerPage) return check.done();
    await nextTick();
  }
}

type Report = (problem: string) => void;

async function checkProposal(context: CharonContext, stored: StoredProposal, report: Report): Promise<void> {
  if (stored.status === 'completed') return checkCompleted(context, stored, report);
  if (!isOpen(stored.status)) return checkUnmoved(context, stored, report);
  const named = [stored.base_changeset_id, stored.head_changeset_id, stored.target_head];
  for (const changesetId of new Set([...named, ...(stored.selected_ops ?? []).map((op) => op.changeset_id)])) {
    const changeset = await context.store.findChangeset(changesetId);
    if (changeset === undefined) report(`changeset ${changesetId} does not exist`);
    else if (changeset.project_id !== stored.project_id) report(`changeset ${changesetId} is of another project`);
  }
  if (isLeftMerging(context, stored))
    report('a crash left it inside its merge: it was not settled, since the store could not be asked. Settle it.');
}

async function checkCompleted(context: CharonContext, stored: StoredProposal, report: Report): Promise<void> {
  const { project_id: projectId, proposal_id: proposalId } = stored;
  const advance = await context.store.findAdvance({ projectId, proposalId });
  if (advance === undefined) {
    report('it is completed, and no advance record of its target says so');
    return;
  }
  const attempt = findLastAttempt(context.db, proposalId);
  for (const problem of compareWithAdvance(stored, advance, attempt)) report(problem);
  const owner = findOwner(context.db)?.principal_id ?? '';
  try {
    const authors = await listAuthors(context, stored, stored.target_head);
    const problem = findSelfApproval(stored, advance, authors, owner);
    if (problem !== undefined) report(problem);
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.kind === 'unavailable') throw thrown;
    report('who wrote what it brought in cannot be found out: a changeset of it is missing');
  }
}

/** What was rejected, canceled or expired moved nothing. */
async function checkUnmoved(context: CharonContext, stored: StoredProposal, report: Report): Promise<void> {
  const { project_id: projectId, proposal_id: proposalId } = stored;
  if ((await context.store.findAdvance({ projectId, proposalId })) !== undefined)
    report(`it is ${stored.status}, and yet its target was advanced for it`);
}

function isLeftMerging(context: CharonContext, { proposal_id: proposalId }: StoredProposal): boolean {
  if (context.mergesInFlight.has(proposalId)) return false;
  return findStoredProposal(context.db, proposalId)?.status === 'merging';
}

/**
 * What is wrong about advance records of one project on Charon's side: each belongs to a proposal of that project that is
 * completed (or just being), and to no other record. `seen` holds the proposals of the pages before.
 */
export function findStrayAdvances(
  context: CharonContext,
  projectId: ProjectId,
  advances: readonly Advance[],
  seen: Set<string>,
): readonly { readonly where: string; readonly problem: string }[] {
  const found: { where: string; problem: string }[] = [];
  for (const { advance_id: advanceId, merge_proposal_id: named } of advances) {
    const report = (problem: string): void => void found.push({ where: `advance ${advanceId}`, problem });
    const proposalId = proposalIdSchema.safeParse(named);
    const stored = proposalId.success ? findStoredProposal(context.db, proposalId.data) : undefined;
    if (seen.has(named)) report('another advance record is of the same proposal');
    seen.add(named);
    if (stored === undefined) report('no proposal of this home led to it');
    else if (stored.project_id !== projectId) report('its proposal is of another project');
    else if (stored.status === 'pending' || isLeftMerging(context, stored))
      report(`its proposal is still ${stored.status}: settle it`);
  }
  return found;
}

/** The intents that no record decides, oldest first (`charon.md` §6). */
export function listAmbiguousIntents(context: CharonContext): readonly AmbiguousIntent[] {
  return listOpenIntents(context.db)
    .filter((intent) => intent.ambiguous)
    .map(({ seq }) => {
      const entry = findAuditEntry(context.db, seq);
      assert(entry !== undefined, 'an open intent stands on an audit entry');
      const { at, principal, door, command, project, object_ids, correlation_id } = entry;
      return { seq, at, principal, door, command, project, object_ids, correlation_id };
    });
}
