import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImportPlan } from '../../src-main/lethe/import/plan.ts';
import {
  addAs,
  changesetId,
  historyBuilder,
  openTempLethe,
  projectId,
  refName,
  type TempLethe,
  testOwner,
} from '../support/history-builder.ts';
import { addedMemory, fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import {
  fillSessions,
  openReferenceGit,
  openReferenceSessions,
  type ReferenceHistory,
  referenceHistory,
} from '../support/reference-stores.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const demo = projectId('demo');
const main = refName('refs/shared/main');

async function bring(path: string): Promise<ImportPlan> {
  const { contentDigest } = await temp.lethe.inspectImport({ path });
  return temp.lethe.importFile({ path, contentDigest, principal: testOwner });
}

const gitFile = (fill: (history: ReferenceHistory) => void, seed?: string): string =>
  makeReferenceFile(openReferenceGit, (store) => fill(referenceHistory(store, 'demo', seed)));

const expectSound = async (project = demo): Promise<void> => {
  expect(await temp.lethe.verifyChain(project)).toMatchObject({ ok: true, findings: [] });
};

const idsAt = (ref: string): readonly string[] =>
  temp.lethe
    .context({ projectId: demo, refName: refName(ref), limit: 100 })
    .memories.map((memory) => memory.memory_id)
    .sort();

describe('a project that is unknown here', () => {
  test('L270 a store of 0.3 comes with its sessions, and its events are the memory of its project', async () => {
    const path = makeReferenceFile(openReferenceSessions, (store) => fillSessions(store));
    const plan = await bring(path);
    expect(plan).toMatchObject({ isEmpty: false, newSessionRows: 8, projects: [{ mode: 'start', newEvents: 5 }] });
    const context = temp.lethe.context({ projectId: projectId('project-1'), refName: main, limit: 10 });
    expect(context.total_active).toBe(5);
    expect(context.memories.map((memory) => memory.memory_id).sort()).toEqual(
      [1, 2, 3, 4, 5].map((count) => `event-${count}`),
    );
    expect(temp.lethe.getSession('key-completed')).toMatchObject({
      session_id: 'session-completed',
      status: 'completed',
      ended_at: '2026-07-12T20:59:45.175898Z',
    });
    await expectSound(projectId('project-1'));
  });

  test('L271 a store of 0.4 comes whole: ids, times, digests and heads are those of the file', async () => {
    let made = { root: '', left: '', right: '', merge: '' };
    const path = gitFile((history) => {
      made = fillHistory(history);
    });
    const plan = await bring(path);
    expect(plan.projects).toMatchObject([{ mode: 'whole', newChangesets: 4, refs: [{}, {}, {}] }]);
    expect(temp.lethe.findRef(demo, main)).toMatchObject({ head_changeset_id: made.merge, protected: true });
    expect(temp.lethe.getProject(demo)).toMatchObject({ created_at: '2026-07-12T20:59:45.175898Z' });
    expect(temp.lethe.findChangeset(changesetId(made.merge))).toMatchObject({
      parent_ids: [made.left, made.right],
      created_at: '2026-07-12T21:00:49.000000004Z',
    });
    expect(idsAt('refs/shared/main')).toEqual(['l', `mem:${made.merge}:0`, 'r'].sort());
    await expectSound();
  });

  test('L272 the baseline of a root is what the file froze, and what came later is no memory', async () => {
    const path = makeReferenceFile(openReferenceGit, (store) => {
      fillSessions(store, 'demo');
      const { root, commit, advance } = referenceHistory(store);
      store.insert('events', {
        ...{ event_id: 'later', project_id: 'demo', event_type: 'log', content: 'after the root' },
        created_at: '2027-01-01 00:00:00',
      });
      const correct = { op_type: 'correct_memory', target_event_id: 'event-1', payload: { content: 'corrected' } };
      advance('refs/shared/main', root, commit({ ref: 'refs/agents/a/main', parents: [root], ops: [correct] }));
    });
    await bring(path);
    const { memories } = temp.lethe.context({ projectId: demo, refName: main, limit: 10 });
    expect(memories.map((memory) => [memory.memory_id, memory.content, memory.source])).toEqual([
      ['event-1', 'corrected', 'memory_git'],
      ...['Of the project alone', 'Mend the stairs', 'Is the bell cracked?', 'The keeper was seen'].map(
        (content, index) => [`event-${5 - index}`, content, 'legacy_event'],
      ),
    ]);
    await expectSound();
  });

  test('L273 a merge that decided nothing about what both sides changed is taken as it was made', async () => {
    const path = gitFile(({ root, commit, advance }) => {
      const ref = 'refs/agents/a/main';
      const base = commit({ ref, parents: [root], ops: [addedMemory('first', 'm'), addedMemory('other', 'n')] });
      const correct = (content: string) => ({
        op_type: 'correct_memory',
        target_event_id: 'm',
        payload: { content, tags: [content] },
      });
      const left = commit({ ref, parents: [base], ops: [correct('left')] });
      const right = commit({ ref, parents: [base], ops: [correct('right')] });
      advance('refs/shared/main', root, commit({ ref, parents: [left, right], ops: [addedMemory('merged', 'k')] }));
    });
    await bring(path);
    const { memories } = temp.lethe.context({ projectId: demo, refName: main, limit: 10 });
    expect(memories.find((memory) => memory.memory_id === 'm')).toMatchObject({ content: 'right', tags: ['right'] });
    await expectSound();
  });

  test('L274 a digest of the first algorithm is verified by its own rule and kept', async () => {
    let merge = '';
    const path = makeReferenceFile(openReferenceGit, (store) => {
      store.db.exec("DELETE FROM schema_versions WHERE name = '011_changeset_digests_v2'");
      const { root, commit, advance } = referenceHistory(store);
      const ref = 'refs/agents/a/main';
      const sides = ['one', 'two'].map((content) => commit({ ref, parents: [root], ops: [addedMemory(content)] }));
      merge = commit({ ref, parents: sides.toSorted().toReversed(), ops: [addedMemory('merged')], isFirst: true });
      advance('refs/shared/main', root, merge);
    });
    await bring(path);
    expect(temp.lethe.findChangeset(changesetId(merge))?.ops).toHaveLength(1);
    await expectSound();
  });

  test('L275 a ref whose name is none here lands under the prefix of the file', async () => {
    const path = gitFile(({ root, ref, commit }) => {
      ref(' weird ../name ', commit({ ref: ' weird ../name ', parents: [root], ops: [addedMemory('x')] }));
      ref('refs/topics/plain', root);
    });
    const { projects, contentDigest } = await bring(path);
    const lands = projects[0]?.refs.map(({ ref, landsAs }) => [ref.refName, landsAs]);
    const prefix = `refs/imported/${contentDigest.slice(0, 8)}/renamed/`;
    expect(lands).toEqual([
      [' weird ../name ', expect.stringMatching(new RegExp(`^${prefix}-weird-..-name--[0-9a-f]{16}$`))],
      ['refs/shared/main', 'refs/shared/main'],
      ['refs/topics/plain', 'refs/topics/plain'],
    ]);
    await expectSound();
  });

  test('L276 a second import of the same content adds nothing, whatever the pages of the file look like', async () => {
    const path = gitFile(fillHistory);
    await bring(path);
    const before = temp.db.counters.rowsWritten;
    const again = makeReferenceFile(openReferenceGit, (store) => {
      fillHistory(referenceHistory(store));
      store.db.exec('VACUUM');
    });
    const plan = await bring(again);
    expect(plan).toMatchObject({ isEmpty: true, importedAt: '2026-11-30T12:00:00Z' });
    expect(temp.db.counters.rowsWritten).toBe(before);
  });
});

test('L17 a key that the file used is used here, and where the file kept no digest of its request nothing replays it', async () => {
  let made = '';
  const author = 'principal_00000000000000a1';
  const path = makeReferenceFile(openReferenceGit, (store) => {
    const { root, commit, ref } = referenceHistory(store);
    const more = { author_principal: author, idempotency_key: 'key-1' };
    made = commit({ ref: 'refs/topics/t', parents: [root], ops: [addedMemory('x', 'x')], more });
    ref('refs/topics/t', made);
    store.db.exec("UPDATE memory_changesets SET request_digest = ''");
  });
  await bring(path);
  const { parent_ids: parents = [], message = '' } = temp.lethe.findChangeset(changesetId(made)) ?? {};
  const history = historyBuilder(temp, 'demo', author);
  const same = { parentIds: parents.map((id) => changesetId(id)), message, expectedHead: undefined, advanceRef: false };
  const request = history.request('refs/topics/t', [addAs('x', 'x')], same);
  expect(request.idempotencyKey).toBe('key-1');
  await expect(temp.lethe.commit(request)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_MISMATCH',
    data: { changeset_id: made },
  });
  expect(temp.lethe.findChangesetByKey(demo, author, 'key-1')?.changeset_id).toBe(made);
});

