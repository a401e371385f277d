import { describe, expect, test } from 'vitest';
import { openForeignFile } from '../../src-main/lethe/import/foreign-file.ts';
import { type ForeignSurvey, surveyFile } from '../../src-main/lethe/import/survey.ts';
import { fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import {
  fillSessions,
  openReferenceGit,
  openReferenceSessions,
  referenceHistory,
} from '../support/reference-stores.ts';

async function survey(path: string): Promise<ForeignSurvey> {
  const file = openForeignFile(path);
  try {
    return await surveyFile(file);
  } finally {
    file.close();
  }
}

describe('what a file is found to hold', () => {
  test('L260 a store of 0.3 is read with all its rows', async () => {
    const found = await survey(makeReferenceFile(openReferenceSessions, (store) => fillSessions(store)));
    expect(found.kind).toBe('sessions');
    expect(found.projects).toMatchObject([
      { projectId: 'project-1', name: 'A project', createdAt: '2026-07-12T20:59:45.175898Z' },
    ]);
    const { agents, sessions, threads, events, checkpoints, links } = found.sessions;
    expect([agents.size, sessions.size, checkpoints, links, threads.size, events.length]).toEqual([1, 3, 1, 1, 1, 5]);
    expect(found.git.changesets.size).toBe(0);
  });

  test('L261 a store of 0.4 is read with its history verified, parents before children', async () => {
    let made = { left: '', right: '', merge: '', root: '' };
    const path = makeReferenceFile(openReferenceGit, (store) => {
      fillSessions(store, 'demo');
      const history = referenceHistory(store);
      made = fillHistory(history);
    });
    const { git, kind } = await survey(path);
    expect(kind).toBe('git');
    expect(git.order).toEqual([made.root, made.left, made.right, made.merge]);
    expect(git.roots.get('demo')).toBe(made.root);
    expect(git.refs.map(({ refName, head }) => [refName, head])).toEqual([
      ['refs/agents/a/main', made.left],
      ['refs/agents/b/main', made.right],
      ['refs/shared/main', made.merge],
    ]);
    expect(git.changesets.get(made.merge)).toMatchObject({
      digestVersion: 2,
      createdAt: '2026-07-12T21:00:49.000000004Z',
    });
  });
});
