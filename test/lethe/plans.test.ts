import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findAdvanceById,
  findAdvanceOfMove,
  findAdvanceOfNonce,
  findAdvanceOfProposal,
  listAdvancesBefore,
} from '../../src-main/lethe/tables/advances.ts';
import { listAttestationRows } from '../../src-main/lethe/tables/attestations.ts';
import { findAuthorization, listAuthorizationsAfter } from '../../src-main/lethe/tables/authorizations.ts';
import { findBaseline } from '../../src-main/lethe/tables/baselines.ts';
import {
  findChangesetRow,
  findChangesetRowByKey,
  findChangesetRowBySeq,
  findFirstParentSeq,
  findNextOwner,
  findRootRow,
  listAuthorsOfRun,
  listChangesetRowsAfter,
  listChangesetRowsBefore,
  listParents,
  listParentsOfRange,
  listSeqsBefore,
} from '../../src-main/lethe/tables/changesets.ts';
import {
  findImportedChangeset,
  findImportedProject,
  findImportedRecord,
  findImportOf,
  listImportedRecordsAfter,
  listImportedRefs,
} from '../../src-main/lethe/tables/imports.ts';
import {
  findManifestRow,
  listManifestRowsAfter,
  listManifestRowsOfReply,
} from '../../src-main/lethe/tables/manifests.ts';
import { findOpPayload, listOpRows } from '../../src-main/lethe/tables/ops.ts';
import { findProject } from '../../src-main/lethe/tables/projects.ts';
import { listMovesOfRef } from '../../src-main/lethe/tables/ref-move-pages.ts';
import {
  findFirstMove,
  findLastHeadKey,
  findLastMove,
  findMoveAt,
  findMoveBySeq,
  listMovesAfter,
  nextMoveSeq,
} from '../../src-main/lethe/tables/ref-moves.ts';
import { findRef, listRefs } from '../../src-main/lethe/tables/refs.ts';
import type { ReadableDb } from '../../src-main/sqlite/driver.ts';
import { add, historyBuilder, openTempLethe, projectId, type TempLethe } from '../support/history-builder.ts';

let temp: TempLethe;
beforeAll(async () => {
  temp = openTempLethe();
  const history = historyBuilder(temp);
  await history.init();
  await history.branch('refs/agents/a/main');
  await history.commit('refs/agents/a/main', [add('x')]);
});
afterAll(() => temp.remove());

/** The statements that a table function runs, explained. */
function plansOf(read: (db: ReadableDb) => unknown): string[] {
  const statements: string[] = [];
  const recording: ReadableDb = {
    counters: temp.db.counters,
    reading: (work) => work(),
    query: (sql) => {
      statements.push(sql);
      return temp.db.query(sql);
    },
  };
  read(recording);
  return statements.flatMap((sql) => temp.db.explain(sql.replaceAll('?', '1')));
}

