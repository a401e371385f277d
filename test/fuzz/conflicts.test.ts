import { expect, test } from 'vitest';
import { openSight } from '../../src-main/lethe/projection/sight.ts';
import { findWithheld, unresolvedListedMax } from '../../src-main/lethe/projection/withheld.ts';
import { findChangesetRow } from '../../src-main/lethe/tables/changesets.ts';
import type { Conflict, ConflictStatus } from '../../src-preload/contract/conflict.ts';
import type { ChangesetId, Digest, ProposalId } from '../../src-preload/contract/ids.ts';
import {
  type ConflictStage,
  decision,
  idOf,
  openConflictStage,
  ours,
  proposal,
  theirs,
} from '../lethe/conflict-stage.ts';
import { add, addAs, changesetId, correct } from '../support/history-builder.ts';
import { type Random, seededRandom } from './random.ts';

/** What a conflict is, as a plain reading of the rules has it (`L190` to `L194`). */
interface Told {
  readonly conflict: Conflict;
  status: ConflictStatus;
  note: string | undefined;
  readonly waiting: Set<ProposalId>;
}

/** Conflicts in the order in which they were kept. */
type Model = Map<Digest, Told>;

const proposals = [proposal(1), proposal(2), proposal(3)];
const ends = ['rejected', 'canceled', 'superseded'] as const;
const scopes = ['net', 'disk', 'cpu', 'fan'];

async function keep(stage: ConflictStage, model: Model, random: Random): Promise<void> {
  const sides = random.chance(0.7)
    ? stage.sides()
    : stage.sides({ leftChangesetId: stage.history.head(theirs), rightChangesetId: stage.history.head(ours) });
  const chosen = stage.detect(sides).filter(() => random.chance(0.6));
  const by = random.pick(proposals);
  await stage.temp.lethe.persistConflicts({ sides, proposalId: by, conflictIds: chosen.map(idOf) });
  for (const conflict of chosen) {
    const settled = [...model.values()].findLast((told) => told.conflict.conflict_key === conflict.conflict_key);
    const known = model.get(conflict.conflict_id) ?? {
      conflict,
      waiting: new Set(),
      status: 'canceled',
      note: undefined,
    };
    model.set(conflict.conflict_id, known);
    known.waiting.add(by);
    if (known.status === 'open' || known.status === 'resolved') continue;
    known.status = settled?.status === 'resolved' ? 'resolved' : 'open';
    known.note = settled?.status === 'resolved' ? settled.note : undefined;
  }
}

async function resolve(stage: ConflictStage, model: Model, random: Random): Promise<void> {
  if (model.size === 0) return;
  const [id, told] = random.pick([...model]);
  const note = `note ${random.below(1_000)}`;
  const answer = await Promise.allSettled([stage.resolve(id, note)]);
  expect(answer[0]?.status).toBe(told.status === 'open' ? 'fulfilled' : 'rejected');
  if (told.status !== 'open') return;
  told.status = 'resolved';
  told.note = note;
}

async function retire(stage: ConflictStage, model: Model, random: Random): Promise<void> {
  const by = random.pick(proposals);
  const status = random.pick([...ends]);
  const retired = await stage.temp.lethe.retireConflicts({ projectId: stage.history.project, proposalId: by, status });
  let wanted = 0;
  for (const told of model.values()) {
    if (!told.waiting.delete(by) || told.waiting.size > 0 || told.status !== 'open') continue;
    told.status = status;
    wanted += 1;
  }
  expect(retired).toBe(wanted);
}

/** One of the sides moves on: by itself, by another decision, by another text of one, or by taking the other side in. */
async function move(stage: ConflictStage, random: Random): Promise<void> {
  const [ref, other] = random.chance(0.5) ? [ours, theirs] : [theirs, ours];
  const dice = random.next();
  const scope = random.pick(scopes);
  const text = `${ref} on ${scope} ${random.below(100)}`;
  if (dice < 0.5) await stage.history.commit(ref, [add(text)]);
  else if (dice < 0.75) await stage.history.commit(ref, [addAs(`${ref}/${scope}/${text}`, text, decision(scope))]);
  else if (dice < 0.93)
    await stage.history.commit(ref, [correct(ref === ours ? 'ours-net' : 'theirs-net', { content: text })]);
  else await Promise.allSettled([stage.history.mergeInto(ref, other)]);
}

function compareRows(stage: ConflictStage, model: Model): void {
  const stored = new Map(stage.list().map((conflict) => [conflict.conflict_id, conflict]));
  expect(stored.size).toBe(model.size);
  for (const [id, { conflict, status, note, waiting }] of model) {
    const row = stored.get(id);
    const { created_at: _, proposal_id: __, resolved_at: ___, ...said } = row ?? conflict;
    expect(said).toEqual({
      ...withoutTime(conflict),
      status,
      ...(note === undefined ? {} : { resolution_note: note }),
    });
    if (waiting.size > 0) expect(waiting).toContain(row?.proposal_id);
  }
}

function withoutTime({ created_at: _, ...conflict }: Conflict): Omit<Conflict, 'created_at'> {
  return conflict;
}

function namedIn({ details }: Conflict): readonly unknown[] {
  const ids = details?.memory_ids;
  return Array.isArray(ids) ? ids : [];
}

/** What a head keeps back, against a look at every open conflict. */
function compareWithheld(stage: ConflictStage, model: Model, head: ChangesetId): void {
  const { lethe, db } = stage.temp;
  const sees = (id: ChangesetId): boolean => lethe.isAncestor(id, head);
  const open = [...model.values()].filter(({ status }) => status === 'open').map(({ conflict }) => conflict);
  const side = ({ left_changeset_id: left, right_changeset_id: right }: Conflict) =>
    [left, right].map((id) => sees(changesetId(id)));
  const listed = open.filter((conflict) => side(conflict).includes(true)).map(idOf);
  const withholding = open.filter((conflict) => conflict.severity === 'blocking' && !side(conflict).includes(false));
  const named = new Set(withholding.flatMap(namedIn));
  const sight = openSight(db);
  const place = sight.places.get(findChangesetRow(db, head)?.seq ?? 0);
  const found = findWithheld(sight, place, stage.history.project);
  expect(found.conflictIds).toEqual(listed.slice(0, unresolvedListedMax));
  expect(found.memories.size).toBe(named.size);
  for (const by of found.memories.values()) expect(withholding.map(idOf)).toContain(by);
}

const runs = 15;
const steps = 40;

test.each(Array.from({ length: runs }, (_, seed) => seed))(
  'L193 L194 L197 conflicts of a random life are what a plain reading of the rules says, seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const stage = await openConflictStage();
    try {
      const model: Model = new Map();
      for (let step = 0; step < steps; step += 1) {
        const dice = random.next();
        if (dice < 0.35) await keep(stage, model, random);
        else if (dice < 0.5) await resolve(stage, model, random);
        else if (dice < 0.65) await retire(stage, model, random);
        else await move(stage, random);
        compareRows(stage, model);
        for (const ref of [ours, theirs, 'refs/shared/main']) compareWithheld(stage, model, stage.history.head(ref));
      }
      expect((await stage.temp.lethe.verifyChain(stage.history.project)).findings).toEqual([]);
    } finally {
      stage.temp.remove();
    }
  },
);
