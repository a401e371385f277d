import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import { verifyProjection } from '../../src-main/lethe/projection/verify.ts';
import {
  add,
  addAs,
  attachEvidence,
  attachVerification,
  correct,
  deprecate,
  duplicate,
  historyBuilder,
  openTempLethe,
  relate,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

let temp: TempLethe;

beforeEach(async () => {
  temp = openTempLethe();
  const history = historyBuilder(temp);
  await history.init();
  await history.branch('refs/topics/one');
  await history.commit('refs/topics/one', [
    addAs('first', 'the first memory', { kind: 'fact' }),
    add('the second memory'),
  ]);
  await history.branch('refs/topics/two', 'refs/topics/one');
  await history.commit('refs/topics/one', [correct('first', { scope: 'desk' })]);
  await history.commit('refs/topics/two', [addAs('other', 'made elsewhere')]);
  await history.mergeInto('refs/topics/one', 'refs/topics/two');
  await history.commit('refs/topics/one', [
    correct('first', { content: 'the first memory, renamed' }, 'renamed'),
    supersede('other'),
  ]);
  await history.commit('refs/topics/one', [
    addAs('twin', 'said twice'),
    addAs('stays', 'said twice, stays'),
    attachEvidence('stays', { note: 'the first' }),
    attachVerification('stays', { note: 'checked' }),
    attachEvidence('stays', { note: 'the second' }),
    relate('twin', 'repeats', 'stays'),
    duplicate('twin', 'stays'),
    deprecate('renamed'),
  ]);
});
afterEach(() => temp.remove());

async function problems(): Promise<readonly string[]> {
  const findings = openFindings();
  const history = historyBuilder(temp);
  await verifyProjection(
    (chunk) => temp.db.reading(() => chunk(temp.db)),
    history.project,
    findings,
    async () => {},
  );
  return findings.list.map(({ problem }) => problem);
}

describe('verifying the derived index', () => {
  test('L118 an index that equals its history has no findings', async () => {
    expect(await problems()).toEqual([]);
  });

  test.each([
    ['a lost touch', 'DELETE FROM memory_touches WHERE key = (SELECT max(key) FROM memory_touches)'],
    [
      'a touch that says retired',
      'UPDATE memory_touches SET status = 2 WHERE key = (SELECT min(key) FROM memory_touches)',
    ],
    ['a touch of another state', 'UPDATE memory_touches SET version = memory WHERE key > memory AND linked IS NULL'],
    ['a wrong count of active memories', 'UPDATE memory_places SET active = active + 1 WHERE seq = 4'],
    ['a wrong second parent', 'UPDATE memory_places SET second_parent = 1 WHERE second_parent <> 0'],
    ['a wrong jump', 'UPDATE memory_places SET jump = 1 WHERE depth > 1'],
    ['a lost vector', 'UPDATE memory_places SET vector = NULL WHERE second_parent <> 0'],
    ['a lost version', 'DELETE FROM memory_versions'],
    ['another chosen id', "UPDATE memory_ids SET memory_id = 'forged' WHERE memory_id = 'first'"],
    ['a lost attachment', 'DELETE FROM memory_attachments WHERE op = (SELECT min(op) FROM memory_attachments)'],
    [
      'an attachment that leaves out those before it',
      'UPDATE memory_attachments SET previous = NULL, count = 1 WHERE previous IS NOT NULL',
    ],
    ['an attachment too many', 'INSERT INTO memory_attachments (op, previous, count) VALUES (131072, NULL, 1)'],
    [
      'a state that says something else was attached',
      `UPDATE memory_versions SET body = json_remove(body, '$.v') WHERE json_extract(body, '$.v') IS NOT NULL`,
    ],
    ['a duplicate that is active', 'UPDATE memory_touches SET status = 1 WHERE status = 4'],
    ['a deprecation that nobody proposed', 'UPDATE memory_touches SET status = 5 WHERE status = 1'],
    [
      'a relationship turned around',
      'UPDATE memory_relationships SET from_memory = to_memory, to_memory = from_memory',
    ],
    ['a relationship in another chain', 'UPDATE memory_relationships SET chain = chain + 1'],
    [
      'a relationship that is not found at its end',
      'DELETE FROM memory_relationship_ends WHERE memory = (SELECT to_memory FROM memory_relationships)',
    ],
    [
      'a relationship found at a third memory',
      'INSERT INTO memory_relationship_ends (op, memory, chain) SELECT op, 1, chain FROM memory_relationships',
    ],
    [
      'a lost relationship',
      'PRAGMA foreign_keys = OFF; DELETE FROM memory_relationship_ends; DELETE FROM memory_relationships',
    ],
    ['a changeset without a place', 'PRAGMA foreign_keys = OFF; DELETE FROM memory_places WHERE seq = 2'],
  ])('L118 %s is found', async (_, sql) => {
    temp.db.exec(sql);
    expect(await problems()).not.toEqual([]);
  });
});
