import type { Ref } from '../../../src-preload/contract/changeset.ts';
import { mainRefName, type ProjectId } from '../../../src-preload/contract/ids.ts';
import { checking, type Findings } from '../../base/findings.ts';
import { type BackgroundVerifier, createBackgroundVerifier, headMoveBytes } from '../../canonical/signature.ts';
import { compareUtf8 } from '../../canonical/text.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { openSight, type Sight, sees } from '../projection/sight.ts';
import { advanceCause, epochAfter, moveCauses } from '../ref-move.ts';
import { isProtectedName } from '../refs.ts';
import { findAdvanceOfMove } from '../tables/advances.ts';
import { type ChangesetRow, findChangesetRow } from '../tables/changesets.ts';
import {
  findFirstMove,
  findMoveBySeq,
  findMoveUpTo,
  findNextMovedRef,
  listHeadKeys,
  listMovesAfter,
  type RefMoveRow,
} from '../tables/ref-moves.ts';
import { findRef, listRefs } from '../tables/refs.ts';

const movesPerChunk = 200;
const refsPerChunk = 200;

/** What the moves of one ref say so far. */
interface RefMoves {
  readonly first: RefMoveRow;
  readonly last: RefMoveRow;
  /** Number of the changeset that the last one went to; undefined when there is none. */
  readonly headSeq: number | undefined;
}

/** The walk over all ref moves of a store, of which those of one project are verified. */
export interface MoveWalk {
  readonly projectId: ProjectId;
  readonly keys: readonly { readonly firstSeq: number; readonly verify: BackgroundVerifier | undefined }[];
  /** The moves of each ref of the project so far. */
  readonly refs: Map<string, RefMoves>;
  /** The last move number that was looked at. */
  readonly after: number;
  /** Up to here the moves of refs that are not among `refs` are read back when they are needed. */
  readonly passedThrough: number;
}

/** A page of moves: where the walk stands, and their signatures, which are verified in the background. */
export interface MovePage {
  readonly walk: MoveWalk;
  /** Resolves with all that was found about the page, in the order of its moves. */
  readonly found: Promise<readonly Found[]>;
}

interface Found {
  readonly where: string;
  readonly problem: string;
}

/** Starts the walk. */
export function openMoveWalk(db: ReadableDb, projectId: ProjectId): MoveWalk {
  const keys = listHeadKeys(db).map((key) => ({
    firstSeq: key.first_seq,
    verify: createBackgroundVerifier(key.public_key),
  }));
  return { projectId, keys, refs: new Map(), after: 0, passedThrough: 0 };
}

/** Goes on behind moves that need not be looked at one by one. */
export function passMoves(walk: MoveWalk, through: number): MoveWalk {
  return { ...walk, refs: new Map(), after: through, passedThrough: through };
}

/**
 * Verifies the next moves: numbers without a gap, and for the project's own all that their rows say. Undefined at the end.
 * @param upTo the last number to look at
 */
export function verifyMoves(
  db: ReadableDb,
  walk: MoveWalk,
  upTo: number = Number.MAX_SAFE_INTEGER,
): MovePage | undefined {
  const moves = listMovesAfter(db, walk.after, movesPerChunk, upTo);
  const sight = openSight(db);
  const found: Promise<readonly Found[]>[] = [];
  let after = walk.after;
  for (const move of moves) {
    if (move.seq !== after + 1)
      found.push(Promise.resolve([{ where: `ref move ${after + 1}`, problem: 'it is missing' }]));
    after = move.seq;
    if (move.project_id === walk.projectId) found.push(verifyOne(sight, walk, move));
  }
  return moves.length === 0
    ? undefined
    : { walk: { ...walk, after }, found: Promise.all(found).then((all) => all.flat()) };
}

type Report = (problem: string) => void;

