import { expect, test } from 'vitest';
import { type Random, seededRandom } from '../fuzz/random.ts';
import {
  add,
  addAs,
  attachEvidence,
  correct,
  deprecate,
  duplicate,
  type HistoryBuilder,
  historyBuilder,
  type OpDraft,
  openTempLethe,
  relate,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { comparedBy, verifying } from './seal-stage.ts';
import { altered, disarm } from './verify-stage.ts';

type Row = Record<string, string | number | Uint8Array | null>;

const histories = 6;
const damages = 12;
const tables = [
  'memory_changesets',
  'memory_changeset_parents',
  'memory_op_payloads',
  'memory_ref_moves',
  'memory_places',
  'memory_touches',
  'memory_versions',
  'memory_ids',
  'memory_vector_nodes',
  'memory_semantic_keys',
  'memory_recency_pages',
  'memory_relationships',
  'text_versions',
];

function anOp(random: Random, names: readonly string[]): OpDraft {
  const [one, other] = [random.pick(names), random.pick(names)];
  const kinds: readonly (() => OpDraft)[] = [
    () => add(`memory ${random.below(1_000)}`),
    () => correct(one, { content: `corrected ${random.below(1_000)}` }),
    () => supersede(one),
    () => relate(one, 'beside', other),
    () => attachEvidence(one, { note: `seen ${random.below(9)}` }),
    () => duplicate(one, other),
    () => deprecate(one),
  ];
  return random.pick(kinds)();
}

/** Grows a history of branches and merges; what the store refuses is passed over. */
async function grow(history: HistoryBuilder, random: Random, steps: number): Promise<void> {
  const refs = ['refs/topics/0', 'refs/topics/1', 'refs/topics/2'];
  const names = ['a', 'b', 'c', 'd'];
  for (let step = 0; step < steps; step += 1) {
    const ref = random.pick(refs);
    const made = random.chance(0.2)
      ? history.mergeInto(ref, random.pick(refs), [add('merged')])
      : history.commit(ref, [random.chance(0.4) ? addAs(random.pick(names), `named ${step}`) : anOp(random, names)]);
    await made.catch(() => {});
  }
}

/** Alters one column of one row anywhere; false where the schema does not let it. */
function damage(temp: TempLethe, random: Random): string | undefined {
  const table = random.pick(tables);
  const rows = temp.db.query<[], Row>(`SELECT * FROM ${table}`).all();
  if (rows.length === 0) return undefined;
  const row = random.pick(rows);
  const column = random.pick(Object.keys(row));
  const value = row[column];
  const to = value instanceof Uint8Array ? value.map((byte, at) => (at === 0 ? byte ^ 2 : byte)) : altered(value);
  const keys = temp.db
    .query<[], { name: string }>(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0`)
    .all()
    .map(({ name }) => name);
  try {
    temp.db
      .command<(string | number | Uint8Array | null)[]>(
        `UPDATE ${table} SET ${column} = ? WHERE ${keys.map((key) => `${key} = ?`).join(' AND ')}`,
      )
      .run(to, ...keys.map((key) => row[key] ?? null));
    return `${table}.${column} of ${keys.map((key) => row[key]).join(' ')}`;
  } catch {
    return undefined;
  }
}

test('L312 on random histories a sealed verification and a full one agree, sound or damaged', async () => {
  let compared = 0;
  let damaged = 0;
  for (let seed = 0; seed < histories; seed += 1) {
    const random = seededRandom(seed);
    const temp = openTempLethe({ seed: `seal ${seed}` });
    try {
      const history = historyBuilder(temp);
      await history.init();
      for (const n of [0, 1, 2]) await history.branch(`refs/topics/${n}`);
      const limits = { rows: 1 + random.below(7), ops: 64 };
      for (let round = 0; round < 3; round += 1) {
        await grow(history, random, 12);
        if (random.chance(0.8)) while (await temp.lethe.maintain());
        const report = await verifying(temp, history.project, { limits, signedBy: 'head' });
        expect([seed, round, report.findings]).toEqual([seed, round, []]);
        compared += comparedBy(report);
      }
      expect(await verifying(temp, history.project, { limits, isFull: true })).toMatchObject({ ok: true });
      disarm(temp);
      for (let at = 0; at < damages; at += 1) {
        temp.db.exec('SAVEPOINT damage');
        const what = damage(temp, random);
        if (what !== undefined) {
          damaged += 1;
          const sealed = await verifying(temp, history.project, { limits });
          const full = await verifying(temp, history.project, { limits, isFull: true });
          expect([seed, what, sealed.ok]).toEqual([seed, what, full.ok]);
        }
        temp.db.exec('ROLLBACK TO damage; RELEASE damage');
      }
    } finally {
      temp.remove();
    }
  }
  expect(compared).toBeGreaterThan(40);
  expect(damaged).toBeGreaterThan(30);
});
