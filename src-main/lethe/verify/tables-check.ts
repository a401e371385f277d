import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { verifyReportSchema } from '../../../src-preload/contract/audit.ts';
import { type Findings, openFindings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { listStoreTables } from '../tables/store-tables.ts';
import { verifyTable } from './tables.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** A look over the tables of the store that is under way. */
export interface TablesCheck {
  readonly found: Promise<Findings>;
  /** Ends it, wherever it is. */
  stop(): Promise<void>;
}

/** Files up to this size are looked over here, in about 40 ms at most. */
const bytesHereMax = 8_000_000;

const answerSchema = z.strictObject({ list: verifyReportSchema.shape.findings });

/**
 * Starts to look over the tables of the store and their indexes (`L304`). A large store is looked over in a thread of its own, with a
 * connection of its own: meanwhile others work, and so does the rest of a verification.
 * @param bytesMax size of the file up to which no thread is started
 */
export function startTablesCheck(
  read: ReadChunk,
  file: { readonly path: string; readonly busyTimeoutMs: number },
  bytesMax: number = bytesHereMax,
): TablesCheck {
  const entry = statSync(file.path).size > bytesMax ? findEntry() : undefined;
  const check =
    entry === undefined
      ? { found: checkHere(read), stop: async () => {} }
      : checkInThread(entry, file, () => checkHere(read));
  // Whoever ends a verification before does not wait for what it found.
  check.found.catch(() => {});
  return check;
}

/** The thread's program: beside this source, or beside the bundles. */
function findEntry(): string | undefined {
  const here = import.meta.dirname;
  const candidates = ['tables-thread.ts', 'tables-thread.js', '../tables-thread.js'].map((name) => join(here, name));
  return candidates.find((candidate) => existsSync(candidate));
}

async function checkHere(read: ReadChunk): Promise<Findings> {
  const findings = openFindings();
  for (const table of read(listStoreTables)) {
    read((db) => verifyTable(db, table, findings));
    await setImmediate();
  }
  return findings;
}

/** @param otherwise does it where the thread cannot be started */
function checkInThread(
  entry: string,
  workerData: { readonly path: string; readonly busyTimeoutMs: number },
  otherwise: () => Promise<Findings>,
): TablesCheck {
  const worker = new Worker(entry, { workerData, name: 'tables' });
  let isStopped = false;
  const answered = new Promise<Findings>((resolve, reject) => {
    worker.once('message', (answer) => {
      const findings = openFindings();
      for (const { where, problem } of answerSchema.parse(answer).list) findings.add(where, problem);
      resolve(findings);
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the tables of the store could not be looked over')));
  });
  return {
    found: answered.catch((thrown: unknown) => (isStopped ? Promise.reject(thrown) : otherwise())),
    stop: async () => {
      isStopped = true;
      await worker.terminate();
    },
  };
}
