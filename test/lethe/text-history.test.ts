import { describe, expect, onTestFinished, test } from 'vitest';
import { openFindings } from '../../src-main/base/findings.ts';
import type { SearchInput } from '../../src-main/lethe/api.ts';
import { contextScore } from '../../src-main/lethe/rules/relevance.ts';
import { contextTokens } from '../../src-main/lethe/rules/tokens.ts';
import { readSearch } from '../../src-main/lethe/search.ts';
import { listTouchingOps } from '../../src-main/lethe/tables/text-index.ts';
import { maintainTextIndex, openTextView, versionSource } from '../../src-main/lethe/text-head.ts';
import { verifyTextIndex } from '../../src-main/lethe/text-indexing.ts';
import { matchContext } from '../../src-main/lethe/text-search.ts';
import { verifyProjectText } from '../../src-main/lethe/text-verify.ts';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import { seededRandom } from '../fuzz/random.ts';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/agents/a/main';

async function openHistory(): Promise<{ temp: TempLethe; history: HistoryBuilder }> {
  const temp = openTempLethe();
  onTestFinished(() => temp.remove());
  const history = historyBuilder(temp);
  await history.init();
  await history.branch(work);
  return { temp, history };
}

function maintain(temp: TempLethe): boolean {
  temp.db.exec('BEGIN IMMEDIATE');
  const more = maintainTextIndex(temp.db);
  temp.db.exec('COMMIT');
  return more;
}

function seqOfHead(temp: TempLethe, changesetId: string): number {
  const row = temp.db
    .query<[string], { seq: number }>('SELECT seq FROM memory_changesets WHERE changeset_id = ?')
    .get(changesetId);
  return row?.seq ?? 0;
}

function search(temp: TempLethe, history: HistoryBuilder, ref: string, query: string, more: Partial<SearchInput> = {}) {
  const changesetId = history.head(ref);
  const head = { projectId: history.project, seq: seqOfHead(temp, changesetId), changesetId };
  return readSearch(temp.db, head, { projectId: history.project, refName: mainRefName, query, limit: 20, ...more });
}

function idsFound(...from: Parameters<typeof search>): readonly string[] {
  return search(...from)
    .matches.map((match) => match.memory.memory_id)
    .toSorted();
}

