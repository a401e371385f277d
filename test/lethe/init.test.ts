import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { historyBuilder, openTempLethe, projectId, refName, type TempLethe } from '../support/history-builder.ts';

let temp: TempLethe;
beforeEach(() => {
  temp = openTempLethe();
});
afterEach(() => temp.remove());

const demo = projectId('demo');
const main = refName('refs/shared/main');

function countRows(table: string): number {
  return temp.db.query<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;
}

describe('starting a project', () => {
  test('L1 writes project, root, baseline and the protected main ref, with the digest of the golden vector', async () => {
    const { changeset, ref, created } = await temp.lethe.initProject({ projectId: demo, principal: 'principal_owner' });

    expect(created).toBe(true);
    expect(changeset).toMatchObject({
      project_id: 'demo',
      ref_name: 'refs/shared/main',
      parent_ids: [],
      author_principal: 'system',
      actor_id: 'system',
      idempotency_key: 'legacy-root',
      integrity_digest: 'bd2c238d21f772dfed7034a57364c9fe649c70a86b3a242f30044cc525d5ac1c',
    });
    expect(changeset.ops).toBeUndefined();
    expect(ref).toMatchObject({
      ref_name: 'refs/shared/main',
      head_changeset_id: changeset.changeset_id,
      protected: true,
      created_by_principal: 'principal_owner',
    });
    expect(temp.lethe.listProjects()).toEqual([
      { project_id: 'demo', name: 'demo', created_at: '2026-11-30T12:00:00Z', updated_at: '2026-11-30T12:00:00Z' },
    ]);
    expect(temp.db.query('SELECT root_seq, event_ids, captured_through FROM memory_legacy_baselines').all()).toEqual([
      { root_seq: 1, event_ids: '[]', captured_through: '2026-11-30T12:00:00Z' },
    ]);
    expect(temp.events.map((event) => event.kind)).toEqual(['project_created', 'ref_moved']);
  });

  test('L1 a start that fails on the way leaves nothing of the project', async () => {
    temp.db.exec("CREATE TEMP TRIGGER stop BEFORE INSERT ON main.memory_refs BEGIN SELECT RAISE(ABORT, 'stop'); END");
    await expect(temp.lethe.initProject({ projectId: demo, principal: 'p' })).rejects.toThrow('stop');
    for (const table of [
      'memory_projects',
      'memory_changesets',
      'memory_legacy_baselines',
      'memory_refs',
      'memory_ref_moves',
      'memory_places',
    ]) {
      expect([table, countRows(table)]).toEqual([table, 0]);
    }
    expect(temp.events).toEqual([]);
  });

  test('L2 starting it again answers the same root and the ref as it is now', async () => {
    const first = await temp.lethe.initProject({ projectId: demo, principal: 'a' });
    temp.clock.advance(60_000);
    const again = await temp.lethe.initProject({ projectId: demo, principal: 'b' });
    expect(again).toEqual({ ...first, created: false });
    expect(countRows('memory_changesets')).toBe(1);
    expect(countRows('memory_ref_moves')).toBe(1);
  });

  test('L2 twenty starts at the same moment make one project', async () => {
    const starts = await Promise.all(
      Array.from({ length: 20 }, () => temp.lethe.initProject({ projectId: demo, principal: 'a' })),
    );
    expect(starts.filter((start) => start.created)).toHaveLength(1);
    expect(new Set(starts.map((start) => start.changeset.changeset_id)).size).toBe(1);
    expect(countRows('memory_projects')).toBe(1);
  });

  test('L1 each project has a root of its own', async () => {
    const one = await temp.lethe.initProject({ projectId: demo, principal: 'a' });
    const other = await temp.lethe.initProject({ projectId: projectId('other'), principal: 'a' });
    expect(other.changeset.changeset_id).not.toBe(one.changeset.changeset_id);
    expect(other.changeset.integrity_digest).not.toBe(one.changeset.integrity_digest);
    expect(temp.lethe.listProjects().map((project) => project.project_id)).toEqual(['demo', 'other']);
  });

  test('L1 a project id that is none is refused by name', async () => {
    // A caller that went around the door: the brand is a lie here on purpose.
    const bad = JSON.parse('"*"');
    await expect(temp.lethe.initProject({ projectId: bad, principal: 'a' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'project' },
    });
    expect(countRows('memory_projects')).toBe(0);
  });

  test('L3 reads create nothing and say what is missing', async () => {
    const { lethe } = temp;
    expect(() => lethe.getProject(demo)).toThrow(expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }));
    expect(() => lethe.listRefs(demo, { limit: 10 })).toThrow(expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }));
    expect(() => lethe.log({ projectId: demo, refName: main, limit: 10, allParents: false })).toThrow(
      expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }),
    );
    expect(() => lethe.graph({ projectId: demo, limit: 10 })).toThrow(
      expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }),
    );
    expect(() => lethe.listAdvances(demo, { limit: 10 })).toThrow(
      expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }),
    );
    expect(lethe.findRef(demo, main)).toBeUndefined();
    expect(countRows('memory_projects')).toBe(0);
    await historyBuilder(temp).init();
    expect(() =>
      lethe.log({ projectId: demo, refName: refName('refs/agents/a/main'), limit: 10, allParents: false }),
    ).toThrow(expect.objectContaining({ code: 'REF_NOT_FOUND', data: { ref: 'refs/agents/a/main' } }));
  });
});