const demo = projectId('demo');
const reads: readonly [string, (db: ReadableDb) => unknown][] = [
  ['findProject', (db) => findProject(db, demo)],
  ['findChangesetRow', (db) => findChangesetRow(db, 'c')],
  ['findChangesetRowBySeq', (db) => findChangesetRowBySeq(db, 1)],
  ['findChangesetRowByKey', (db) => findChangesetRowByKey(db, demo, 'a', 'k')],
  ['findRootRow', (db) => findRootRow(db, demo)],
  ['findNextOwner', (db) => findNextOwner(db, '')],
  ['listChangesetRowsBefore', (db) => listChangesetRowsBefore(db, demo, 9, 9)],
  ['listChangesetRowsAfter', (db) => listChangesetRowsAfter(db, demo, 0, 9)],
  ['listSeqsBefore', (db) => listSeqsBefore(db, demo, 9, 9)],
  ['listParents', (db) => listParents(db, 2)],
  ['listParentsOfRange', (db) => listParentsOfRange(db, 1, 2)],
  ['findFirstParentSeq', (db) => findFirstParentSeq(db, 2)],
  ['listOpRows', (db) => listOpRows(db, 1, 2)],
  ['findOpPayload', (db) => findOpPayload(db, 131_072)],
  ['listAttestationRows', (db) => listAttestationRows(db, 1, 2)],
  ['findRef', (db) => findRef(db, demo, 'r')],
  ['listRefs, all', (db) => listRefs(db, demo, '', 9, 'all')],
  ['listRefs, in use', (db) => listRefs(db, demo, '', 9, 'in use')],
  ['findLastMove', (db) => findLastMove(db, demo, 'refs/agents/a/main')],
  ['findFirstMove', (db) => findFirstMove(db, demo, 'refs/agents/a/main')],
  ['findMoveAt', (db) => findMoveAt(db, demo, 'refs/agents/a/main', 9e15)],
  ['findMoveBySeq', (db) => findMoveBySeq(db, 1)],
  ['listMovesAfter', (db) => listMovesAfter(db, 0, 9)],
  ['listMovesOfRef', (db) => listMovesOfRef(db, demo, 'refs/agents/a/main', undefined, 9)],
  ['nextMoveSeq', (db) => nextMoveSeq(db)],
  ['findBaseline', (db) => findBaseline(db, demo)],
  ['findAuthorization', (db) => findAuthorization(db, 'n')],
  ['listAuthorizationsAfter', (db) => listAuthorizationsAfter(db, '', 9)],
  ['findAdvanceOfProposal', (db) => findAdvanceOfProposal(db, demo, 'p')],
  ['findAdvanceById', (db) => findAdvanceById(db, 'a')],
  ['findAdvanceOfMove', (db) => findAdvanceOfMove(db, 1)],
  ['findAdvanceOfNonce', (db) => findAdvanceOfNonce(db, 'n')],
  ['listAdvancesBefore', (db) => listAdvancesBefore(db, demo, 9, 9)],
  ['findImportOf', (db) => findImportOf(db, 'd')],
  ['findImportedProject', (db) => findImportedProject(db, demo)],
  ['findImportedChangeset', (db) => findImportedChangeset(db, 1)],
  ['listImportedRefs', (db) => listImportedRefs(db, demo)],
  ['findImportedRecord', (db) => findImportedRecord(db, 'conflict', 'c')],
  ['listImportedRecordsAfter', (db) => listImportedRecordsAfter(db, demo, undefined, 9)],
  ['findManifestRow', (db) => findManifestRow(db, 'm')],
  ['listManifestRowsOfReply', (db) => listManifestRowsOfReply(db, demo, 'a', 'd')],
  ['listManifestRowsAfter', (db) => listManifestRowsAfter(db, '', 9)],
];

test.each(reads)('%s seeks: it neither scans a table nor sorts', (name, read) => {
  const plans = plansOf(read);
  expect(plans.length, name).toBeGreaterThan(0);
  expect(plans.filter((step) => !step.startsWith('SEARCH '))).toEqual([]);
});

test('authors of a run are read by the chain, and only told apart', () => {
  const plans = plansOf((db) => listAuthorsOfRun(db, 0, -1, 9));
  expect(plans).toEqual([
    expect.stringContaining('SEARCH p USING COVERING INDEX memory_places_by_chain'),
    expect.stringContaining('SEARCH c USING INTEGER PRIMARY KEY'),
    expect.stringContaining('SEARCH i USING INTEGER PRIMARY KEY'),
    'USE TEMP B-TREE FOR DISTINCT',
  ]);
});

test('the key that signs is one seek at the end of its table', () => {
  expect(plansOf(findLastHeadKey)).toEqual(['SCAN memory_head_keys']);
  expect(temp.db.query<[], { count: number }>('SELECT count(*) AS count FROM memory_head_keys').get()?.count).toBe(1);
});