/** All that is wrong about a move, its signature first; the walk has passed it when this returns. */
function verifyOne(sight: Sight, walk: MoveWalk, move: RefMoveRow): Promise<readonly Found[]> {
  const where = `ref move ${move.seq} of ${move.ref_name}`;
  const found: Found[] = [];
  const report = (problem: string): void => void found.push({ where, problem });
  let before: RefMoves | undefined;
  let headSeq: number | undefined;
  let signature = Promise.resolve(false);
  checking({ add: (_, problem) => report(problem) }, where, () => {
    signature = verifySignature(walk, move);
    before = findMoves(sight.db, walk, move.ref_name);
    const to = findChangesetRow(sight.db, move.to_head);
    headSeq = to?.seq;
    verifyMove(sight, move, before, to, report);
  });
  walk.refs.set(move.ref_name, { first: before?.first ?? move, last: move, headSeq });
  return signature.then((holds) => (holds ? found : [{ where, problem: 'its signature does not verify' }, ...found]));
}

/** What the moves of a ref said so far. */
function findMoves(db: ReadableDb, walk: MoveWalk, refName: string): RefMoves | undefined {
  const known = walk.refs.get(refName);
  if (known !== undefined || walk.passedThrough === 0) return known;
  const last = findMoveUpTo(db, walk.projectId, refName, walk.passedThrough);
  const first = findFirstMove(db, walk.projectId, refName);
  if (first === undefined || last === undefined) return undefined;
  return { first, last, headSeq: findChangesetRow(db, last.to_head)?.seq };
}

function verifySignature(walk: MoveWalk, move: RefMoveRow): Promise<boolean> {
  const key = walk.keys.findLast((one) => one.firstSeq <= move.seq);
  return key?.verify?.(headMoveBytes(move), move.signature) ?? Promise.resolve(false);
}

function verifyMove(
  sight: Sight,
  move: RefMoveRow,
  before: RefMoves | undefined,
  to: ChangesetRow | undefined,
  report: Report,
): void {
  if (Date.parse(move.moved_at) !== move.moved_ms) report('its time is stored in two forms that differ');
  if (to === undefined || to.project_id !== move.project_id)
    report('it goes to a changeset that its project does not have');
  if (to?.chain_digest !== move.chain_digest)
    report('the chain digest that it signed is not that of the changeset it goes to');
  if (move.from_head !== (before?.last.to_head ?? '')) report('it does not start where the ref stood');
  if (before?.last.cause === moveCauses.archive) report('the ref was archived before it');
  if (move.epoch !== epochAfter(before?.last, move.moved_ms)) report('its epoch is not that of its time');
  const fromSeq = findFromSeq(sight.db, move, before);
  if (to !== undefined && fromSeq !== undefined && !sees(sight, to.seq, fromSeq))
    report('it goes to no descendant of the head before');
  verifyCause(sight.db, move, to?.expected_seq ?? null, fromSeq ?? null, report);
}

/** The number of the head that a move starts from: known when it is where the ref stood. */
function findFromSeq(db: ReadableDb, move: RefMoveRow, before: RefMoves | undefined): number | undefined {
  if (move.from_head === '') return undefined;
  return move.from_head === before?.last.to_head ? before.headSeq : findChangesetRow(db, move.from_head)?.seq;
}

/**
 * A ref begins by init, create or import; then a protected one moves by advances, any other by commits that expected its head or
 * a fast-forward, and may be archived where it stands.
 */
function verifyCause(
  db: ReadableDb,
  move: RefMoveRow,
  expectedSeq: number | null,
  fromSeq: number | null,
  report: Report,
): void {
  const isProtected = isProtectedName(move.ref_name);
  if (move.from_head === '') {
    const cause = isProtected ? moveCauses.init : moveCauses.create;
    if (move.cause !== cause && move.cause !== moveCauses.import) report('its cause is not that of a creation');
  } else if (isProtected) {
    verifyAdvance(db, move, report);
  } else if (move.from_head === move.to_head) {
    if (move.cause !== moveCauses.archive) report('it goes nowhere and does not archive its ref');
  } else if (move.cause !== moveCauses.fastForward && (move.cause !== moveCauses.commit || expectedSeq !== fromSeq)) {
    report('no commit made it');
  }
}