test('L287 whoever waits is told how far it has come, from the first row to the last', async () => {
  const path = gitFile(fillHistory);
  const told: (readonly [number, number])[] = [];
  const onProgress = (done: number, total: number): void => void told.push([done, total]);
  const { contentDigest } = await temp.lethe.inspectImport({ path, onProgress });
  const rows = told.at(-1)?.[1] ?? 0;
  expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).toSorted((left, right) => left - right));
  expect(told.at(-1)).toEqual([rows, rows]);
  await temp.lethe.importFile({ path, contentDigest, principal: testOwner, onProgress });
  expect(told.at(-1)).toEqual([4, 4]);
});

test('L264 what is in the way of rows that are here refuses the file whole', async () => {
  const make = (checkpoint: string): string =>
    makeReferenceFile(openReferenceSessions, (store) => {
      fillSessions(store);
      store.db.exec(`UPDATE checkpoints SET checkpoint_id = '${checkpoint}'`);
      store.insert('agents', { agent_id: checkpoint, name: checkpoint });
    });
  await bring(make('first'));
  const before = temp.db.query<[], object>('SELECT * FROM lethe_agents').all();
  await expect(bring(make('second'))).rejects.toMatchObject({
    code: 'IMPORT_REFUSED',
    data: { reason: expect.stringMatching(/in the way/) },
  });
  expect(temp.db.query<[], object>('SELECT * FROM lethe_agents').all()).toEqual(before);
});

