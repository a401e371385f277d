import type { Conflict, Resolution } from '../../src-preload/contract/conflict.ts';
import { diffCategories } from '../../src-preload/contract/diff.ts';
import type { ProposalDetail } from '../../src-preload/contract/proposal.ts';
import { diffText } from './cli-diff.ts';
import type { Session } from './cli-program.ts';
import { shortId, visible, visibleLines } from './cli-text.ts';

/** Pages of one proposal that are put together. */
const pagesMax = 20;

/** A proposal with its conflicts and changes, all pages of it up to a bound; with a cursor when there is more. */
export async function readDetail(call: Session['call'], id: string): Promise<ProposalDetail> {
  let whole = await call('memory.proposal_show', { proposal_id: id });
  for (let pages = 1; whole.next_cursor !== undefined && pages < pagesMax; pages += 1)
    whole = joined(whole, await call('memory.proposal_show', { proposal_id: id, cursor: whole.next_cursor }));
  return whole;
}

function joined(before: ProposalDetail, { conflicts, resolutions, diff, next_cursor: next }: ProposalDetail) {
  const { next_cursor: _read, ...rest } = before;
  const all = { ...before.diff };
  for (const category of diffCategories) all[category] = [...before.diff[category], ...diff[category]];
  return {
    ...rest,
    conflicts: [...before.conflicts, ...conflicts],
    resolutions: [...before.resolutions, ...resolutions],
    diff: all,
    ...(next === undefined ? {} : { next_cursor: next }),
  };
}

/** A proposal for people. */
export function detailText(proposal: ProposalDetail): string {
  const head = [
    `Proposal:    ${proposal.proposal_id}`,
    `Project:     ${visible(proposal.project_id)}`,
    `By:          ${visible(proposal.originator_name)} (${proposal.originator})`,
    `Status:      ${proposal.status}, review: ${proposal.review_state}`,
    `Into:        ${visible(proposal.target_ref)}, now at ${proposal.target_head}`,
    `Head:        ${proposal.head_changeset_id}`,
    `Base:        ${proposal.base_changeset_id}`,
    ...(proposal.selected_ops === null
      ? []
      : [`Takes:       ${proposal.selected_ops.length} ops of it (a cherry-pick)`]),
    `Created:     ${proposal.created_at}, expires ${proposal.expires_at}`,
    `Would be:    ${previewText(proposal)}`,
    `Digest:      ${proposal.proposal_digest}`,
    '',
    visibleLines(proposal.message, '    '),
    '',
  ];
  const verdicts = proposal.verdicts.map(
    (verdict) =>
      `  ${verdict.created_at}  ${verdict.verdict} by ${shortId(verdict.reviewer)}${verdict.current ? '' : ' (of an earlier state)'}\n${visibleLines(verdict.comment, '      ')}`,
  );
  const conflicts = proposal.conflicts.map((conflict) =>
    conflictText(
      conflict,
      proposal.resolutions.find(({ conflict_id: id }) => id === conflict.conflict_id),
    ),
  );
  const more = proposal.next_cursor === undefined ? [] : ['', '(there is more than fits here: see it at the desk)'];
  return [
    ...head,
    ...(verdicts.length > 0 ? ['Verdicts', ...verdicts, ''] : []),
    ...(conflicts.length > 0 ? [`Conflicts (${conflicts.length})`, ...conflicts, ''] : []),
    diffText(proposal.diff),
    ...more,
    ...nextStep(proposal),
  ].join('\n');
}

function conflictText(conflict: Conflict, drafted: Resolution | undefined): string {
  const lines = [
    `  ${conflict.conflict_type}  ${conflict.severity}, ${conflict.status}  ${conflict.conflict_key}`,
    visibleLines(conflict.summary, '    '),
  ];
  const ids = conflict.details?.memory_ids;
  if (Array.isArray(ids) && ids.length > 0) lines.push(`    about ${ids.map((id) => visible(String(id))).join(', ')}`);
  for (const [side, sign] of sides) {
    const content = textOf(conflict.details?.[side]) ?? textOf(conflict.details?.[`${side}_content`]);
    if (content !== undefined) lines.push(visibleLines(content, `      ${sign} `));
  }
  if (drafted !== undefined) {
    const how = drafted.problem === undefined ? `${drafted.ops.length} ops` : visible(drafted.problem);
    lines.push(`    drafted: ${drafted.choice} (${how})`);
    if (drafted.content !== undefined) lines.push(visibleLines(drafted.content, '      = '));
    if (drafted.note !== undefined) lines.push(visibleLines(drafted.note, '      '));
  }
  return lines.join('\n');
}

const sides = [
  ['base', 'base  '],
  ['left', 'ours  '],
  ['right', 'theirs'],
] as const;

/** The text of a memory, or a text by itself. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('content' in value)) return undefined;
  return typeof value.content === 'string' ? value.content : undefined;
}

function previewText({ preview, conflict_counts: counts }: ProposalDetail): string {
  if (preview === null) return 'closed';
  if (preview.strategy === 'nothing_to_merge') return 'nothing: the target contains it already';
  if (preview.lost_op !== undefined)
    return `not possible: op ${preview.lost_op.ordinal} of ${preview.lost_op.changeset_id} leads to a memory that the target has retired`;
  const moves = `${preview.strategy}, ${preview.proposal_ahead} changesets to bring in, target ${preview.target_ahead} ahead`;
  const isNew = preview.new_conflicts === 0 ? '' : `, ${preview.new_conflicts} of them new since it was filed`;
  return counts.unresolved === 0
    ? moves
    : `not possible yet: ${counts.unresolved} ${counts.unresolved === 1 ? 'conflict' : 'conflicts'} without a resolution${isNew}`;
}

function nextStep({
  status,
  proposal_id: id,
  proposal_digest: digest,
  target_head: head,
  conflict_counts,
}: ProposalDetail) {
  if (status !== 'pending') return [];
  const resolve =
    conflict_counts.unresolved === 0
      ? []
      : ['', 'To settle a conflict:', `  charon proposal resolve ${id} <conflict-key> ours|theirs|both|edit`];
  return [
    ...resolve,
    '',
    'To decide about exactly this:',
    `  charon proposal review ${id} approve --digest ${digest} --target-head ${head}`,
  ];
}
