import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import { readDiff } from '../../src-main/lethe/diff.ts';
import { readMemory } from '../../src-main/lethe/memory.ts';
import { verifyProjection } from '../../src-main/lethe/projection/verify.ts';
import { maintainTextIndex, openTextView, versionSource } from '../../src-main/lethe/text-head.ts';
import { verifyTextIndex } from '../../src-main/lethe/text-indexing.ts';
import { searchMemories } from '../../src-main/lethe/text-search.ts';
import { changesetIdSchema, memoryIdSchema, refNameSchema } from '../../src-preload/contract/ids.ts';
import { type HistoryStore, historyProject, openHistoryStore } from '../fuzz/history-store.ts';
import { seededRandom } from '../fuzz/random.ts';
import { growHistory } from '../fuzz/random-history.ts';
import { addAs, attachEvidence, correct, supersede } from '../support/history-builder.ts';

let store: HistoryStore;
beforeEach(() => {
  store = openHistoryStore();
});
afterEach(() => store.close());

const idAt = (seq: number) => changesetIdSchema.parse(store.idOf(seq));
const answer = (id: string, head: number) =>
  readMemory(store.db, {
    projectId: historyProject,
    memoryId: memoryIdSchema.parse(id),
    headChangesetId: idAt(head),
    limit: 50,
  });

function refTo(head: number, name = 'refs/topics/fuzz'): void {
  const at = '2027-01-15T08:00:00Z';
  store.db
    .command<[string, string, number, string, string]>(
      "INSERT INTO memory_refs (project_id, ref_name, head_seq, protected, created_at, updated_at, created_by_principal) VALUES (?, ?, ?, 0, ?, ?, 'someone')",
    )
    .run(historyProject, refNameSchema.parse(name), head, at, at);
}

async function problems(): Promise<readonly string[]> {
  const findings = openFindings();
  await verifyProjection(
    (chunk) => chunk(store.db),
    historyProject,
    findings,
    async () => {},
  );
  return findings.list.map(({ where, problem }) => `${where}: ${problem}`);
}

/** Two sides of a history that was made elsewhere, and a merge of them that says nothing. */
function growSilent(): { readonly left: number; readonly right: number; readonly merged: number } {
  const fork = store.commit([store.commit([], [])], [addAs('plan', 'the plan'), addAs('note', 'a note')]);
  const left = store.commit(
    [fork],
    [correct('plan', { content: 'left plan', scope: 'desk' }), correct('note', { scope: 'left' })],
  );
  const right = store.commit(
    [fork],
    [
      correct('plan', { tags: ['right'] }),
      attachEvidence('plan', { note: 'right' }),
      correct('plan', { kind: 'task' }, 'next'),
      supersede('note'),
    ],
  );
  const merged = store.commit([left, right], [addAs('beside', 'beside it')], 'override');
  refTo(merged);
  return { left, right, merged };
}

describe('a merge that was made elsewhere and decides nothing', () => {
  test('L23 is refused where it may not override', () => {
    const { left, right } = growSilent();
    expect(() => store.commit([left, right], [])).toThrow(
      expect.objectContaining({ code: 'BOTH_SIDES_TOUCHED', data: { memory_ids: ['note', 'plan'], total: 2 } }),
    );
  });

  test('L151 makes of each memory what the second side’s ops over the first side’s states make, and of what they made', async () => {
    const { merged } = growSilent();
    const last = store.idOf(merged);
    expect(answer('plan', merged).memory).toMatchObject({
      status: 'corrected',
      content: 'left plan',
      scope: 'desk',
      tags: ['right'],
      last_changeset_id: last,
    });
    expect(answer('next', merged).memory).toMatchObject({
      status: 'active',
      content: 'left plan',
      scope: 'desk',
      kind: 'task',
      tags: ['right'],
      evidence: [{ note: 'right' }],
      last_changeset_id: last,
    });
    expect(answer('note', merged).memory).toMatchObject({ status: 'superseded', scope: 'left' });
    expect(await problems()).toEqual([]);
  });

  test('L104 L151 a lineage and a diff tell it as a correction by the merge', () => {
    const { right, merged } = growSilent();
    expect(answer('next', merged).lineage.findLast(({ memory_id }) => memory_id === 'next')).toMatchObject({
      changeset_id: store.idOf(merged),
      op_type: 'correct_memory',
      memory_id: 'next',
      before: { content: 'the plan' },
      after: { content: 'left plan' },
    });
    const found = readDiff(store.db, {
      baseChangesetId: idAt(right),
      targetChangesetId: idAt(merged),
      side: 'both',
      limit: 50,
    });
    expect(found.corrections_proposed).toMatchObject([
      { memory_id: 'next', changeset_id: store.idOf(merged), summary: 'what both sides of the merge made of it' },
    ]);
  });

  test('L64 L79 L151 its states are found by their text, indexed or not, and verified', () => {
    const { merged } = growSilent();
    const found = (): readonly number[] =>
      searchMemories(store.db, openTextView(store.db, { projectId: historyProject, seq: merged }), {
        query: 'left right',
        filter: {},
        offset: 0,
        limit: 10,
      }).matches.map(({ state }) => state.version);
    const before = found();
    expect(before).toHaveLength(1);
    while (maintainTextIndex(store.db));
    expect(found()).toEqual(before);
    const stretch = versionSource(store.db)(0, 100);
    expect(stretch.map(({ version }) => version)).toEqual(
      stretch.map(({ version }) => version).toSorted((one, other) => one - other),
    );
    expect(stretch.map(({ version }) => version)).toContain(before[0]);
    expect(verifyTextIndex(store.db, stretch)).toEqual([]);
    expect(versionSource(store.db)((before[0] ?? 0) - 1, 1).map(({ version }) => version)).toEqual(before);
  });

  test.each([
    ['a lost touch', 'DELETE FROM memory_touches WHERE key % 65536 >= 10000 AND status = 1'],
    [
      'another state',
      "UPDATE memory_versions SET body = json_remove(body, '$.f.scope') WHERE version % 65536 >= 10000",
    ],
    ['a state that says it was restored', "UPDATE memory_versions SET body = json_set(body, '$.r', version)"],
    [
      'a joined list that lacks one',
      'UPDATE memory_versions SET body = json_set(body, \'$.j\', json(\'{"evidence":{"newest":[],"total":1}}\')) WHERE version % 65536 >= 10000',
    ],
  ])('L118 L151 %s of it is found', async (_, sql) => {
    growSilent();
    store.db.exec(sql);
    expect(await problems()).not.toEqual([]);
  });

  test('L118 L151 random histories with such merges, restores and picks verify with nothing found', async () => {
    for (let seed = 0; seed < 8; seed += 1) {
      store.close();
      store = openHistoryStore();
      const random = seededRandom(seed + 50_000);
      growHistory(store, random, 50);
      const heads = [...store.history.keys()];
      for (let ref = 0; ref < 6; ref += 1) refTo(random.pick(heads), `refs/topics/fuzz-${ref}`);
      expect(await problems(), `seed ${seed}`).toEqual([]);
    }
  }, 60_000);
});
