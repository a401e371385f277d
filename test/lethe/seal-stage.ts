import { setImmediate } from 'node:timers/promises';
import { readContext } from '../../src-main/lethe/context.ts';
import { verifyProjection } from '../../src-main/lethe/projection/verify.ts';
import { keepSealings, type Sealings } from '../../src-main/lethe/seals.ts';
import type { StretchLimits } from '../../src-main/lethe/verify/stretches.ts';
import { startTablesCheck } from '../../src-main/lethe/verify/tables-check.ts';
import { verifyChain } from '../../src-main/lethe/verify-chain.ts';
import type { WritableDb } from '../../src-main/sqlite/driver.ts';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { seededSigner, type TempLethe, testMergeKey } from '../support/history-builder.ts';

/** Stretches so short that a small history has some. */
export const short: StretchLimits = { rows: 2, ops: 64 };

export interface VerifyingOptions {
  readonly limits?: StretchLimits;
  readonly isFull?: boolean;
  /** Who signs what was found whole; nobody when left out. */
  readonly signedBy?: string;
}

/** Verifies a project over the test's own connection, so that what is counted and what is broken there is what it sees. */
export async function verifying(
  temp: Pick<TempLethe, 'db' | 'path'>,
  projectId: ProjectId,
  { limits = short, isFull = false, signedBy }: VerifyingOptions = {},
): Promise<VerifyReport> {
  const read = <Result>(chunk: (db: TempLethe['db']) => Result): Result => chunk(temp.db);
  const keep = async (sealings: Sealings): Promise<void> => {
    if (signedBy === undefined) return;
    await keepSealings((verb) => writing(temp, verb), seededSigner(signedBy), sealings);
  };
  return verifyChain(read, projectId, {
    mergeKeys: new Map([['k1', testMergeKey]]),
    readContext,
    indexes: isFull ? [verifyProjection] : [],
    checkTables: (chunk) => startTablesCheck(chunk, { path: temp.path, busyTimeoutMs: 1_000 }),
    seals: { isTrusting: !isFull, limits, keep, noticeTextDamage: () => {} },
  });
}

/** Writes in a transaction of its own. */
export async function writing<Result>(temp: Pick<TempLethe, 'db'>, verb: (db: WritableDb) => Result): Promise<Result> {
  await setImmediate();
  temp.db.exec('BEGIN IMMEDIATE');
  try {
    const result = verb(temp.db);
    temp.db.exec('COMMIT');
    return result;
  } catch (thrown) {
    temp.db.exec('ROLLBACK');
    throw thrown;
  }
}

/** Seals that a table holds of a project. */
export function countSeals(temp: TempLethe, table: 'memory_changeset_seals' | 'memory_move_seals'): number {
  return temp.db.query<[], { count: number }>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;
}

/** How many changesets a report says were compared with their seals. */
export function comparedBy(report: VerifyReport): number {
  const [note] = report.notes.flatMap(
    (text) => /^(\d+) changesets were compared with their seals/.exec(text)?.[1] ?? [],
  );
  return Number(note ?? 0);
}
