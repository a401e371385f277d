// A thread of its own in which the tables of a large store are looked over: SQLite cannot be interrupted in the middle of one.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../base/assert.ts';
import { openFindings } from '../../base/findings.ts';
import { connect } from '../../sqlite/driver.ts';
import { listStoreTables } from '../tables/store-tables.ts';
import { verifyTable } from './tables.ts';

// What the host of the thread passes; a schema would cost more than the rest of its start.
const { path, busyTimeoutMs }: { readonly path: unknown; readonly busyTimeoutMs: unknown } = workerData;
assert(typeof path === 'string' && typeof busyTimeoutMs === 'number', 'the thread is told which file to look over');
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