function verifyAdvance(db: ReadableDb, move: RefMoveRow, report: Report): void {
  const stored = findAdvanceOfMove(db, move.seq);
  if (stored === undefined) {
    report('a protected ref moved without an advance record');
    return;
  }
  const { advance } = stored;
  const agrees =
    move.cause === advanceCause(advance.advance_id) &&
    advance.project_id === move.project_id &&
    advance.ref_name === move.ref_name &&
    advance.expected_head === move.from_head &&
    advance.new_head === move.to_head &&
    advance.merger_principal === move.principal &&
    advance.created_at === move.moved_at;
  if (!agrees) report(`its advance record ${advance.advance_id} says something else`);
}

/** Verifies the next refs after a name: each is what its signed moves say. Answers the last name, undefined at the end. */
export function verifyRefs(db: ReadableDb, walk: MoveWalk, after: string, findings: Findings): string | undefined {
  const refs = listRefs(db, walk.projectId, after, refsPerChunk, 'all');
  for (const { ref } of refs) {
    const where = `ref ${ref.ref_name}`;
    const moves = findMoves(db, walk, ref.ref_name);
    if (moves === undefined) findings.add(where, 'no signed move leads to it');
    else verifyRef(ref, moves.first, moves.last, (problem) => findings.add(where, problem));
  }
  return refs.at(-1)?.ref.ref_name;
}

function verifyRef(ref: Ref, first: RefMoveRow, last: RefMoveRow, report: Report): void {
  if (ref.head_changeset_id !== last.to_head) report('its head is not where its last signed move went');
  if (ref.protected !== isProtectedName(ref.ref_name)) report('its protection is not that of its name');
  if ((ref.archived === true) !== (last.cause === moveCauses.archive))
    report('whether it is archived is not what its last signed move says');
  const isTimed = ref.created_at === first.moved_at && ref.updated_at === last.moved_at;
  if (!isTimed) report('its times are not those of its moves');
  if ((ref.created_by_principal ?? '') !== first.principal) report('its creator is not who signed for it');
}

/** Reports refs that moves speak of and the store does not have, and a project without its main ref. */
export function verifyRefsExist(db: ReadableDb, walk: MoveWalk, findings: Findings): void {
  const report = (name: string): void => {
    if (findRef(db, walk.projectId, name) === undefined) findings.add(`ref ${name}`, 'it is missing');
  };
  report(mainRefName);
  for (let after = ''; ; ) {
    const name = findNextMovedRef(db, walk.projectId, after);
    if (name === undefined || compareUtf8(name, after) <= 0) return;
    if (name !== mainRefName) report(name);
    after = name;
  }
}

/** A head key with the moves on both sides of where it begins. */
interface KeyStart {
  readonly firstSeq: number;
  readonly move: RefMoveRow | undefined;
  readonly before: RefMoveRow | undefined;
}

/** Where each head key begins, for `verifyKeyStarts`. */
export function listKeyStarts(db: ReadableDb, walk: MoveWalk): readonly KeyStart[] {
  return walk.keys.map(({ firstSeq }) => ({
    firstSeq,
    move: findMoveBySeq(db, firstSeq),
    before: findMoveBySeq(db, firstSeq - 1),
  }));
}

/**
 * Each head key signed the first of its moves, and its predecessor the one before (`L308`): moves that a seal stands for are not
 * asked for their keys.
 */
export async function verifyKeyStarts(walk: MoveWalk, starts: readonly KeyStart[], findings: Findings): Promise<void> {
  for (const [index, { firstSeq, move, before }] of starts.entries()) {
    const isNext = index === 0 ? firstSeq === 1 : before !== undefined && (await verifySignature(walk, before));
    if (!isNext || move === undefined || !(await verifySignature(walk, move)))
      findings.add(`head key of ref move ${firstSeq}`, 'it did not sign that move, or already the one before');
  }
}
