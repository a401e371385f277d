import { describe, expect, test } from 'vitest';
import { decideButtons, decideVerdictLine, summariseProposal } from '../../../src-renderer/features/inbox/decide.ts';
import { diff, ids, noonMs, proposal } from '../fixtures.ts';

const line = (rest: Record<string, unknown> = {}) => decideVerdictLine(proposal(rest), noonMs);
const buttons = (rest: Record<string, unknown> = {}) => decideButtons(proposal(rest), ids.owner, noonMs);
const preview = (rest: Record<string, unknown>) => ({ preview: { ...proposal().preview, ...rest } });
const verdict = (reviewer: string, said: string, at: string) => ({
  finding_id: ids.proposal,
  reviewer,
  verdict: said,
  comment: '',
  severity: 'info',
  proposal_digest: 'a'.repeat(64),
  target_head: ids.main,
  created_at: at,
  current: true,
});
const conflicts = (unresolved: number, blocking: number, rest: Record<string, unknown> = {}) => ({
  conflict_counts: { blocking, warning: 1, info: 0, unresolved },
  ...preview({ blocking_by_type: { contradictory_decision: 1, delete_modify: blocking - 1 }, ...rest }),
});

describe('the verdict line', () => {
  test('a clean proposal says how it merges and what it brings', () => {
    expect(line()).toEqual({ tone: 'clean', text: 'Merges cleanly (fast-forward, 2 added, 1 corrected)' });
  });

  test('a diff with more pages says that there is more', () => {
    expect(summariseProposal(proposal({ diff: diff({ memories_added: [{}] }, { next_cursor: 'c' }) }))).toBe(
      '1 added and more',
    );
  });

  test('conflicts that are not settled stand in the way, type by type', () => {
    expect(line(conflicts(2, 2))).toEqual({
      tone: 'blocked',
      text: '2 conflicts: 1 contradiction, 1 delete-versus-modify',
    });
    expect(line(conflicts(1, 2)).text).toBe('2 conflicts: 1 contradiction, 1 delete-versus-modify; 1 still to settle');
  });

  test('a main that moved and brought conflicts says so first', () => {
    expect(line(conflicts(1, 1, { target_moved: true, new_conflicts: 1 })).text).toBe(
      'Stale: main moved, 1 new conflict. 1 conflict: 1 contradiction',
    );
  });

  test('settled conflicts and mere findings do not stand in the way', () => {
    expect(line(conflicts(0, 2))).toEqual({
      tone: 'clean',
      text: 'Merges with 2 conflicts settled (fast-forward, 2 added, 1 corrected)',
    });
    expect(line({ conflict_counts: { blocking: 0, warning: 3, info: 2, unresolved: 0 } }).tone).toBe('clean');
  });

  test('what is already there cannot be merged again', () => {
    expect(line(preview({ strategy: 'nothing_to_merge' })).tone).toBe('blocked');
  });

  test('a picked change that leads nowhere any more stands in the way, and no conflict does', () => {
    const lost = preview({ lost_op: { changeset_id: ids.main, ordinal: 0 } });
    expect(line(lost)).toEqual({
      tone: 'blocked',
      text: expect.stringMatching(/^Cannot merge: a picked change leads to/),
    });
    expect(buttons(lost).merge).toMatch(/propose the others without it\.$/);
    expect(buttons(lost).reject).toBeNull();
  });

  test('a stale approval asks for another look', () => {
    expect(line({ review_state: 'stale' })).toEqual({
      tone: 'wait',
      text: 'Stale: main moved since the approval; review again',
    });
  });

  test('an approved one says so first', () => {
    expect(line({ review_state: 'approved' }).text).toMatch(/^Approved\. Merges cleanly/);
  });

  test.each([
    ['completed', 'done', /^Merged/],
    ['rejected', 'closed', /^Rejected/],
    ['canceled', 'closed', /^Withdrawn/],
    ['expired', 'closed', /^Expired/],
    ['merging', 'wait', /^Merging/],
  ])('a proposal that is %s says so, whatever else holds', (status, tone, text) => {
    const said = line({ status, conflict_counts: { blocking: 1, warning: 0, info: 0, unresolved: 1 }, preview: null });
    expect(said.tone).toBe(tone);
    expect(said.text).toMatch(text);
  });

  test('a merge by its own author is named as one', () => {
    expect(line({ status: 'completed', strategy: 'fast_forward', self_merge: true }).text).toBe(
      'Merged (fast-forward), by the owner of the proposal itself',
    );
  });

  test('a proposal that expired while open here can no longer be merged', () => {
    expect(decideVerdictLine(proposal(), Date.parse('2026-01-17T11:00:00Z')).tone).toBe('closed');
    expect(decideVerdictLine(proposal(), Date.parse('2026-01-17T10:59:59Z')).tone).toBe('clean');
  });
});

describe('the buttons', () => {
  test('a fresh proposal of an agent can be decided in every way; merging approves', () => {
    expect(buttons()).toEqual({ approve: null, requestChanges: null, reject: null, merge: null, mergeApproves: true });
  });

  test('an approved one merges without approving again, and says why it cannot be approved twice', () => {
    const after = buttons({ review_state: 'approved' });
    expect(after.mergeApproves).toBe(false);
    expect(after.approve).toMatch(/approved/);
    expect(after.merge).toBeNull();
  });

  test('nothing is left to decide on a closed one, and each button says so', () => {
    for (const why of Object.values(buttons({ status: 'rejected' })).slice(0, 4))
      expect(why).toMatch(/nothing is left/);
  });

  test('the owner reviews no proposal of the owner, but may merge it', () => {
    const own = buttons({ originator: ids.owner });
    expect([own.approve, own.requestChanges, own.reject].every((why) => why?.includes('yourself'))).toBe(true);
    expect(own.merge).toBeNull();
    expect(own.mergeApproves).toBe(false);
  });

  test('an obstacle shuts merging only', () => {
    const blocked = buttons(conflicts(1, 1));
    expect(blocked.merge).toBe('Settle the conflict below first.');
    expect(buttons(conflicts(2, 2)).merge).toBe('Settle the 2 conflicts below first.');
    expect(buttons(preview({ strategy: 'nothing_to_merge' })).merge).toMatch(/^Nothing to merge/);
    expect(blocked.approve).toBeNull();
    expect(blocked.reject).toBeNull();
  });

  test("another reviewer's objection shuts merging until that reviewer approves", () => {
    const objected = verdict(ids.reviewer, 'request_changes', '2026-01-10T11:10:00Z');
    expect(buttons({ verdicts: [objected] }).merge).toMatch(/Another reviewer/);
    const approved = verdict(ids.reviewer, 'approve', '2026-01-10T11:20:00Z');
    expect(buttons({ verdicts: [approved, objected] }).merge).toBeNull();
  });

  test("the owner's own objection ends by approving", () => {
    const objected = verdict(ids.owner, 'request_changes', '2026-01-10T11:10:00Z');
    const open = buttons({ verdicts: [objected], review_state: 'changes_requested' });
    expect(open.merge).toBeNull();
    expect(open.mergeApproves).toBe(true);
  });
});
