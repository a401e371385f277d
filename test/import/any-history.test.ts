import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { historyBuilder, openTempLethe, projectId, type TempLethe } from '../support/history-builder.ts';
import { makeReferenceFile } from '../support/reference-files.ts';
import {
  openReferenceGit,
  type ReferenceHistory,
  type ReferenceOp,
  referenceHistory,
} from '../support/reference-stores.ts';

/** Whole numbers below a bound, the same in every run of a seed. */
function diceOf(seed: string): (sides: number) => number {
  let count = 0;
  return (sides) => {
    count += 1;
    return createHash('sha256').update(`${seed}/${count}`).digest().readUInt32LE(0) % sides;
  };
}

/** An op about one of a few memories; whether they are there is not asked, as a reference server of long ago did not. */
function randomOp(dice: (sides: number) => number): ReferenceOp {
  const memory = (): string => `m${dice(6)}`;
  const target_event_id = memory();
  const payload = { content: `text ${dice(9)}`, ...(dice(3) === 0 ? { tags: [`t${dice(3)}`] } : {}) };
  switch (dice(8)) {
    case 0:
      return { op_type: 'correct_memory', target_event_id, payload };
    case 1:
      return { op_type: 'correct_memory', target_event_id, resulting_event_id: memory(), payload };
    case 2:
      return {
        op_type: 'supersede_memory',
        target_event_id,
        ...(dice(2) === 0 ? {} : { resulting_event_id: memory(), payload }),
      };
    case 3:
      return { op_type: 'mark_duplicate', target_event_id, payload: { duplicate_of: memory() } };
    case 4:
      return { op_type: 'propose_deprecation', target_event_id, payload: { reason: 'r' } };
    case 5:
      return { op_type: 'attach_evidence', target_event_id, payload: { note: `n${dice(9)}` } };
    case 6:
      return { op_type: 'add_relationship', target_event_id, resulting_event_id: memory(), payload: { kind: 'k' } };
    default:
      return { op_type: 'add_memory', resulting_event_id: target_event_id, payload };
  }
}

/** Branches, merges of anything with anything, and ops on few memories. */
function fillRandom(history: ReferenceHistory, seed: string): void {
  const dice = diceOf(seed);
  const made = [history.root];
  const any = (): string => made[dice(made.length)] ?? history.root;
  for (let step = 0; step < 30; step += 1) {
    const first = dice(3) === 0 ? any() : (made.at(-1) ?? history.root);
    const second = dice(3) === 0 ? any() : first;
    const ops = Array.from({ length: dice(4) }, () => randomOp(dice));
    made.push(
      history.commit({ ref: 'refs/agents/a/main', parents: first === second ? [first] : [first, second], ops }),
    );
  }
  history.ref('refs/agents/a/main', made.at(-1) ?? history.root);
  history.ref('refs/agents/b/main', any());
}

async function expectImported(temp: TempLethe, path: string, seed: string): Promise<void> {
  const { contentDigest } = await temp.lethe.inspectImport({ path });
  await temp.lethe.importFile({ path, contentDigest, principal: 'importer' });
  expect([seed, await temp.lethe.verifyChain(projectId('demo'))]).toMatchObject([seed, { ok: true, findings: [] }]);
}

test('L273 histories that no door would write are imported, and index and replay agree about them', async () => {
  for (let round = 0; round < 15; round += 1) {
    const seed = `history-${round}`;
    const path = makeReferenceFile(openReferenceGit, (store) =>
      fillRandom(referenceHistory(store, 'demo', seed), seed),
    );
    const temp = openTempLethe();
    if (round % 2 === 1) await historyBuilder(temp).init();
    await expectImported(temp, path, seed);
    temp.remove();
  }
}, 120_000);
