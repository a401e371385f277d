import type { ProjectId } from '../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../base/findings.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { changesetIdOf } from './projection/identity.ts';
import { ordinalOf, seqOf } from './rules/numbers.ts';
import { addPostings, noPostings, type PostingSum, postingsOf } from './rules/posting-sums.ts';
import { indexTokens } from './rules/segment.ts';
import { openPostingPass } from './rules/text-leaf.ts';
import { openTokenSums, type TokenSums } from './rules/token-sums.ts';
import { listEventsOfMemories } from './tables/events.ts';
import { findOpRow } from './tables/ops.ts';
import { findIndexedThrough, findProjectKey, listTouchingOps, type TouchingOp } from './tables/text-index.ts';
import { listIndexedVersions, readPostings, readPostingsOf, tokenRangeOf } from './tables/text-postings.ts';
import { listTextLeaves, listTextSegments } from './tables/text-segments.ts';
import { toPending } from './text-head.ts';
import { findPlacingProblem, type PendingVersion, verifyTextIndex } from './text-indexing.ts';
import type { ReadChunk } from './verify-chain.ts';

/** How much one chunk of the verification reads. */
export interface TextChunks {
  /** Ops of the history. */
  readonly ops: number;
  /** Rows of the index: a token of a version each. */
  readonly postings: number;
}

/** About 15 ms each. */
const defaultChunks: TextChunks = { ops: 100, postings: 20_000 };

const wholeIndex = 'the full-text index';

/** The comparison of one project so far. */
interface TextWalk {
  readonly projectId: ProjectId;
  readonly findings: Findings;
  readonly chunks: TextChunks;
  /** The tokens that the states of the history have, less those that the index gives them. */
  readonly sums: TokenSums;
  /** Versions about which something was found. */
  readonly reported: Set<number>;
}

/**
 * Compares the full-text index with the history of a project, chunk by chunk (`L79`): every state that it should hold is
 * there, under its memory and with all of its tokens and no others. First the states of the history are gone through,
 * then the index once from end to end; only states of which the sums differ are asked for token by token. What waits to
 * be indexed is no finding.
 */
export async function verifyProjectText(
  read: ReadChunk,
  projectId: ProjectId,
  findings: Findings,
  pause: () => Promise<void>,
  chunks: TextChunks = defaultChunks,
): Promise<void> {
  const walk: TextWalk = { projectId, findings, chunks, sums: openTokenSums(), reported: new Set() };
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = read((db) => expectAfter(db, walk, from));
    await pause();
  }
  const projectKey = read((db) => findProjectKey(db, projectId));
  const range = projectKey === undefined ? undefined : tokenRangeOf(projectKey);
  for (let at: Position | undefined = range && { token: range.from, after: undefined }; at !== undefined; ) {
    const from: Position = at;
    at = undefined;
    checking(findings, wholeIndex, () => {
      at = read((db) => takeAfter(db, walk, from, range?.below ?? ''));
    });
    await pause();
  }
  for (const version of walk.sums.unequal()) {
    if (!walk.reported.has(version)) read((db) => verifyVersion(db, walk, version));
    await pause();
  }
}

/** Goes through the next ops after one; the last of them, undefined at the end of what is indexed. */
function expectAfter(db: ReadableDb, walk: TextWalk, after: number): number | undefined {
  const through = findIndexedThrough(db);
  const ops = listTouchingOps(db, after, walk.chunks.ops).filter(({ op }) => op <= through);
  const last = ops.at(-1)?.op;
  if (last === undefined) return undefined;
  const indexed = new Map(listIndexedVersions(db, after, last).map(({ version, memory }) => [version, memory]));
  const projectKey = findProjectKey(db, walk.projectId);
  for (const op of ops) {
    if (op.projectId !== walk.projectId) continue;
    checkingOp(db, walk, op.op, () => expectOp(db, walk, op, indexed.get(op.op), projectKey));
  }
  return last;
}

function expectOp(
  db: ReadableDb,
  walk: TextWalk,
  op: TouchingOp,
  memory: number | undefined,
  projectKey: number | undefined,
): void {
  const { problem, tokens } = readExpected(db, op, memory);
  if (problem !== undefined) report(db, walk, op.op, problem);
  if (tokens === undefined) return;
  walk.sums.expect(
    op.op,
    [...tokens].map((token) => `${projectKey}${token}`),
  );
}

/** What the index should hold of an op, and what is wrong about where it has it. */
function readExpected(
  db: ReadableDb,
  op: TouchingOp,
  memory: number | undefined,
): { readonly problem: string | undefined; readonly tokens: Iterable<string> | undefined } {
  const pending = toPending(db, op);
  return {
    problem: findPlacingProblem(pending, memory),
    tokens: pending.text === null ? undefined : indexTokens(pending.memory, pending.text),
  };
}

/** Ops of which `expectPostings` looks at the states at once. */
const opsPerStretchChunk = 50;

/**
 * What the index should hold of the states that the next ops of a project with `after` < op ≤ `upTo` left, in one sum; what is wrong
 * about where it has them is added to the findings. Answers the last op that was looked at too, undefined at the end.
 */
