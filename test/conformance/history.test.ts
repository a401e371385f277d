import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reviewedMerge } from '../support/history-builder.ts';
import { branch, commitBody, type Door, type Json, openDoor, startDemo } from './door.ts';

async function commit(door: Door, ref: string, head: string, more: Record<string, unknown> = {}): Promise<string> {
  door.temp.clock.advance(60_000);
  const made = await door.post('/memory/changesets', commitBody(ref, head, more));
  expect([made.status, made.value.error]).toEqual([201, undefined]);
  return made.value.changeset_id;
}

const idsOf = (answer: Json): readonly string[] => answer.value.changesets.map((one: Json) => one.changeset_id);

test('T75 a changeset with two parents keeps both; a log goes along first parents, or over all', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const side = 'refs/agents/bob/main';
  await door.post('/memory/demo/branches', { ref_name: side, head_changeset_id: root });
  const a = await commit(door, branch, root);
  const b = await commit(door, branch, a);
  const c = await commit(door, side, root);
  const merged = await commit(door, branch, b, { parent_ids: [b, c], ops: [reviewedMerge('p1', c)] });
  expect((await door.get(`/memory/changesets/${merged}`)).value.parent_ids).toEqual([b, c]);
  const log = `/memory/demo/changesets?ref=${branch}`;
  expect(idsOf(await door.get(log))).toEqual([merged, b, a, root]);
  expect(idsOf(await door.get(`${log}&all_parents=true`))).toEqual([merged, c, b, a, root]);
  expect((await door.get(`/memory/demo/context?ref=${branch}`)).value.total_active).toBe(3);
});

test('T78 the list of changesets at a moment is the one of that moment, page after page', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const startMs = door.temp.clock.nowMs();
  const heads = [root];
  for (let index = 0; index < 5; index += 1) heads.push(await commit(door, branch, heads.at(-1) ?? root));
  const at = new Date(startMs + 3 * 60_000 + 1).toISOString();
  const log = `/memory/demo/changesets?ref=${branch}&at=${at}`;
  expect(idsOf(await door.get(log))).toEqual(heads.slice(0, 4).reverse());
  const first = await door.get(`${log}&limit=2`);
  const second = await door.get(`${log}&limit=2&cursor=${first.value.next_cursor}`);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(heads.slice(0, 4).reverse());
  expect(second.value).not.toHaveProperty('next_cursor');
  expect(idsOf(await door.get(`${log}&all_parents=1`))).toEqual(heads.slice(0, 4).reverse());
  expect((await door.get(`/memory/demo/changesets?ref=${branch}&at=2020-01-01T00:00:00Z`)).status).toBe(404);
});

test('T75 fifty writers, each on a ref of its own, all land', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const refs = Array.from({ length: 50 }, (_, index) => `refs/sessions/alice/s${index}`);
  const made = await Promise.all(
    refs.map((ref) =>
      door.post('/memory/changesets', commitBody(ref, root, { create_ref_if_missing: true, expected_head: '' })),
    ),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(50);
  const again = await Promise.all(
    refs.map((ref, index) => door.post('/memory/changesets', commitBody(ref, made[index]?.value.changeset_id))),
  );
  expect(again.filter(({ status }) => status === 201)).toHaveLength(50);
  expect((await door.get('/memory/demo/verify')).value).toMatchObject({ ok: true, findings: [] });
});

test('T67 T71 no body and no query brings out anything but an answer of the protocol', async () => {
  const door = await openDoor();
  const root = await startDemo(door);
  const names = [
    'ref_name',
    'project_id',
    'ops',
    'parent_ids',
    'expected_head',
    'new_head',
    'head_changeset_id',
    'payload',
  ];
  const odd = fc.oneof(
    fc.constantFrom('', branch, 'refs/shared/main', root, 'demo', '\u0000', '\ud800', 'x'.repeat(2_000)),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const body = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 })), odd, { maxKeys: 8 });
  const commits = fc.record(Object.fromEntries(Object.keys(commitBody(branch, root)).map((name) => [name, odd])), {
    requiredKeys: [],
  });
  const posts = [
    ...['demo/legacy-root', 'demo/branches', 'demo/refs/advance', 'demo/refs/merge', 'demo/context', 'changesets'],
    ...[`changesets/${root}/diff`, 'demo/refs/x/advance'],
  ];
  const isAnswer = (answer: { status: number; body: string; value: Json }): boolean =>
    answer.status < 500 &&
    (answer.status < 400 || answer.value === undefined || typeof answer.value.error === 'string');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), body, async (where, sent) => {
      expect(isAnswer(await door.post(`/memory/${where}`, sent)), where).toBe(true);
    }),
    { numRuns: 150, seed: 7 },
  );
  await fc.assert(
    fc.asyncProperty(commits, async (more) => {
      expect(isAnswer(await door.post('/memory/changesets', commitBody(branch, root, more)))).toBe(true);
    }),
    { numRuns: 150, seed: 8 },
  );
  const gets = [
    'context',
    'search',
    'changesets',
    'refs/resolve',
    'memories/x',
    'memories/x/lineage',
    'advances',
    'ref-moves',
  ];
  const keys = ['ref', 'head', 'at', 'q', 'query', 'limit', 'cursor', 'kinds', 'tags', 'name', 'all_parents'];
  const text = fc.oneof(fc.constantFrom(branch, root, '%', 'x', ''), fc.string({ unit: 'binary', maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...gets), fc.dictionary(fc.constantFrom(...keys), text), async (where, query) => {
      const path = `/memory/demo/${where}?${new URLSearchParams(query)}`;
      expect(isAnswer(await door.get(path)), path).toBe(true);
    }),
    { numRuns: 200, seed: 9 },
  );
  expect((await door.get('/memory/demo/verify')).value).toMatchObject({ ok: true, findings: [] });
});
