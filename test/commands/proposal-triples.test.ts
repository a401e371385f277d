import { expect, test } from 'vitest';
import type { Caller } from '../../src-main/charon/api.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { proposalLifeMs } from '../../src-preload/contract/limits.ts';
import { newKey, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

const states = [
  'pending',
  'in_conflict',
  'drafted',
  'changes_requested',
  'stale',
  'approved',
  'approved_in_conflict',
  'approved_drafted',
  'merging',
  'completed',
  'rejected',
  'canceled',
  'expired',
] as const;
type State = (typeof states)[number];

const actions = ['approve', 'request_changes', 'reject', 'draft', 'drop', 'merge', 'cancel'] as const;
type Action = (typeof actions)[number];

/** Who acts: on the proposal of an agent, or, with `_own`, on one that was filed by themselves. */
const actors = ['originator_own', 'agent', 'reader', 'reviewer', 'reviewer_own', 'owner', 'owner_own'] as const;
type Actor = (typeof actors)[number];

const isPending = (state: State) => states.indexOf(state) < states.indexOf('merging');
const hasConflict = (state: State) => state.includes('conflict') || state.includes('drafted');

/** `ok`, or the first thing that stands against it. */
function expected(state: State, action: Action, actor: Actor): string {
  const isOwner = actor.startsWith('owner');
  const isReviewing = isOwner || actor.startsWith('reviewer');
  const isParty = actor.endsWith('_own');
  switch (action) {
    case 'draft':
      if (!isOwner) return 'OWNER_ONLY';
      if (!isPending(state)) return 'PROPOSAL_STATE';
      return hasConflict(state) ? 'ok' : 'CONFLICT_NOT_FOUND';
    case 'drop':
      if (!isOwner) return 'OWNER_ONLY';
      return isPending(state) ? 'ok' : 'PROPOSAL_STATE';
    case 'cancel':
      if (!isOwner && (isReviewing || actor === 'reader')) return 'SCOPE_MISSING';
      if (!isParty) return 'NOT_ORIGINATOR';
      return isPending(state) ? 'ok' : 'PROPOSAL_STATE';
    case 'merge': {
      if (!isReviewing) return 'SCOPE_MISSING';
      if (actor === 'reviewer_own') return 'SELF_APPROVAL';
      if (!isPending(state)) return 'PROPOSAL_STATE';
      if (state === 'changes_requested') return 'CHANGES_REQUESTED';
      if (state === 'stale' && actor !== 'owner_own') return 'PROPOSAL_STALE';
      if (!state.startsWith('approved') && actor !== 'owner_own') return 'NOT_APPROVED';
      return hasConflict(state) && !state.includes('drafted') ? 'OPEN_CONFLICT' : 'ok';
    }
    default:
      if (!isReviewing) return 'SCOPE_MISSING';
      if (isParty) return 'SELF_REVIEW';
      return isPending(state) ? 'ok' : 'PROPOSAL_STATE';
  }
}

const memories = 60;
const noKey = 'a'.repeat(64);

/** A project in which main and every branch of its first state have changed the same memories. */
async function openStage() {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const grant = async (name: string, profile: 'propose' | 'review' | 'readonly') => engine.agent(name, profile, 'demo');
  const people = {
    originator_own: await grant('originator', 'propose'),
    agent: await grant('agent', 'propose'),
    reader: await grant('reader', 'readonly'),
    reviewer: await grant('reviewer', 'review'),
    reviewer_own: await grant('turncoat', 'propose'),
    owner: engine.owner,
    owner_own: engine.owner,
  } satisfies Record<Actor, Caller>;
  const approver = await grant('approver', 'review');
  const ids = Array.from({ length: memories }, (_, index) => `m-${index}`);
  const land = async (name: string, from: string, op: (id: string) => object) => {
    const head = await write(engine, people.agent, name, from, ids.map(op));
    const { proposal_id: id } = await propose(engine, people.agent, from, head);
    await judge(engine, approver, id, 'approve');
    await engine.run(approver, 'memory.merge', { proposal_id: id, idempotency_key: newKey() });
    return head;
  };
  const first = await land('first', root, (id) => ({
    op_type: 'add_memory',
    resulting_event_id: id,
    payload: { content: 'old' },
  }));
  await land('second', first, (id) => ({
    op_type: 'correct_memory',
    target_event_id: id,
    payload: { content: 'ours' },
  }));
  return { engine, people, approver, first, used: 0 };
}
type Stage = Awaited<ReturnType<typeof openStage>>;

async function write(engine: TempEngine, by: Caller, name: string, from: string, ops: readonly object[]) {
  const ref = `refs/agents/${by.principal.actor_id}/${name}`;
  await engine.run(by, 'memory.branch_create', { project: 'demo', ref_name: ref, head_changeset_id: from });
  const made = await engine.raw(by, 'memory.changeset_create', {
    project: 'demo',
    ref,
    expected_head: from,
    parent_ids: [from],
    message: name,
    idempotency_key: newKey(),
    ops: ops.map((op, ordinal) => ({ ordinal, ...op })),
  });
  return String(Reflect.get(Object(made), 'changeset_id'));
}

function propose(engine: TempEngine, by: Caller, base: string, head: string) {
  return engine.run(by, 'memory.merge_propose', {
    project: 'demo',
    target_ref: 'refs/shared/main',
    head_changeset_id: head,
    base_changeset_id: base,
    message: 'please',
    idempotency_key: newKey(),
  });
}

async function judge(engine: TempEngine, by: Caller, id: string, verdict: 'approve' | 'request_changes' | 'reject') {
  const seen = await engine.run(engine.owner, 'memory.proposal_show', { proposal_id: id });
  const { proposal_digest, target_head } = seen;
  return engine.run(by, 'memory.merge_review', { proposal_id: id, verdict, proposal_digest, target_head });
}

async function keyOf(engine: TempEngine, id: string): Promise<string> {
  const { conflicts } = await engine.run(engine.owner, 'memory.proposal_show', { proposal_id: id });
  return conflicts.find(({ severity }) => severity === 'blocking')?.conflict_key ?? noKey;
}

async function draftFor(engine: TempEngine, id: string) {
  const resolution = { conflict_key: await keyOf(engine, id), choice: 'theirs' as const };
  return engine.run(engine.owner, 'proposal.draft_resolution', { proposal_id: id, resolution });
}

/** A proposal in that state, filed by whom the actor needs it to be. */
async function bring(stage: Stage, state: State, actor: Actor): Promise<string> {
  const { engine, people, approver, first } = stage;
  stage.used += 1;
  const by = actor.endsWith('_own') ? people[actor] : people.originator_own;
  if (actor === 'reviewer_own') await turn(engine, 'propose');
  const op = hasConflict(state)
    ? { op_type: 'correct_memory', target_event_id: `m-${stage.used % memories}`, payload: { content: 'theirs' } }
    : { op_type: 'add_memory', payload: { content: `new ${stage.used}` } };
  const head = await write(engine, by, `b-${stage.used}`, first, [op]);
  const { proposal_id: id } = await propose(engine, by, first, head);
  if (state.includes('drafted')) await draftFor(engine, id);
  if (['completed', 'stale'].includes(state) || state.startsWith('approved'))
    await judge(engine, approver, id, 'approve');
  if (state === 'changes_requested') await judge(engine, approver, id, 'request_changes');
  if (state === 'stale') await moveMain(stage);
  if (state === 'completed') await engine.run(approver, 'memory.merge', { proposal_id: id, idempotency_key: newKey() });
  if (state === 'rejected') await judge(engine, approver, id, 'reject');
  if (state === 'canceled') await engine.run(by, 'memory.merge_cancel', { proposal_id: id });
  if (state === 'expired') engine.clock.advance(proposalLifeMs);
  if (state === 'merging') {
    const db = connect(engine.paths.charonDb, { readOnly: false, mustExist: true });
    db.exec(`UPDATE proposals SET status = 'merging' WHERE proposal_id = '${id}'`);
    db.close();
  }
  if (actor === 'reviewer_own') await turn(engine, 'review');
  return id;
}

/** Another proposal lands: what was approved before is not what would be merged now. */
async function moveMain({ engine, people, approver, first, used }: Stage): Promise<void> {
  const op = { op_type: 'add_memory', payload: { content: `beside ${used}` } };
  const head = await write(engine, people.agent, `m-${used}`, first, [op]);
  const { proposal_id: id } = await propose(engine, people.agent, first, head);
  await judge(engine, approver, id, 'approve');
  await engine.run(approver, 'memory.merge', { proposal_id: id, idempotency_key: newKey() });
}

/** An agent that proposed may be made a reviewer later: what it filed stays its own. */
function turn(engine: TempEngine, profile: 'propose' | 'review') {
  return engine.run(engine.owner, 'principal.reconcile', { name: 'turncoat', profile, project: 'demo' });
}

async function act({ engine, people }: Stage, action: Action, actor: Actor, id: string): Promise<string> {
  const by = people[actor];
  const { proposal_digest, target_head } = await engine.run(engine.owner, 'memory.proposal_show', { proposal_id: id });
  const key = await keyOf(engine, id);
  const asked: Record<Action, readonly [string, object]> = {
    approve: ['memory.merge_review', { verdict: 'approve', proposal_digest, target_head }],
    request_changes: ['memory.merge_review', { verdict: 'request_changes', proposal_digest, target_head }],
    reject: ['memory.merge_review', { verdict: 'reject', proposal_digest, target_head }],
    draft: ['proposal.draft_resolution', { resolution: { conflict_key: key, choice: 'ours' } }],
    drop: ['proposal.drop_resolution', { conflict_key: key }],
    merge: ['memory.merge', { idempotency_key: newKey() }],
    cancel: ['memory.merge_cancel', {}],
  };
  const [name, input] = asked[action];
  try {
    await engine.raw(by, name, { proposal_id: id, ...input });
    return 'ok';
  } catch (thrown) {
    return String(Reflect.get(Object(thrown), 'code'));
  }
}

test.each(states)('C94 what each actor may do to a proposal that is %s', { timeout: 120_000 }, async (state) => {
  const stage = await openStage();
  const found: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  for (const actor of actors) {
    let id: string | undefined;
    for (const action of actions) {
      // What was refused changed nothing; what was done leaves another state behind.
      id ??= await bring(stage, state, actor);
      const triple = `${state} ${action} ${actor}`;
      wanted[triple] = expected(state, action, actor);
      found[triple] = await act(stage, action, actor, id);
      if (found[triple] === 'ok') id = undefined;
    }
  }
  expect(found).toEqual(wanted);
});

test('C94 C50 while the setting is off the owner merges nothing of the owner’s own, whatever its state', async () => {
  const stage = await openStage();
  await stage.engine.run(stage.engine.owner, 'setting.set_owner_self_merge', { on: false });
  const found: Record<string, string> = {};
  for (const state of states)
    found[state] = await act(stage, 'merge', 'owner_own', await bring(stage, state, 'owner_own'));
  expect(found).toEqual(Object.fromEntries(states.map((state) => [state, 'SELF_APPROVAL'])));
});