describe('a project that is here', () => {
  test('L280 its refs do not move: those of the file land beside them, unprotected', async () => {
    const history = historyBuilder(temp);
    await history.init();
    await history.branch('refs/agents/a/main');
    await history.commit('refs/agents/a/main', [addAs('own', 'of this store')]);
    const heads = temp.lethe.listRefs(demo, { limit: 10 });
    let made = { root: '', left: '', right: '', merge: '' };
    const path = gitFile((foreign) => {
      made = fillHistory(foreign);
    });
    const { projects, contentDigest } = await bring(path);
    expect(projects).toMatchObject([{ mode: 'beside', newChangesets: 4, knownChangesets: 0 }]);
    const prefix = `refs/imported/${contentDigest.slice(0, 8)}/`;
    expect(temp.lethe.listRefs(demo, { limit: 10 })).toEqual([
      ...heads.slice(0, 1),
      ...['agents/a/main', 'agents/b/main', 'shared/main'].map((name) =>
        expect.objectContaining({ ref_name: `${prefix}${name}`, protected: false, created_by_principal: testOwner }),
      ),
      ...heads.slice(1),
    ]);
    expect(temp.lethe.findChangeset(changesetId(made.root))).toMatchObject({ idempotency_key: 'legacy-root' });
    expect(idsAt(`${prefix}shared/main`)).toEqual(['l', `mem:${made.merge}:0`, 'r'].sort());
    await expectSound();
  });

  test('L272 a root that comes beside another one brings what it froze, unless that is memory here already', async () => {
    const history = historyBuilder(temp);
    await history.init();
    const make = (seed: string, prefix = ''): string =>
      makeReferenceFile(openReferenceGit, (store) => {
        fillSessions(store, 'demo', prefix);
        const { root, commit, ref } = referenceHistory(store, 'demo', seed);
        const correct = {
          op_type: 'correct_memory',
          target_event_id: `${prefix}event-2`,
          payload: { content: 'corrected' },
        };
        ref('refs/topics/t', commit({ ref: 'refs/topics/t', parents: [root], ops: [correct, addedMemory('x', seed)] }));
      });
    const { contentDigest } = await bring(make('one'));
    const topic = `refs/imported/${contentDigest.slice(0, 8)}/topics/t`;
    expect(idsAt(topic)).toEqual([...[1, 2, 3, 4, 5].map((count) => `event-${count}`), 'one']);
    expect(idsAt('refs/shared/main')).toEqual([]);
    await expectSound();
    await expect(bring(make('two'))).rejects.toMatchObject({
      data: { reason: expect.stringMatching(/the events that the root of the file froze are memories here/) },
    });
    await bring(make('three', 'other-'));
    await expectSound();
    expect(await bring(make('one'))).toMatchObject({ isEmpty: true });
  });

  test('L281 a file that has grown adds what is new of it and no more', async () => {
    const grown = (more: boolean): string =>
      gitFile((history) => {
        const { merge } = fillHistory(history);
        if (!more) return;
        const next = history.commit({ ref: 'refs/shared/main', parents: [merge], ops: [addedMemory('later', 'z')] });
        history.advance('refs/shared/main', merge, next);
      });
    await bring(grown(false));
    const plan = await bring(grown(true));
    expect(plan.projects).toMatchObject([{ mode: 'beside', newChangesets: 1, knownChangesets: 4, knownRefs: 2 }]);
    expect(plan.projects[0]?.refs.map(({ landsAs }) => landsAs)).toEqual([
      `refs/imported/${plan.contentDigest.slice(0, 8)}/shared/main`,
    ]);
    expect(await bring(grown(true))).toMatchObject({ isEmpty: true });
    expect(await bring(grown(false))).toMatchObject({ isEmpty: true });
    await expectSound();
  });

  test('L282 who wrote what came from a file is nobody here, and their keys are none of this store', async () => {
    const history = historyBuilder(temp);
    const root = await history.init();
    const author = testOwner;
    const path = gitFile(({ root: foreign, commit, ref }) => {
      const more = { author_principal: author, idempotency_key: 'key-9' };
      ref(
        'refs/agents/x/main',
        commit({ ref: 'refs/agents/x/main', parents: [foreign], ops: [addedMemory('x')], more }),
      );
    });
    const { projects } = await bring(path);
    const landed = projects[0]?.refs[0];
    expect(temp.lethe.originators(root.changeset_id, changesetId(landed?.ref.head ?? ''))).toEqual([
      `imported:${author}`,
      'imported:system',
    ]);
    await history.branch('refs/agents/a/main');
    const request = { authorPrincipal: author, idempotencyKey: 'key-9' };
    const own = await history.commit('refs/agents/a/main', [addAs('own', 'of this store')], request);
    expect(own.changeset_id).not.toBe(landed?.ref.head);
    await expectSound();
  });
});