export function expectPostings(
  db: ReadableDb,
  projectId: ProjectId,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  findings: Findings,
): { readonly sum: PostingSum; readonly last: number | undefined } {
  const ops = listTouchingOps(db, after, opsPerStretchChunk).filter(({ op }) => op <= upTo);
  const last = ops.at(-1)?.op;
  if (last === undefined) return { sum: noPostings, last };
  const indexed = new Map(listIndexedVersions(db, after, last).map(({ version, memory }) => [version, memory]));
  let sum = noPostings;
  for (const op of ops) {
    if (op.projectId !== projectId) continue;
    checking(
      findings,
      () => nameOf(db, op.op),
      () => {
        const { problem, tokens } = readExpected(db, op, indexed.get(op.op));
        if (problem !== undefined) findings.add(nameOf(db, op.op), problem);
        if (tokens !== undefined) sum = addPostings(sum, postingsOf(op.op, tokens));
      },
    );
  }
  return { sum, last };
}

/** The first op that waits to be indexed; beyond all ops when none does. */
export function findWaitingOp(db: ReadableDb): number {
  return listTouchingOps(db, findIndexedThrough(db), 1)[0]?.op ?? Number.MAX_SAFE_INTEGER;
}

/** Leaves of the index that are summed up at once. */
const leavesPerChunk = 64;

/**
 * The sum of all postings that the index holds of a project, read from its leaves as they are stored. Throws when they are not in the
 * form that is known here.
 */
export async function sumPostings(
  read: ReadChunk,
  projectId: ProjectId,
  pause: () => Promise<void>,
): Promise<PostingSum> {
  const projectKey = read((db) => findProjectKey(db, projectId));
  if (projectKey === undefined) return noPostings;
  const pass = openPostingPass(projectKey);
  for (const { segment, first, last } of read(listTextSegments)) {
    pass.beginSegment();
    for (let at = first; at <= last; at += leavesPerChunk) {
      read((db) => {
        for (const leaf of listTextLeaves(db, segment, at, Math.min(last, at + leavesPerChunk - 1))) pass.take(leaf);
      });
      await pause();
    }
  }
  return pass.sum();
}

/** Where the pass over the index goes on: at a token, after a version of it. */
interface Position {
  readonly token: string;
  readonly after: number | undefined;
}

/** Takes the next rows of the index away; undefined at the end of the project's. */
function takeAfter(db: ReadableDb, walk: TextWalk, { token, after }: Position, below: string): Position | undefined {
  const lines =
    after === undefined
      ? readPostings(db, token, below, walk.chunks.postings)
      : readPostingsOf(db, token, after, walk.chunks.postings);
  const { rows, last } = takeLines(db, walk, lines);
  // No token has a character below the digits: this stands right behind every row of it.
  const next = { token: `${last?.token ?? token}\u0001`, after: undefined };
  if (rows === walk.chunks.postings) return last;
  return after === undefined ? undefined : next;
}

/** Takes rows of the index away, run by run of one token; answers how many there were and the last. */
function takeLines(db: ReadableDb, walk: TextWalk, lines: string): { readonly rows: number; readonly last?: Position } {
  let rows = 0;
  let last: Position | undefined;
  for (let at = 0; at < lines.length; ) {
    const token = lines.slice(at, lines.indexOf(' ', at));
    const versions: number[] = [];
    const start = `${token} `;
    while (lines.startsWith(start, at)) {
      const version = readNumber(lines, at + start.length);
      versions.push(version.value);
      at = version.end + 1;
    }
    for (const version of walk.sums.take(token, versions)) reportUnknown(db, walk, version);
    rows += versions.length;
    last = { token, after: versions.at(-1) };
  }
  return last === undefined ? { rows } : { rows, last };
}

/** The decimal number that starts there, and where it ends. */
function readNumber(text: string, from: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = from;
  for (; end < text.length; end += 1) {
    const digit = text.charCodeAt(end) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return { value, end };
}

/** Asks for every token of a version that the sums say is not whole. */
function verifyVersion(db: ReadableDb, walk: TextWalk, version: number): void {
  checkingOp(db, walk, version, () => {
    const pending: readonly PendingVersion[] = listTouchingOps(db, version - 1, 1).map((op) => toPending(db, op));
    const [found] = verifyTextIndex(db, pending);
    report(db, walk, version, found?.problem ?? 'is in the full-text index with more than its text');
  });
}

/** Tokens of a version that no state of the project has: an op that leaves nothing to find, or none at all. */
function reportUnknown(db: ReadableDb, walk: TextWalk, version: number): void {
  if (walk.reported.has(version)) return;
  const [op] = listTouchingOps(db, version - 1, 1);
  if (op?.op === version && op.projectId === walk.projectId) {
    report(db, walk, version, 'is in the full-text index but leaves nothing to find');
    return;
  }
  walk.reported.add(version);
  walk.findings.add(wholeIndex, `it holds a state ${version} that no op of the project made`);
}

function report(db: ReadableDb, walk: TextWalk, version: number, problem: string): void {
  walk.reported.add(version);
  walk.findings.add(nameOf(db, version), problem);
}

function checkingOp(db: ReadableDb, walk: TextWalk, op: number, check: () => void): void {
  checking(walk.findings, () => nameOf(db, op), check);
}

function nameOf(db: ReadableDb, op: number): string {
  const [baselined] = findOpRow(db, op) === undefined ? listEventsOfMemories(db, [op]) : [];
  if (baselined !== undefined) return `baseline event ${baselined.event_id}`;
  return `op ${ordinalOf(op)} of changeset ${changesetIdOf(db, seqOf(op))}`;
}
