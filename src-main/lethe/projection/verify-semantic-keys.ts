import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { addKeys, type KeySum, keySumOf, noKeys } from '../rules/key-sums.ts';
import { seqOf } from '../rules/numbers.ts';
import { listSeqsBefore } from '../tables/changesets.ts';
import {
  findSemanticKey,
  listSemanticKeyRows,
  listStatesMadeBy,
  type PlacedKeyRow,
  type SemanticKeyRow,
} from '../tables/semantic-keys.ts';
import { changesetIdOf, memoryIdOf } from './identity.ts';
import { keyNumbersOf, openPayloads } from './semantic-keys.ts';
import { loadVersion } from './state.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;
type Page = Pick<SemanticKeyRow, 'key' | 'memory'>;

const changesetsPerChunk = 200;
const rowsPerChunk = 2_000;
const fromTheFirst: Page = { key: -1, memory: 0 };

/**
 * Compares the keys by which memories are brought together with the states of a project (`L176`, `lethe.md` D12), in chunks:
 * every key of every state has its row from the op that gave it first, and there is no other row. Rows are looked at one
 * by one only when there are more or fewer of them than that.
 */
export async function verifySemanticKeys(
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
): Promise<void> {
  let given = 0;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const seqs = read((db) => listSeqsBefore(db, projectId, before, changesetsPerChunk));
    const [newest, oldest] = [seqs[0], seqs.at(-1)];
    if (newest === undefined || oldest === undefined) break;
    checking(findings, `changesets numbered ${oldest} to ${newest}`, () => {
      given += read((db) => verifyStateKeys(db, projectId, oldest - 1, newest, findings)).count;
    });
    before = oldest;
    await pause();
  }
  let rows = 0;
  await eachPage(read, pause, (_, page) => {
    rows += page.filter((row) => row.project_id === projectId || row.project_id === null).length;
  });
  if (rows === given) return;
  await eachPage(read, pause, (db, page) => {
    for (const row of page) {
      if (row.project_id !== projectId && row.project_id !== null) continue;
      checking(findings, 'the keys by which memories are compared', () => verifyRow(db, projectId, row, findings));
    }
  });
}

async function eachPage(
  read: ReadChunk,
  pause: () => Promise<void>,
  look: (db: ReadableDb, page: readonly PlacedKeyRow[]) => void,
): Promise<void> {
  for (let after: Page | undefined = fromTheFirst; after !== undefined; ) {
    const from: Page = after;
    after = read((db) => {
      const page = listSemanticKeyRows(db, from, rowsPerChunk);
      look(db, page);
      return page.at(-1);
    });
    await pause();
  }
}

/**
 * Each state that the changesets with `after` < number ≤ `upTo` made is found by each of its keys, and by none that a later op gave it.
 * Answers the sum of the rows that those states account for.
 */
export function verifyStateKeys(
  db: ReadableDb,
  projectId: ProjectId,
  after: number,
  upTo: number,
  findings: Findings,
): KeySum {
  const payloadOf = openPayloads(db);
  let given = noKeys;
  for (const { memory, op } of listStatesMadeBy(db, projectId, after, upTo)) {
    for (const key of keyNumbersOf(projectId, loadVersion(db, op, payloadOf), payloadOf)) {
      const stored = findSemanticKey(db, key, memory);
      if (stored === undefined || stored.op > op)
        findings.add(whereOf(db, memory, op), 'the index does not find it by what it is compared by');
      else if (stored.op === op) given = addKeys(given, keySumOf(stored));
    }
  }
  return given;
}

function verifyRow(db: ReadableDb, projectId: ProjectId, row: PlacedKeyRow, findings: Findings): void {
  const payloadOf = openPayloads(db);
  const isMade = row.version === row.op && row.project_id === projectId;
  if (isMade && keyNumbersOf(projectId, loadVersion(db, row.op, payloadOf), payloadOf).includes(row.key)) return;
  const where = row.version === null ? 'a memory that there is not' : whereOf(db, row.memory, row.op);
  findings.add(where, 'the index compares it by what it does not say');
}

function whereOf(db: ReadableDb, memory: number, op: number): string {
  return `memory ${memoryIdOf(db, memory)} in changeset ${changesetIdOf(db, seqOf(op))}`;
}
