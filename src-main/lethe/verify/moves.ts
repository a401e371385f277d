import type { Ref } from '../../../src-preload/contract/changeset.ts';
import { mainRefName, type ProjectId } from '../../../src-preload/contract/ids.ts';
import { createVerifier, headMoveBytes, type Verifier } from '../../canonical/signature.ts';
import type { ReadableDb } from '../../sqlite/driver.ts';
import { openSight, sees } from '../projection/sight.ts';
import { advanceCause, epochAfter, moveCauses } from '../ref-move.ts';
import { isProtectedName } from '../refs.ts';
import { findAdvanceOfMove } from '../tables/advances.ts';
import { findChangesetRow } from '../tables/changesets.ts';
import { listHeadKeys, listMovesAfter, type RefMoveRow } from '../tables/ref-moves.ts';
import { findRef, listRefs } from '../tables/refs.ts';
import { checking, type Findings } from './findings.ts';

const movesPerChunk = 200;
const refsPerChunk = 200;

/** The walk over all ref moves of a store, of which those of one project are verified. */
export interface MoveWalk {
  readonly projectId: ProjectId;
  readonly keys: readonly { readonly firstSeq: number; readonly verify: Verifier | undefined }[];
  /** First and last move of each ref of the project so far. */
  readonly refs: Map<string, { readonly first: RefMoveRow; readonly last: RefMoveRow }>;
  /** The last move number that was looked at. */
  readonly after: number;
}

/** Starts the walk. */
export function openMoveWalk(db: ReadableDb, projectId: ProjectId): MoveWalk {
  const keys = listHeadKeys(db).map((key) => ({ firstSeq: key.first_seq, verify: createVerifier(key.public_key) }));
  return { projectId, keys, refs: new Map(), after: 0 };
}

/** Verifies the next moves: numbers without a gap, and for the project's own all that their rows say. Undefined at the end. */
export function verifyMoves(db: ReadableDb, walk: MoveWalk, findings: Findings): MoveWalk | undefined {
  const moves = listMovesAfter(db, walk.after, movesPerChunk);
  let after = walk.after;
  for (const move of moves) {
    if (move.seq !== after + 1) findings.add(`ref move ${after + 1}`, 'it is missing');
    after = move.seq;
    if (move.project_id !== walk.projectId) continue;
    const where = `ref move ${move.seq} of ${move.ref_name}`;
    checking(findings, where, () => verifyMove(db, walk, move, (problem) => findings.add(where, problem)));
    walk.refs.set(move.ref_name, { first: walk.refs.get(move.ref_name)?.first ?? move, last: move });
  }
  return moves.length === 0 ? undefined : { ...walk, after };
}

type Report = (problem: string) => void;

function verifyMove(db: ReadableDb, walk: MoveWalk, move: RefMoveRow, report: Report): void {
  const key = walk.keys.findLast((one) => one.firstSeq <= move.seq);
  if (key?.verify?.(headMoveBytes(move), move.signature) !== true) report('its signature does not verify');
  if (Date.parse(move.moved_at) !== move.moved_ms) report('its time is stored in two forms that differ');
  const to = findChangesetRow(db, move.to_head);
  if (to === undefined || to.project_id !== move.project_id)
    report('it goes to a changeset that its project does not have');
  if (to?.chain_digest !== move.chain_digest)
    report('the chain digest that it signed is not that of the changeset it goes to');
  const before = walk.refs.get(move.ref_name)?.last;
  if (move.from_head !== (before?.to_head ?? '')) report('it does not start where the ref stood');
  if (move.epoch !== epochAfter(before, move.moved_ms)) report('its epoch is not that of its time');
  const from = move.from_head === '' ? undefined : findChangesetRow(db, move.from_head);
  if (to !== undefined && from !== undefined && !sees(openSight(db), to.seq, from.seq))
    report('it goes to no descendant of the head before');
  verifyCause(db, move, to?.expected_seq ?? null, from?.seq ?? null, report);
}

/** A ref begins by init or create; then a protected one moves by advances, any other by commits that expected its head or a fast-forward. */
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
    if (move.cause !== cause) report('its cause is not that of a creation');
  } else if (isProtected) {
    verifyAdvance(db, move, report);
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
  const refs = listRefs(db, walk.projectId, after, refsPerChunk);
  for (const { ref } of refs) {
    const where = `ref ${ref.ref_name}`;
    const moves = walk.refs.get(ref.ref_name);
    if (moves === undefined) findings.add(where, 'no signed move leads to it');
    else verifyRef(ref, moves.first, moves.last, (problem) => findings.add(where, problem));
  }
  return refs.at(-1)?.ref.ref_name;
}

function verifyRef(ref: Ref, first: RefMoveRow, last: RefMoveRow, report: Report): void {
  if (ref.head_changeset_id !== last.to_head) report('its head is not where its last signed move went');
  if (ref.protected !== isProtectedName(ref.ref_name)) report('its protection is not that of its name');
  const isTimed = ref.created_at === first.moved_at && ref.updated_at === last.moved_at;
  if (!isTimed) report('its times are not those of its moves');
  if ((ref.created_by_principal ?? '') !== first.principal) report('its creator is not who signed for it');
}

/** Reports refs that moves speak of and the store does not have, and a project without its main ref. */
export function verifyRefsExist(db: ReadableDb, walk: MoveWalk, findings: Findings): void {
  for (const name of [mainRefName, ...walk.refs.keys()]) {
    if (findRef(db, walk.projectId, name) === undefined) findings.add(`ref ${name}`, 'it is missing');
  }
}
