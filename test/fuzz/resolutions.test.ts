import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { resolutionChoices } from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema, memoryIdSchema } from '../../src-preload/contract/ids.ts';
import type { ProposalDetail } from '../../src-preload/contract/proposal.ts';
import { acceptedInMain, approveAndMerge, inMain, keptFor, land, show } from '../charon/conflict-world.ts';
import { branchWith, demo, type MergeWorld, openMergeWorld, proposeHead } from '../charon/merge-world.ts';
import {
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  type OpDraft,
  relate,
  supersede,
} from '../support/history-builder.ts';
import { howMany } from './how-many.ts';
import { type Random, seededRandom } from './random.ts';

const histories = howMany(60);
const roundsMax = 30;
const scopes = ['s', 't'] as const;

/** Some ops on a side, each possible after those before it. */
function randomSide(random: Random, side: string, base: readonly string[]): readonly OpDraft[] {
  const live = new Set(base);
  let made = 0;
  const ops: OpDraft[] = [];
  const said = (): { kind: string; scope: string } => ({
    kind: random.pick(['decision', 'fact', 'task']),
    scope: random.pick(scopes),
  });
  for (let step = 0; step < 3 + random.below(6); step += 1) {
    const one = random.pick([...live]);
    const other = random.pick([...live]);
    const fresh = random.chance(0.3) ? `shared-${random.below(2)}` : `${side}-${step}`;
    made += 1;
    const text = `${side} says ${made}`;
    const isFree = !live.has(fresh);
    switch (random.below(8)) {
      case 0:
        if (isFree) {
          ops.push(addAs(fresh, text, said()));
          live.add(fresh);
        }
        break;
      case 1:
        ops.push(supersede(one));
        live.delete(one);
        break;
      case 2:
        if (isFree) {
          ops.push(supersede(one, { content: text, ...said() }, fresh));
          live.delete(one);
          live.add(fresh);
        }
        break;
      case 3:
        if (one !== other) {
          ops.push(duplicate(one, other));
          live.delete(one);
        }
        break;
      case 4:
        ops.push(deprecate(one));
        break;
      case 5:
        if (one !== other) ops.push(relate(one, 'see', other));
        break;
      case 6:
        ops.push(attachEvidence(one, { note: text }));
        break;
      default:
        ops.push(correct(one, { content: text, ...said() }));
    }
    if (live.size < 2) break;
  }
  return ops.length > 0 ? ops : [correct(base[0] ?? '', { content: `${side} says something` })];
}

/** Drafts some choice for every conflict that waits, again and again until all can be carried out together. */
async function settle(world: MergeWorld, random: Random, filed: Pick<ProposalDetail, 'proposal_id'>) {
  for (let round = 0; round < roundsMax; round += 1) {
    const shown = await show(world, filed);
    if (shown.conflict_counts.unresolved === 0) return shown;
    const fine = new Set(
      shown.resolutions.filter(({ problem }) => problem === undefined).map(({ conflict_key: key }) => key),
    );
    for (const conflict of shown.conflicts) {
      if (conflict.severity !== 'blocking') continue;
      if (fine.has(conflict.conflict_key) && random.chance(0.6)) continue;
      const choice = random.pick(resolutionChoices);
      const chosen = {
        conflict_key: conflict.conflict_key,
        choice,
        ...(choice === 'edit' ? { content: `settled ${round}` } : {}),
      };
      await world.charon.charon.draftResolution(world.owner, filed.proposal_id, chosen).catch((thrown) => {
        if (!(thrown instanceof Fault) || thrown.code !== 'INPUT_INVALID') throw thrown;
      });
    }
  }
  throw new Error('no choices go together');
}

test('C76 C77 C78 C80 whatever is chosen for whatever two sides did, the merge lands and is what was chosen', {
  timeout: 300_000,
}, async () => {
  let settled = 0;
  for (let seed = 1; seed <= histories; seed += 1) {
    const random = seededRandom(seed);
    const world = await openMergeWorld();
    try {
      const base = ['a', 'b', 'c', 'd'];
      await land(
        world,
        base.map((id, index) => addAs(id, `the ${id}`, { kind: 'decision', scope: `own-${index}` })),
      );
      const right = await branchWith(world, randomSide(random, 'right', base));
      const left = await land(world, randomSide(random, 'left', base));
      const filed = await proposeHead(world, right);
      const shown = await settle(world, random, filed);
      settled += shown.resolutions.length;
      const at = (id: string, head: string) => inHead(world, id, head);
      await approveAndMerge(world, filed);
      for (const { conflict_id: id, choice } of shown.resolutions) {
        const conflict = shown.conflicts.find((one) => one.conflict_id === id);
        const memoryId = conflict?.details?.memory_id;
        if (typeof memoryId !== 'string' || (choice !== 'ours' && choice !== 'theirs')) continue;
        const chosen = at(memoryId, choice === 'ours' ? left.changeset_id : right.changeset_id);
        const { content, status } = inMain(world, memoryId);
        const others = shown.resolutions.filter(({ ops }) => ops.some((op) => op.target_event_id === memoryId));
        if (others.length === 1)
          expect({ seed, content, status }).toEqual({ seed, content: chosen.content, status: chosen.status });
      }
      const open = keptFor(world, filed.proposal_id).filter(({ status }) => status === 'open');
      expect({ seed, open }).toEqual({ seed, open: [] });
      expect({ seed, findings: (await world.temp.lethe.verifyChain(demo)).findings }).toEqual({ seed, findings: [] });
      expect(Object.keys(acceptedInMain(world)).length).toBeLessThan(20);
    } catch (thrown) {
      throw new Error(`seed ${seed}`, { cause: thrown });
    } finally {
      await world.remove();
    }
  }
  expect(settled).toBeGreaterThan(histories);
});

function inHead(world: MergeWorld, memoryId: string, head: string) {
  const { memory } = world.temp.lethe.getMemory({
    projectId: demo,
    memoryId: memoryIdSchema.parse(memoryId),
    headChangesetId: changesetIdSchema.parse(head),
    limit: 1,
  });
  return memory;
}
