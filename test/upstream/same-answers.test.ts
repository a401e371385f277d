import { expect, onTestFinished, test } from 'vitest';
import type { MemoryStore } from '../../src-main/commands/memory-store.ts';
import { manifestIdSchema, memoryIdSchema, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { storeOverHttp } from '../charon/store-under-test.ts';
import {
  addAs,
  attachEvidence,
  changesetId,
  correct,
  historyBuilder,
  openTempLethe,
  projectId,
  refName,
  relate,
  restore,
  supersede,
} from '../support/history-builder.ts';
import { testProposal } from '../support/merge-envelope.ts';
import { seen } from './seen.ts';

const demo = projectId('demo');
const main = refName('refs/shared/main');
const topic = 'refs/topics/t';
const other = 'refs/topics/other';
const unknown = changesetId('00000000-0000-7000-8000-00000000ffff');

/** A store with two branches that disagree, reached both ways. */
async function openBoth() {
  const temp = openTempLethe();
  const history = historyBuilder(temp);
  const root = await history.init();
  await history.branch(topic);
  await history.branch(other);
  const first = await history.commit(topic, [
    addAs('a', 'the door is <green> & “old”', { kind: 'fact', tags: ['x'], confidence: 0, visibility: 'shared' }),
    addAs('b/ü %2F', 'the wall is white', { kind: 'decision', scope: 'house' }),
  ]);
  await history.commit(topic, [correct('a', { content: 'the door is red' }), relate('a', 'beside', 'b/ü %2F')]);
  await history.commit(topic, [attachEvidence('a', { summary: 'seen' }), supersede('b/ü %2F', {})]);
  const left = await history.commit(other, [addAs('a', 'the door is blue', { kind: 'fact' })]);
  const reached = await storeOverHttp(temp);
  onTestFinished(async () => {
    await reached.close();
    temp.remove();
  });
  return { temp, history, root, first, left, near: temp.lethe satisfies MemoryStore, far: reached.store };
}

test('T153 every read answers and refuses over HTTP as it does here', async () => {
  const { history, root, first, left, near, far } = await openBoth();
  const head = history.head(topic);
  const at = { projectId: demo, refName: refName(topic) };
  const none = projectId('none');
  const sides = {
    projectId: demo,
    baseChangesetId: root.changeset_id,
    leftChangesetId: left.changeset_id,
    rightChangesetId: head,
  };
  const manifest = (await near.pinContext({ ...at, limit: 5, actorId: 'alice' })).manifest_id;
  const pinned = manifestIdSchema.parse(manifest);
  const asked: readonly ((store: MemoryStore) => unknown)[] = [
    (store) => store.listProjects(),
    (store) => store.getProject(demo),
    (store) => store.getProject(none),
    (store) => store.listRefs(demo, { limit: 2 }),
    (store) => store.listRefs(demo, { limit: 2, after: main }),
    (store) => store.listRefs(none, { limit: 2 }),
    (store) => store.findRef(demo, refName(topic)),
    (store) => store.findRef(demo, refName('refs/topics/none')),
    (store) => store.findRef(none, main),
    (store) => store.countAheadBehind({ projectId: demo, base: root.changeset_id, heads: [head, left.changeset_id] }),
    (store) => store.findChangeset(head),
    (store) => store.findChangeset(unknown),
    (store) => store.findChangesetByKey(demo, first.author_principal, first.idempotency_key),
    (store) => store.findChangesetByKey(demo, first.author_principal, 'none'),
    (store) => store.log({ ...at, limit: 2, allParents: false }),
    (store) => store.log({ ...at, limit: 50, allParents: true }),
    (store) => store.graph({ projectId: demo, limit: 2 }),
    (store) => store.graph({ projectId: none, limit: 2 }),
    (store) => store.isAncestor(root.changeset_id, head),
    (store) => store.isAncestor(head, root.changeset_id),
    (store) => store.isAncestor(unknown, root.changeset_id),
    (store) => store.context({ ...at, limit: 5 }),
    (store) => store.context({ ...at, limit: 5, query: 'door', kinds: ['fact'], tags: ['x'] }),
    (store) => store.context({ ...at, limit: 5, excluded: true }),
    (store) => store.context({ ...at, limit: 5, headChangesetId: left.changeset_id }),
    (store) => store.context({ ...at, limit: 5, headChangesetId: unknown }),
    (store) => store.context({ ...at, limit: 5, cursor: 'none' }),
    (store) => store.context({ ...at, limit: 5, refName: refName('refs/topics/none') }),
    (store) => store.totalActive(head),
    (store) => store.manifestContext(demo, pinned),
    (store) => store.manifestContext(demo, manifestIdSchema.parse(unknown)),
    (store) => store.search({ ...at, query: 'door', limit: 5 }),
    (store) => store.search({ ...at, query: 'door', limit: 5, headChangesetId: unknown }),
    (store) =>
      store.getMemory({ projectId: demo, memoryId: memoryIdSchema.parse('a'), headChangesetId: head, limit: 2 }),
    (store) => store.getMemory({ ...at, memoryId: memoryIdSchema.parse('b/ü %2F'), limit: 50 }),
    (store) => store.getMemory({ ...at, memoryId: memoryIdSchema.parse('none'), limit: 50 }),
    (store) => store.diff({ baseChangesetId: root.changeset_id, targetChangesetId: head, side: 'both', limit: 50 }),
    (store) => store.diff({ baseChangesetId: left.changeset_id, targetChangesetId: head, side: 'both', limit: 50 }),
    (store) => store.diff({ baseChangesetId: left.changeset_id, targetChangesetId: head, side: 'target', limit: 1 }),
    (store) => store.diff({ baseChangesetId: unknown, targetChangesetId: head, side: 'both', limit: 1 }),
    (store) => store.mergePreview({ projectId: demo, targetHead: left.changeset_id, head }),
    (store) => store.mergePreview({ projectId: demo, targetHead: unknown, head }),
    (store) => store.originators(root.changeset_id, head),
    (store) => store.detectConflicts(sides),
    (store) => store.detectConflicts({ ...sides, leftChangesetId: unknown }),
    (store) => store.listConflicts({ projectId: demo, limit: 5 }),
    (store) => store.listConflicts({ projectId: none, limit: 5 }),
    (store) => store.findAdvance({ projectId: demo, proposalId: testProposal }),
    (store) => store.listAdvances(demo, { limit: 5 }),
    (store) => store.listAdvances(none, { limit: 5 }),
    (store) => store.listAdvances(demo, { limit: 5, cursor: 'none' }),
    (store) => store.listRefMoves({ ...at, limit: 50 }),
    (store) => store.listRefMoves({ ...at, refName: refName('refs/topics/none'), limit: 50 }),
    (store) => store.listRefMoves({ ...at, limit: 50, cursor: 'none' }),
    (store) => store.verifyChain(demo),
    (store) => store.verifyChain(none),
  ];
  for (const ask of asked)
    expect([String(ask), await seen(() => ask(far))]).toEqual([String(ask), await seen(() => ask(near))]);
});

test('T153 every write is carried out and refused over HTTP as it is here, and the desk hears of it', async () => {
  const { temp, history, root, first, left, near, far } = await openBoth();
  const head = history.head(topic);
  const started = await far.initProject({ projectId: projectId('second'), principal: 'alice' });
  expect(started).toEqual({
    ...(await near.initProject({ projectId: projectId('second'), principal: 'x' })),
    created: true,
  });
  const made = { projectId: demo, refName: refName('refs/topics/new'), headChangesetId: head, principal: 'alice' };
  expect(await far.createRef(made)).toEqual(near.findRef(demo, made.refName));
  expect(await seen(() => far.createRef(made))).toMatchObject({ code: 'REF_EXISTS' });
  const end = { projectId: demo, refName: made.refName, expectedHead: head, principal: 'alice' };
  expect(await far.archiveRef(end)).toMatchObject({ archived: true, created_by_principal: 'alice' });
  expect(await seen(() => far.archiveRef({ ...end, expectedHead: unknown }))).toEqual(
    await seen(() => near.archiveRef({ ...end, expectedHead: unknown })),
  );

  const asked = history.request(topic, [correct('a', { content: 'the door is grey' })], { actorId: 'alice' });
  const committed = await far.commit(asked);
  expect(committed).toEqual(near.findChangeset(committed.changeset_id));
  expect(await far.commit(asked)).toEqual(committed);
  for (const wrong of [
    { ...asked, message: 'another' },
    { ...asked, idempotencyKey: 'fresh' },
    history.request(topic, [correct('none', { content: 'x' })]),
    history.request(topic, [{ op_type: 'add_memory', payload: { content: '' } }]),
    history.request(topic, [restore('a', first.changeset_id)]),
  ])
    expect(await seen(() => far.commit(wrong))).toEqual(await seen(() => near.commit(wrong)));
  const back = await far.commit({ ...history.request(topic, [restore('a', first.changeset_id)]), mayRestore: true });
  expect(near.findChangeset(back.changeset_id)).toEqual(back);

  const sides = {
    projectId: demo,
    baseChangesetId: root.changeset_id,
    leftChangesetId: left.changeset_id,
    rightChangesetId: head,
  };
  const found = near.detectConflicts(sides).map((one) => one.conflict_id);
  const [conflictId = ''] = found;
  expect(found.length).toBeGreaterThan(0);
  const bound = { sides, proposalId: proposalIdSchema.parse(testProposal), conflictIds: found, principal: 'alice' };
  const kept = await far.persistConflicts(bound);
  expect(kept).toEqual(await near.persistConflicts(bound));
  const [resolvable] = kept;
  if (resolvable === undefined) throw new Error(`nothing was kept of ${conflictId}`);
  const settle = { projectId: demo, conflictId: resolvable.conflict_id, note: 'as it is', principal: 'alice' };
  expect(await far.resolveConflict(settle)).toMatchObject({ status: 'resolved', resolution_note: 'as it is' });
  expect(await seen(() => far.resolveConflict(settle))).toEqual(await seen(() => near.resolveConflict(settle)));
  const retired = { projectId: demo, proposalId: bound.proposalId, status: 'canceled' as const };
  expect(await far.retireConflicts(retired)).toBe(found.length - 1);
  expect(await far.retireConflicts(retired)).toBe(0);

  const output = {
    ...{ projectId: demo, refName: topic, headChangesetId: head, baseChangesetId: root.changeset_id },
    ...{ proposedTargetRef: main, mergeProposalId: testProposal, unresolvedConflicts: found },
  };
  const recorded = await far.recordOutputManifest(output);
  expect(await far.recordOutputManifest(output)).toEqual(recorded);
  const pin = { projectId: demo, refName: refName(topic), limit: 5, actorId: 'alice' };
  expect(await far.pinContext(pin)).toEqual(await near.pinContext(pin));
  await expect(temp.lethe.verifyChain(demo)).resolves.toMatchObject({ ok: true });
});
