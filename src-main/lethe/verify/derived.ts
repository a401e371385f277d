import type { ProjectId } from '../../../src-preload/contract/ids.ts';
import { AssertionFailed } from '../../base/assert.ts';
import { checking, type Findings, openFindings } from '../../base/findings.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { verifyProjectionRows } from '../projection/verify.ts';
import { verifySemanticKeys, verifyStateKeys } from '../projection/verify-semantic-keys.ts';
import { addKeys, decodeKeys, encodeKeys, isSameKeys, type KeySum, noKeys } from '../rules/key-sums.ts';
import { lastOpOf, opNumber } from '../rules/numbers.ts';
import { addPostings, decodePostings, encodePostings, noPostings, type PostingSum } from '../rules/posting-sums.ts';
import { listBaselineSeqs } from '../tables/baselines.ts';
import type { ChangesetSealing } from '../tables/seals.ts';
import { findKeyBoundary, readKeySum } from '../tables/semantic-keys.ts';
import { isTextIndexSet } from '../tables/text-segments.ts';
import { expectPostings, findWaitingOp, sumPostings, verifyProjectText } from '../text-verify.ts';
import { digestIndex, digestText } from './index-digest.ts';
import { sealName, sealRemedy } from './seal-finding.ts';
import type { ChangesetStretch } from './stretches.ts';

type ReadChunk = <Result>(chunk: (db: ReadableDb) => Result) => Result;

/** Changesets of which the rows are derived anew at once: about 15 ms. */
const changesetsPerChunk = 32;
/** Rows of the keys by which memories are compared that are summed up at once. */
const keysPerChunk = 20_000;

/** What a seal says of what is derived from a stretch. */
export type DerivedSealing = Pick<
  ChangesetSealing,
  'index_digest' | 'text_digest' | 'postings' | 'semantic_keys' | 'nodes_through'
>;

/** How what is derived is verified. */
export interface DerivedOptions {
  /** Whether the rows of the projection were derived anew and compared already. */
  readonly areRowsVerified: boolean;
  readonly pause: () => Promise<void>;
}

/** One verification of what is derived from the history of a project, so far. */
interface DerivedWalk extends DerivedOptions {
  readonly read: ReadChunk;
  readonly projectId: ProjectId;
  readonly findings: Findings;
  /** What was found about the full text alone: it is mended by making it anew. */
  readonly ofText: Findings;
  /** The first op that the full-text index does not hold yet. */
  readonly waitingOp: number;
  nodesThrough: number;
  keys: KeySum;
  postings: PostingSum;
}

/** What was found about the derived indexes. */
export interface DerivedReport {
  /** For each stretch that may be sealed what its seal would say. */
  readonly sealings: ReadonlyMap<ChangesetStretch, DerivedSealing>;
  readonly ofText: Findings;
}

/**
 * Compares what is derived from the history of a project with its seals, and where there is none with what the history makes of it
 * (`L303`–`L305`): the rows of every stretch, then in one pass each the keys by which memories are compared and the postings of the full
 * text, whose sums are those of the stretches. Findings about the full text are added to the others at the end.
 */
export async function verifyDerived(
  read: ReadChunk,
  projectId: ProjectId,
  stretches: readonly ChangesetStretch[],
  findings: Findings,
  options: DerivedOptions,
): Promise<DerivedReport> {
  const walk = openWalk(read, projectId, findings, options);
  const sealings = new Map<ChangesetStretch, DerivedSealing>();
  for (const stretch of stretches) {
    const sealing = await verifyStretch(walk, stretch);
    if (sealing !== undefined && stretch.isClosed) sealings.set(stretch, sealing);
    await options.pause();
  }
  await verifyKeys(walk);
  await verifyPostings(walk);
  findings.absorb(walk.ofText);
  return { sealings, ofText: walk.ofText };
}

/**
 * Verifies what is derived from one stretch from scratch; answers what a seal of it would say, undefined when something was found. What is
 * wrong about the full text alone is no finding here: the index has a patrol of its own (`L226`).
 * @param nodesAfter the newest node of the stretches before
 */
export async function sealDerived(
  read: ReadChunk,
  projectId: ProjectId,
  stretch: ChangesetStretch,
  nodesAfter: number,
  findings: Findings,
  pause: () => Promise<void>,
): Promise<DerivedSealing | undefined> {
  const walk = openWalk(read, projectId, findings, { areRowsVerified: false, pause });
  walk.nodesThrough = nodesAfter;
  return verifyStretch(walk, stretch);
}

function openWalk(read: ReadChunk, projectId: ProjectId, findings: Findings, options: DerivedOptions): DerivedWalk {
  return {
    ...{ read, projectId, ...options, findings, ofText: openFindings() },
    waitingOp: read(findWaitingOp),
    ...{ nodesThrough: 0, keys: noKeys, postings: noPostings },
  };
}