describe.each([
  ['waiting', false],
  ['indexed', true],
])('a real history, %s', (_name, indexed) => {
  const settle = (temp: TempLethe): void => {
    while (indexed && maintain(temp));
  };

  test('L77 a corrected memory is found by its merged text, under its present id', async () => {
    const { temp, history } = await openHistory();
    await history.commit(work, [addAs('m1', 'the port is 80', { scope: 'web', kind: 'fact' }), add('unrelated')]);
    await history.commit(work, [correct('m1', { content: 'the port is 443' })]);
    await history.commit(work, [correct('m1', { tags: ['tls'] }, 'm2')]);
    settle(temp);
    const [match] = search(temp, history, work, '443 web fact tls').matches;
    expect(match?.memory).toMatchObject({ memory_id: 'm2', content: 'the port is 443', scope: 'web', tags: ['tls'] });
    expect(match?.why.map(({ token, fields }) => [token, fields])).toEqual([
      ['443', ['content']],
      ['web', ['scope']],
      ['fact', ['kind']],
      ['tls', ['tags']],
    ]);
    expect(idsFound(temp, history, work, '80')).toEqual([]);
  });

  test('L64 each head finds its own: before and after a supersession, on main and on a branch', async () => {
    const { temp, history } = await openHistory();
    const first = await history.commit(work, [addAs('m1', 'alpha one'), addAs('m2', 'alpha two')]);
    await history.branch('refs/agents/a/old', first);
    await history.commit(work, [supersede('m1', { content: 'beta' }, 'm3'), supersede('m2')]);
    settle(temp);
    expect(idsFound(temp, history, work, 'alpha')).toEqual([]);
    expect(idsFound(temp, history, work, 'beta')).toEqual(['m3']);
    expect(idsFound(temp, history, 'refs/agents/a/old', 'alpha')).toEqual(['m1', 'm2']);
    expect(idsFound(temp, history, 'refs/shared/main', 'alpha')).toEqual([]);
  });

  test('L76 a page continues at the head that the first page saw, and only for the same question', async () => {
    const { temp, history } = await openHistory();
    await history.commit(
      work,
      Array.from({ length: 7 }, (_, index) => addAs(`m${index}`, `word ${index}`)),
    );
    settle(temp);
    const first = search(temp, history, work, 'word', { limit: 4 });
    await history.commit(work, [add('word anew'), supersede('m0')]);
    const cursor = first.nextCursor ?? '';
    const second = search(temp, history, work, 'word', { limit: 4, cursor });
    expect(second.headChangesetId).toBe(first.headChangesetId);
    expect(second.nextCursor).toBe(undefined);
    const ids = [...first.matches, ...second.matches].map((match) => match.memory.memory_id);
    expect(ids.toSorted()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
    const refused = expect.objectContaining({ code: 'CURSOR_INVALID' });
    expect(() => search(temp, history, work, 'other', { limit: 4, cursor })).toThrow(refused);
    expect(() => search(temp, history, work, 'word', { limit: 4, cursor, kinds: ['fact'] })).toThrow(refused);
    expect(() => search(temp, history, 'refs/shared/main', 'word', { limit: 4, cursor })).toThrow(refused);
    expect(() => search(temp, history, work, 'word', { limit: 4, cursor: 'bm8' })).toThrow(refused);
  });
});

test('L79 a verification of the project names the op whose text the index lacks, and only of that project', async () => {
  const { temp, history } = await openHistory();
  const other = historyBuilder(temp, 'other');
  await other.init();
  const damaged = await history.commit(work, [add('alpha'), add('beta'), add('gamma')]);
  const verify = async (of: HistoryBuilder) => {
    const findings = openFindings();
    await verifyProjectText(
      (chunk) => temp.db.reading(() => chunk(temp.db)),
      of.project,
      findings,
      async () => {},
    );
    return findings.list;
  };
  expect(await verify(history)).toEqual([]);
  while (maintain(temp));
  await history.commit(work, [add('waiting')]);
  expect(await verify(history)).toEqual([]);
  temp.db.exec('DELETE FROM text_versions WHERE version = (SELECT max(version) - 1 FROM text_versions)');
  expect(await verify(history)).toEqual([
    { where: `op 1 of changeset ${damaged.changeset_id}`, problem: 'is missing from the full-text index' },
  ]);
  expect(await verify(other)).toEqual([]);
});

test('L74 two projects of one store, one indexed and one waiting, find only their own', async () => {
  const { temp, history } = await openHistory();
  const other = historyBuilder(temp, 'other');
  await other.init();
  await other.branch(work);
  await history.commit(work, [addAs('m1', 'shared word')]);
  while (maintain(temp));
  await other.commit(work, [addAs('m1', 'shared word of the other')]);
  const contents = (of: HistoryBuilder) =>
    search(temp, of, work, 'shared').matches.map((match) => match.memory.content);
  expect(contents(history)).toEqual(['shared word']);
  expect(contents(other)).toEqual(['shared word of the other']);
});

describe('following behind', () => {
  test('L60 a commit writes nothing of the index, and maintenance ends with nothing waiting', async () => {
    const { temp, history } = await openHistory();
    const count = () => temp.db.query<[], { n: number }>('SELECT count(*) AS n FROM text_versions').get()?.n;
    await history.commit(work, [add('alpha'), add('beta')]);
    await history.commit(work, [{ op_type: 'attach_verification', payload: { summary: 's', reviewer: 'r' } }]);
    expect(count()).toBe(0);
    while (maintain(temp));
    expect(count()).toBe(2);
    expect(maintain(temp)).toBe(false);
    expect(verifyTextIndex(temp.db, versionSource(temp.db)(0, 100))).toEqual([]);
  });

  test('L61 a step of maintenance whose write is undone leaves no trace, and can be done again', async () => {
    const { temp, history } = await openHistory();
    await history.commit(work, [add('alpha'), add('beta')]);
    temp.db.exec('BEGIN IMMEDIATE');
    expect(() =>
      temp.db.savepoint(() => {
        maintainTextIndex(temp.db);
        throw new Error('undone');
      }),
    ).toThrow('undone');
    temp.db.exec('COMMIT');
    expect(search(temp, history, work, 'alpha').matches).toHaveLength(1);
    while (maintain(temp));
    expect(search(temp, history, work, 'alpha beta').matches).toHaveLength(2);
    expect(verifyTextIndex(temp.db, versionSource(temp.db)(0, 100))).toEqual([]);
  });

  test('L71 what waits is found by lookups along the ops', async () => {
    const { temp } = await openHistory();
    listTouchingOps(temp.db, 0, 1);
    const plan = temp.db.explain(
      `SELECT t.memory FROM memory_changeset_ops o JOIN memory_changesets c ON c.seq = o.seq JOIN memory_places p ON p.seq = o.seq
        LEFT JOIN memory_touches t ON t.chain = p.chain AND t.key = o.op AND t.status = 1 WHERE o.op > 5 ORDER BY o.op LIMIT 9`,
    );
    expect(plan).toHaveLength(4);
    for (const step of plan) expect(step).toMatch(/^SEARCH \w+ USING (INTEGER PRIMARY KEY|INDEX)/);
  });
});

test('L61 L64 random histories: at every head, search and context find what a scan of its memories finds', async () => {
  const words = ['alpha', 'beta', 'alphabet', '設定', 'x1', 'вода', 'да'];
  for (let seed = 1; seed <= 12; seed += 1) {
    const { temp, history } = await openHistory();
    const random = seededRandom(seed);
    const refs = [work];
    const heads = new Set<string>();
    const { pick } = random;
    for (let step = 0; step < 40; step += 1) {
      const ref = pick(refs);
      const text = Array.from({ length: 1 + random.below(3) }, () => pick(words)).join(' ');
      const target = `m${random.below(8)}`;
      const op = pick([
        addAs(target, text),
        add(text),
        correct(target, { content: text }),
        correct(target, { content: text }, `n${step}`),
        supersede(target),
        supersede(target, { content: text }),
      ]);
      const landed = await history.commit(ref, [op]).catch((fault: { code?: string }) => {
        expect(fault.code).toBe('OP_INVALID');
        return undefined;
      });
      if (landed !== undefined) heads.add(landed.changeset_id);
      if (random.chance(0.12)) {
        const name = `refs/agents/a/b${step}`;
        await history.branch(name, ref);
        refs.push(name);
      }
      if (random.chance(0.2)) maintain(temp);
    }
    const memories = temp.db.query<[], { memory: number }>('SELECT DISTINCT memory FROM memory_touches').all();
    for (const head of heads) {
      const seq = seqOfHead(temp, head);
      const view = openTextView(temp.db, { projectId: history.project, seq });
      const alive = memories.flatMap(({ memory }) => view.findLive(memory) ?? []);
      expect(alive).toHaveLength(view.totalActive);
      const query = `${pick(words)} ${pick(words)}`;
      const tokens = contextTokens(query);
      const expected = alive
        .map((state) => [state.touch.memory, contextScore(tokens, state.text)] as const)
        .filter(([, score]) => score > 0);
      const found = matchContext(temp.db, view, query, {}).map(
        ({ state, score }) => [state.touch.memory, score] as const,
      );
      const ordered = (rows: readonly (readonly [number, number])[]) => rows.toSorted((a, b) => a[0] - b[0]);
      expect(ordered(found)).toEqual(ordered(expected));
    }
    expect(verifyTextIndex(temp.db, versionSource(temp.db)(0, 1_000))).toEqual([]);
  }
});
