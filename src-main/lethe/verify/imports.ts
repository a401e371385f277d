import type { Project } from '../../../src-preload/contract/changeset.ts';
import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { projectDigest } from '../import/project-digest.ts';
import { isRecordIntact } from '../import/records.ts';
import { markDigest } from '../import/write-history.ts';
import { rowDigest } from '../row-digest.ts';
import type { ChangesetRow } from '../tables/changesets.ts';
import {
  findImportedChangeset,
  findImportedProject,
  type ImportedRecordRow,
  listImportedRecordsAfter,
  listImportedRefs,
  listImports,
} from '../tables/imports.ts';

const recordsPerChunk = 200;

/**
 * Verifies the mark of a changeset that came from a file: it covers what the file said and no digest of ours does. False for a
 * changeset that was made here.
 */
export function verifyImportedMark(db: ReadableDb, row: ChangesetRow, report: (problem: string) => void): boolean {
  const mark = findImportedChangeset(db, row.seq);
  if (mark === undefined) return false;
  const { row_digest: digest, ...said } = mark;
  const holds = markDigest(said, { changesetId: row.changeset_id, requestDigest: row.request_digest }) === digest;
  if (!holds) report('its mark as imported was altered');
  if (row.expected_seq !== null) report('it came from a file and yet says that it moved a ref');
  return true;
}

/** Whether a project is as it came from a file; undefined for one that was started here. */
export function isImportedProjectIntact(db: ReadableDb, project: Project): boolean | undefined {
  const mark = findImportedProject(db, project.project_id);
  return mark === undefined ? undefined : projectDigest(db, project.project_id, mark.import_id) === mark.row_digest;
}

/** Verifies the imports of the store, and the refs that they brought into a project. */
export function verifyImports(db: ReadableDb, projectId: ProjectId, findings: Findings): void {
  for (const { row_digest: digest, ...said } of listImports(db)) {
    const where = `import ${said.import_id}`;
    checking(findings, where, () => {
      if (rowDigest('import', said) !== digest) findings.add(where, 'its row was altered');
    });
  }
  for (const { row_digest: digest, ...said } of listImportedRefs(db, projectId)) {
    const where = `imported ref ${said.ref_name}`;
    checking(findings, where, () => {
      if (rowDigest('imported-ref', said) !== digest) findings.add(where, 'its row was altered');
    });
  }
}

/** Verifies the next imported records of a project. Answers the last one, undefined at the end. */
export function verifyImportedRecords(
  db: ReadableDb,
  projectId: ProjectId,
  after: ImportedRecordRow | undefined,
  findings: Findings,
): ImportedRecordRow | undefined {
  const rows = listImportedRecordsAfter(db, projectId, after, recordsPerChunk);
  for (const row of rows) {
    const where = `imported ${row.kind} ${row.record_key.replaceAll('\n', ' ')}`;
    checking(findings, where, () => {
      if (!isRecordIntact(row)) findings.add(where, 'it is not as it was kept');
    });
  }
  return rows.at(-1);
}