/** Verifies one stretch; answers what a seal of it would say, undefined when it has one, or is not whole or not indexed yet. */
async function verifyStretch(walk: DerivedWalk, stretch: ChangesetStretch): Promise<DerivedSealing | undefined> {
  const { read, projectId } = walk;
  const where = `index of changesets ${stretch.first} to ${stretch.last}`;
  let indexDigest: string | undefined;
  let textDigest: string | undefined;
  // A row that cannot be read is named from scratch.
  checking({ add: () => {} }, where, () => {
    const { digest, nodesThrough } = read((db) => digestIndex(db, projectId, stretch, walk.nodesThrough));
    walk.nodesThrough = nodesThrough;
    indexDigest = digest;
    textDigest = read((db) => digestText(db, projectId, stretch));
  });
  const { seal } = stretch;
  const sealedKeys =
    seal !== undefined && seal.index_digest === indexDigest ? decodeKeys(seal.semantic_keys) : undefined;
  const keys = sealedKeys ?? (await deriveRows(walk, stretch));
  const isIndexed = walk.waitingOp > lastOpOf(stretch.last);
  const isTextSealed = isIndexed && seal !== undefined && seal.text_digest === textDigest;
  const sealedPostings = isTextSealed ? decodePostings(seal.postings) : undefined;
  const postings = sealedPostings ?? (await deriveText(walk, stretch, isIndexed));
  if (keys !== undefined) walk.keys = addKeys(walk.keys, keys);
  if (postings !== undefined) walk.postings = addPostings(walk.postings, postings);
  const isWhole = keys !== undefined && postings !== undefined && isIndexed;
  if (seal !== undefined || !isWhole || indexDigest === undefined || textDigest === undefined) return undefined;
  return {
    index_digest: indexDigest,
    text_digest: textDigest,
    postings: encodePostings(postings),
    semantic_keys: encodeKeys(keys),
    nodes_through: walk.nodesThrough,
  };
}

/** Derives the rows of a stretch anew and compares them; the keys that its states give, undefined when something was found. */
async function deriveRows(walk: DerivedWalk, stretch: ChangesetStretch): Promise<KeySum | undefined> {
  const { read, projectId, findings } = walk;
  const before = findings.list.length + findings.omitted;
  const start = walk.areRowsVerified ? undefined : stretch.first - 1;
  for (let after: number | undefined = start; after !== undefined && after < stretch.last; ) {
    const from: number = after;
    const options = { limit: changesetsPerChunk, upTo: stretch.last };
    after = read((db) => verifyProjectionRows(db, projectId, from, findings, options));
    await walk.pause();
  }
  let keys = noKeys;
  checking(findings, `index of changesets ${stretch.first} to ${stretch.last}`, () => {
    keys = read((db) => verifyStateKeys(db, projectId, stretch.first - 1, stretch.last, findings));
  });
  if (findings.list.length + findings.omitted > before) return undefined;
  if (stretch.seal !== undefined)
    findings.add(sealName(stretch.seal), `it does not hold, though the derived index does: ${sealRemedy}`);
  return keys;
}

/** What the full text should hold of a stretch, as far as it is indexed; undefined when something was found. */
async function deriveText(
  walk: DerivedWalk,
  stretch: ChangesetStretch,
  isIndexed: boolean,
): Promise<PostingSum | undefined> {
  const { read, projectId, ofText } = walk;
  const before = ofText.list.length + ofText.omitted;
  const upTo = Math.min(lastOpOf(stretch.last), walk.waitingOp - 1);
  // A root has states in the numbers that it took for its baseline, right below its own.
  const begins = read((db) => listBaselineSeqs(db, stretch.first)[0]) ?? stretch.first;
  let postings = noPostings;
  for (let after: number | undefined = opNumber(begins, 0) - 1; after !== undefined; ) {
    const from: number = after;
    const { sum, last } = read((db) => expectPostings(db, projectId, { after: from, upTo }, ofText));
    postings = addPostings(postings, sum);
    after = last;
    await walk.pause();
  }
  if (ofText.list.length + ofText.omitted > before) return undefined;
  if (stretch.seal !== undefined && isIndexed)
    ofText.add(sealName(stretch.seal), `it does not hold, though the full-text index does: ${sealRemedy}`);
  return postings;
}

/** The rows by which memories are compared are those that the states give, no more and no others. */
async function verifyKeys(walk: DerivedWalk): Promise<void> {
  const { read, projectId, findings, pause } = walk;
  const before = findings.list.length + findings.omitted;
  // Where rows were found that do not hold, the keys of their states are not known: there is no sum to compare.
  const isSummed = before === 0;
  if (isSummed && isSameKeys(await sumKeys(walk), walk.keys)) return;
  await verifySemanticKeys(read, projectId, findings, pause);
  if (isSummed && findings.list.length + findings.omitted === before)
    findings.add('the keys by which memories are compared', 'they are not those that were sealed');
}

async function sumKeys({ read, projectId, pause }: DerivedWalk): Promise<KeySum> {
  let sum = noKeys;
  for (let after = -1; after < Number.MAX_SAFE_INTEGER; ) {
    const from = after;
    const upTo = read((db) => findKeyBoundary(db, from, keysPerChunk));
    sum = addKeys(
      sum,
      read((db) => readKeySum(db, projectId, from, upTo)),
    );
    after = upTo;
    await pause();
  }
  return sum;
}

/** The postings of the full text are those of the states that it holds, no more and no others. */
async function verifyPostings(walk: DerivedWalk): Promise<void> {
  const { read, projectId, ofText, pause } = walk;
  checking(ofText, 'the full-text index', () => {
    if (!read(isTextIndexSet)) ofText.add('the full-text index', 'its settings are others');
  });
  const before = ofText.list.length + ofText.omitted;
  const sum = before === 0 ? await readPostingSum(walk) : undefined;
  if (sum !== undefined && sum.one === walk.postings.one && sum.other === walk.postings.other) return;
  await verifyProjectText(read, projectId, ofText, pause);
  if (sum !== undefined && ofText.list.length + ofText.omitted === before)
    ofText.add('the full-text index', 'it is not what was sealed');
}

/** Undefined when the leaves of the index are not in a form that is known here: then FTS5 is asked. */
async function readPostingSum({ read, projectId, pause }: DerivedWalk): Promise<PostingSum | undefined> {
  try {
    return await sumPostings(read, projectId, pause);
  } catch (thrown) {
    if (thrown instanceof AssertionFailed || thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}
