import { dayMs, payloadBytesMax, queryBytesMax, summaryBytesMax } from '../../src-preload/contract/limits.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { encodePlain } from '../canonical/json.ts';
import { utf8Length } from '../canonical/text.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { toOrder } from './rules/event-fields.ts';
import { boundedCount, boundedText, fieldFault, oneOf } from './rules/session-input.ts';
import type { Assembly, AssemblyInput, AssemblyRetention } from './session-api.ts';
import { getSession } from './sessions.ts';
import {
  type AssemblyRow,
  deleteAssembliesBefore,
  deleteAssembliesBeyond,
  type FeedbackRow,
  findAssembly,
  insertAssembly,
  insertFeedback,
  listAssemblyItems,
  listFeedback,
  verdicts,
} from './tables/assemblies.ts';
import { findChangesetRow } from './tables/changesets.ts';
import { findManifestRow } from './tables/manifests.ts';
import { findChangesetId } from './tables/memory-ids.ts';
import type { SessionRow } from './tables/sessions.ts';
import type { VerbContext } from './verb-context.ts';

type Stamps = Pick<VerbContext, 'clock' | 'ids'>;

const itemsMax = 1_000;
const feedbackShownMax = 100;
/** Assemblies that one write lets go of. */
const prunedPerWrite = 100;

/**
 * Records what a session put together as its context (`L248`): a manifest that it names is of the same project and session
 * and of the head that it names; a head that is left out is the manifest's. Lets the session's oldest beyond the bound go.
 * Throws INPUT_INVALID, SESSION_NOT_FOUND, MANIFEST_NOT_FOUND.
 */
export function recordAssembly(
  db: WritableDb,
  { clock, ids }: Stamps,
  input: AssemblyInput,
  { perSessionMax }: AssemblyRetention,
): Assembly {
  const session = getSession(db, input.session);
  if (input.items.length > itemsMax) throw fieldFault('items', `there are more than ${itemsMax}.`);
  const items = input.items.map((item) => {
    const body = encodePlain(item);
    if (utf8Length(body) > payloadBytesMax) throw fieldFault('items', `one is over ${payloadBytesMax} bytes.`);
    return body;
  });
  const now = toTimestamp(clock.nowMs());
  const row = {
    assembly_id: ids.uuidv7(),
    session_id: session.session_id,
    query: boundedText('query', input.query, queryBytesMax),
    token_budget: boundedCount('token_budget', input.tokenBudget),
    estimated_tokens: boundedCount('estimated_tokens', input.estimatedTokens),
    accepted_estimated_tokens: boundedCount('accepted_estimated_tokens', input.acceptedEstimatedTokens),
    ...memoryOf(db, session, input),
    created_at: now,
    created_order: toOrder(now),
  };
  const assembly = insertAssembly(db, row, items);
  if (perSessionMax !== undefined) deleteAssembliesBeyond(db, session.session_id, perSessionMax, prunedPerWrite);
  return readAssembly(db, { ...row, assembly });
}

function memoryOf(
  db: ReadableDb,
  session: SessionRow,
  input: AssemblyInput,
): Pick<AssemblyRow, 'memory_manifest_id' | 'memory_head_changeset_id'> {
  const head = input.memoryHeadChangesetId;
  if (head !== '' && findChangesetRow(db, head)?.project_id !== session.project_id)
    throw fieldFault('memory_head_changeset_id', 'there is no such changeset in the project of the session.');
  if (input.memoryManifestId === '') {
    return { memory_manifest_id: null, memory_head_changeset_id: head === '' ? null : head };
  }
  const manifest = findManifestRow(db, input.memoryManifestId);
  if (manifest === undefined)
    throw new Fault('MANIFEST_NOT_FOUND', 'memory_manifest_id: there is no such manifest.', {
      field: 'memory_manifest_id',
    });
  if (manifest.project_id !== session.project_id)
    throw fieldFault('memory_manifest_id', 'the manifest is of another project than the session.');
  if (manifest.session_id !== session.session_id)
    throw fieldFault('memory_manifest_id', 'the manifest is of another session.');
  const pinned = findChangesetId(db, manifest.head_seq) ?? '';
  if (head !== '' && head !== pinned)
    throw fieldFault('memory_head_changeset_id', 'the manifest was made at another head.');
  return { memory_manifest_id: manifest.manifest_id, memory_head_changeset_id: pinned };
}

/** An assembly with its items and what was said of it. */
export function readAssembly(db: ReadableDb, row: AssemblyRow): Assembly {
  return {
    row,
    items: listAssemblyItems(db, row.assembly),
    feedback: listFeedback(db, row.assembly, feedbackShownMax),
  };
}

/** Says how good an assembly was; undefined when there is none. Throws INPUT_INVALID. */
export function judgeAssembly(
  db: WritableDb,
  { clock, ids }: Stamps,
  assemblyId: string,
  input: { readonly verdict: string; readonly note: string },
): FeedbackRow | undefined {
  const verdict = oneOf('verdict', input.verdict, verdicts);
  const note = boundedText('note', input.note, summaryBytesMax);
  const assembly = findAssembly(db, assemblyId);
  if (assembly === undefined) return undefined;
  const row = { feedback_id: ids.uuidv7(), verdict, note, created_at: toTimestamp(clock.nowMs()) };
  insertFeedback(db, assembly.assembly, row);
  return row;
}

/** Lets the next assemblies go that are older than they are kept; true when more may wait. */
export function pruneAssemblies(
  db: WritableDb,
  { clock }: Pick<VerbContext, 'clock'>,
  { daysMax }: AssemblyRetention,
): boolean {
  if (daysMax === undefined) return false;
  const before = toOrder(toTimestamp(Math.max(0, clock.nowMs() - daysMax * dayMs)));
  return deleteAssembliesBefore(db, before, prunedPerWrite) === prunedPerWrite;
}
