import { setImmediate } from 'node:timers/promises';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { checking, type Findings, openFindings } from '../base/findings.ts';
import { domainDigest } from '../canonical/digest.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import type { ReadSnapshot } from '../sqlite/snapshots.ts';
import { findVersionProblems } from './rules/verify-version.ts';
import { findAgentId, listAgentRows } from './tables/agents.ts';
import { type HeadRow, listHeadsAfter } from './tables/heads.ts';
import { findTotals, listLiveTotals } from './tables/totals.ts';
import { listTotalsAfter, listValueMarks } from './tables/verify.ts';
import {
  findLastSeq,
  findNewestVersion,
  findVersion,
  listVersionsAfter,
  type ValuedVersionRow,
  type VersionRow,
} from './tables/versions.ts';
import { verifyCustody, verifyPolicies } from './verify-policies.ts';
import { openTallies, type Tallies } from './verify-tallies.ts';
import { verifyText } from './verify-text.ts';

const rowsPerChunk = 100;
/** Versions come with their values, each of up to half a megabyte. */
const versionsPerChunk = 20;

/**
 * Verifies the ledger of every agent (`G50` to `G53`), chunk by chunk over one state, others working in between: every version of
 * every key with its value, its digest and its place in the chain, and that no number is missing; policies with their
 * signatures, and custody; and what is derived from them, heads, totals and the search index. `head` stands for all of the
 * versions; `isIndexSound` is false when nothing but the index is wrong, which making it anew mends.
 * @param onProgress versions done and of how many, after each chunk
 */
export async function verifyLedger(
  read: ReadSnapshot,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<{ readonly report: VerifyReport; readonly isIndexSound: boolean }> {
  const findings = openFindings();
  const tallies = openTallies(findings);
  const { checked, head } = await verifyVersions(read, findings, tallies, onProgress);
  await eachPage(read, 0, findings, (db, after: number) => verifyValues(db, after, findings));
  await eachPage(read, 0, findings, (db, after: number) => verifyPolicies(db, after, findings, tallies));
  await eachPage(read, 0, findings, (db, after: number) => verifyCustody(db, after, findings, tallies));
  await eachPage(read, 0, findings, (db, after: number) => verifyHeads(db, after, findings, tallies));
  await eachPage(read, '', findings, (db, after: string) => verifyAgents(db, after, findings, tallies));
  await eachPage(read, 0, findings, (db, after: number) => verifyTotals(db, after, findings));
  tallies.close();
  // The index is derived from the values: it is compared with those that hold.
  const isWhole = findings.list.length === 0;
  if (isWhole) await verifyText(read, findings);
  const notes = [
    ...(isWhole ? [] : ['the search index was not compared, since the ledger itself does not hold']),
    ...(findings.omitted > 0 ? [`${findings.omitted} more findings are not listed`] : []),
  ];
  const ok = findings.list.length === 0;
  return { report: { ok, checked, head, findings: findings.list, notes }, isIndexSound: ok || !isWhole };
}

/**
 * Calls `page` with where the page before ended until it answers undefined. A damaged order of rows can lead back to where it
 * was: a page that does not go on ends the walk.
 */
async function eachPage<Position extends number | string>(
  read: ReadSnapshot,
  first: Position,
  findings: Findings,
  page: (db: ReadableDb, after: Position) => Position | undefined,
): Promise<void> {
  for (let at = first; ; await setImmediate()) {
    const next = read((db) => page(db, at));
    if (next === undefined) return;
    if (next <= at) {
      findings.add('the order of stored rows', 'a table or an index of the database file is damaged');
      return;
    }
    at = next;
  }
}

async function verifyVersions(
  read: ReadSnapshot,
  findings: Findings,
  tallies: Tallies,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly checked: number; readonly head: string }> {
  const total = read(findLastSeq);
  let checked = 0;
  let head = '';
  await eachPage(read, 0, findings, (db, after: number) => {
    const rows = listVersionsAfter(db, after, versionsPerChunk);
    let last = after;
    for (const row of rows) {
      if (row.seq !== last + 1) findings.add(`version number ${last + 1}`, 'it is missing');
      verifyVersion(db, row, findings);
      tallies.countVersion(row);
      head = domainDigest('ledger/head/v1', { before: head, row: row.row_digest });
      last = row.seq;
    }
    checked += rows.length;
    onProgress(checked, total);
    return rows.length === 0 ? undefined : last;
  });
  return { checked, head };
}

function verifyVersion(
  db: ReadableDb,
  row: ValuedVersionRow & { readonly redacted: number },
  findings: Findings,
): void {
  const agentId = findAgentId(db, row.agent) ?? `number ${row.agent}`;
  const where = `version ${row.version} of ${row.key} of agent ${agentId}`;
  checking(findings, where, () => {
    const previous = row.version > 1 ? findVersion(db, row.agent, row.key, row.version - 1) : undefined;
    const problems = findVersionProblems(agentId, { ...row, isRedacted: row.redacted === 1 }, previous);
    for (const problem of problems) findings.add(where, problem);
  });
}

/** Looks for values that belong to no put. */
function verifyValues(db: ReadableDb, after: number, findings: Findings): number | undefined {
  const values = listValueMarks(db, after, rowsPerChunk);
  for (const { seq, kind } of values)
    if (kind !== 'put') findings.add(`the value of version number ${seq}`, 'it belongs to no put');
  return values.at(-1)?.seq;
}

/** A head is the newest version of its key, column by column. */
function verifyHeads(db: ReadableDb, after: number, findings: Findings, tallies: Tallies): number | undefined {
  const heads = listHeadsAfter(db, after, rowsPerChunk);
  for (const head of heads) {
    const where = `the head of ${head.key}`;
    tallies.countHead();
    if (head.live === 1) tallies.countLive(head.agent, head.importance ?? 0, head.value_bytes);
    checking(findings, where, () => {
      if (!isHeadOf(head, findNewestVersion(db, head.agent, head.key)))
        findings.add(where, 'it is not the newest version of its key');
    });
  }
  return heads.at(-1)?.seq;
}

function isHeadOf(head: HeadRow, row: VersionRow | undefined): boolean {
  return (
    row !== undefined &&
    head.seq === row.seq &&
    head.live === (row.kind === 'put' ? 1 : 0) &&
    head.importance === row.importance &&
    head.updated_ms === row.written_ms &&
    head.expires_ms === row.expires_ms &&
    head.value_bytes === row.value_bytes
  );
}

function verifyAgents(db: ReadableDb, after: string, findings: Findings, tallies: Tallies): string | undefined {
  const agents = listAgentRows(db, after, rowsPerChunk);
  for (const { agent, agent_id: agentId } of agents)
    checking(findings, `agent ${agentId}`, () =>
      tallies.compare(agent, agentId, findTotals(db, agent), listLiveTotals(db, agent)),
    );
  return agents.at(-1)?.agent_id;
}

/** Looks for totals of agents that there are not. */
function verifyTotals(db: ReadableDb, after: number, findings: Findings): number | undefined {
  const totals = listTotalsAfter(db, after, rowsPerChunk);
  for (const { agent } of totals)
    if (findAgentId(db, agent) === undefined) findings.add(`agent number ${agent}`, 'it has totals and no id');
  return totals.at(-1)?.agent;
}
