// A thread of its own in which the tables of a large store are looked over: SQLite cannot be interrupted in the middle of one.

import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { openFindings } from '../../base/findings.ts';
import { connect } from '../../sqlite/driver.ts';
import { listStoreTables, verifyTable } from './tables.ts';

const { path, busyTimeoutMs } = z.strictObject({ path: z.string(), busyTimeoutMs: z.int() }).parse(workerData);
const connection = connect(path, { readOnly: true, mustExist: true });
try {
  connection.pragma(`busy_timeout = ${busyTimeoutMs}`);
  connection.pragma('trusted_schema = OFF');
  connection.pragma('query_only = ON');
  const findings = openFindings();
  for (const table of listStoreTables(connection)) verifyTable(connection, table, findings);
  parentPort?.postMessage({ list: findings.list });
} finally {
  connection.close();
}
