import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImportPlan } from '../../src-main/lethe/import/plan.ts';
import {
  changesetId,
  openTempLethe,
  projectId,
  refName,
  type TempLethe,
  testOwner,
} from '../support/history-builder.ts';
import { fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import {
  fillSessions,
  openReferenceGit,
  openReferenceSessions,
  referenceHistory,
} from '../support/reference-stores.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

async function bring(path: string): Promise<ImportPlan> {
  const { contentDigest } = await temp.lethe.inspectImport({ path });
  return temp.lethe.importFile({ path, contentDigest, principal: testOwner });
}

const verified = (project: string) => temp.lethe.verifyChain(projectId(project));

describe('a project that is unknown here', () => {
  test('L270 a store of 0.3 comes with its sessions, and its events are the memory of its project', async () => {
    const path = makeReferenceFile(openReferenceSessions, (store) => fillSessions(store));
    const plan = await bring(path);
    expect(plan.projects).toMatchObject([{ mode: 'start', newEvents: 5 }]);
    const context = temp.lethe.context({
      projectId: projectId('project-1'),
      refName: refName('refs/shared/main'),
      limit: 10,
    });
    expect(context.total_active).toBe(5);
    expect(context.memories.map((memory) => memory.memory_id).sort()).toEqual([
      'event-1',
      'event-2',
      'event-3',
      'event-4',
      'event-5',
    ]);
    expect(await verified('project-1')).toMatchObject({ ok: true, findings: [] });
  });

  test('L271 a store of 0.4 comes whole: ids, times, digests and heads are those of the file', async () => {
    let made = { root: '', left: '', right: '', merge: '' };
    const path = makeReferenceFile(openReferenceGit, (store) => {
      fillSessions(store, 'demo');
      made = fillHistory(referenceHistory(store));
    });
    const plan = await bring(path);
    expect(plan.projects).toMatchObject([{ mode: 'whole', newChangesets: 4, refs: [{}, {}, {}] }]);
    const main = temp.lethe.findRef(projectId('demo'), refName('refs/shared/main'));
    expect(main).toMatchObject({ head_changeset_id: made.merge, protected: true });
    const merge = temp.lethe.findChangeset(changesetId(made.merge));
    expect(merge).toMatchObject({ parent_ids: [made.left, made.right], created_at: '2026-07-12T21:00:49.000000004Z' });
    expect(await verified('demo')).toMatchObject({ ok: true, findings: [] });
  });
});
