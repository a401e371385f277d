import { expect, test } from 'vitest';
import { toTimestamp } from '../../src-main/base/clock.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { branch, commitInput, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

type Payload = Readonly<Record<string, string | string[]>>;

/** A writer whose branch has three memories, a minute apart; answers the branch, the head and the moments. */
async function stage(engine: TempEngine) {
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const moments: string[] = [];
  let { head } = at;
  const step = async (id: string, payload: Payload): Promise<void> => {
    engine.clock.advance(60_000);
    const ops = [{ ordinal: 0, op_type: 'add_memory' as const, resulting_event_id: id, payload: { ...payload } }];
    head = (await engine.run(caller, 'memory.changeset_create', { ...commitInput('demo', { ref: at.ref, head }), ops }))
      .changeset_id;
    moments.push(toTimestamp(engine.clock.nowMs()));
  };
  await step('green', { content: 'green tea', kind: 'fact', visibility: 'shared', scope: 'kitchen' });
  await step('black', { content: 'black tea', kind: 'task', scope: 'office', approval: 'user_approved' });
  await step('white', { content: 'white tea', kind: 'fact', scope: 'office' });
  return { caller, ref: at.ref, head, moments };
}

test('P38 a context, a search and one memory are read at a moment, and a moment with a head is refused', async () => {
  const engine = await tempEngine();
  const { caller, ref, head, moments } = await stage(engine);
  const at = moments[0];
  const common = { project: 'demo', ref, at };
  const context = await engine.run(caller, 'memory.context_at', common);
  const search = await engine.run(caller, 'memory.search', { ...common, query: 'tea' });
  const memory = await engine.run(caller, 'memory.get', { ...common, memory_id: 'green' });
  expect(context.memories.map((one) => one.memory_id)).toEqual(['green']);
  expect(search.matches.map((match) => match.memory.memory_id)).toEqual(['green']);
  expect(memory).toMatchObject({ memory: { memory_id: 'green' }, head_changeset_id: context.head_changeset_id });
  expect(search.head_changeset_id).toBe(context.head_changeset_id);
  expect((await engine.refusal(caller, 'memory.get', { ...common, memory_id: 'white' })).code).toBe('MEMORY_NOT_FOUND');
  expect((await engine.run(caller, 'memory.get', { project: 'demo', ref, memory_id: 'white' })).head_changeset_id).toBe(
    head,
  );
  for (const [name, input] of [
    ['memory.context_at', {}],
    ['memory.search', { query: 'tea' }],
    ['memory.get', { memory_id: 'green' }],
  ] as const) {
    const refused = await engine.refusal(caller, name, { ...common, ...input, head_changeset_id: head });
    expect([name, refused.code, refused.data]).toEqual([name, 'INPUT_INVALID', { field: 'at' }]);
  }
});

test('P38 the pages of one memory are of the head of the first, also when its ref has moved', async () => {
  const engine = await tempEngine();
  const { caller, ref, head } = await stage(engine);
  const change = async (parent: string, content: string): Promise<string> => {
    const ops = [{ ordinal: 0, op_type: 'correct_memory' as const, target_event_id: 'green', payload: { content } }];
    const input = { ...commitInput('demo', { ref, head: parent }), ops };
    return (await engine.run(caller, 'memory.changeset_create', input)).changeset_id;
  };
  let tip = head;
  for (let round = 0; round < 60; round += 1) tip = await change(tip, `round ${round}`);
  const asked = { project: 'demo', ref, memory_id: 'green' };
  const first = await engine.run(caller, 'memory.get', asked);
  await change(tip, 'later');
  const second = await engine.run(caller, 'memory.get', { ...asked, cursor: first.next_cursor });
  expect([first, second].map((page) => page.head_changeset_id)).toEqual([tip, tip]);
  expect(first.lineage.length + second.lineage.length).toBe(61);
  for (const other of [{ head_changeset_id: head }, { memory_id: 'black' }, { ref: 'refs/shared/main' }]) {
    const refused = await engine.refusal(caller, 'memory.get', { ...asked, ...other, cursor: first.next_cursor });
    expect([other, refused.code]).toEqual([other, 'CURSOR_INVALID']);
  }
});

test('P38 one memory of a ref that is not served is refused by its ref', async () => {
  const engine = await tempEngine();
  const { ref } = await stage(engine);
  const other = await engine.agent('other', 'propose', 'demo');
  expect((await engine.refusal(other, 'memory.get', { project: 'demo', ref, memory_id: 'green' })).code).toBe(
    'NOT_REF_OWNER',
  );
});

test('P38 filters restrict context and search alike, are pinned by their cursors, and a wrong one is refused by name', async () => {
  const engine = await tempEngine();
  const { caller, ref, moments } = await stage(engine);
  const { principal_id: author } = caller.principal;
  const common = { project: 'demo', ref };
  for (const [filter, kept] of [
    [{ visibilities: ['shared'] }, ['green']],
    [{ visibilities: ['unspecified'] }, ['white', 'black']],
    [{ scopes: ['office'], kinds: ['fact'] }, ['white']],
    [{ trusts: ['user_approved'] }, ['black']],
    [{ authors: [author] }, ['white', 'black', 'green']],
    [{ authors: ['principal_0000000000000000'] }, []],
    [{ since: moments[1], until: moments[1] }, ['black']],
  ] as const) {
    const asked = { ...common, ...JSON.parse(JSON.stringify(filter)) };
    const context = await engine.run(caller, 'memory.context_at', asked);
    const search = await engine.run(caller, 'memory.search', { ...asked, query: 'tea' });
    expect([filter, context.memories.map((one) => one.memory_id)]).toEqual([filter, kept]);
    expect([filter, search.matches.map((match) => match.memory.memory_id).sort()]).toEqual([filter, [...kept].sort()]);
  }
  const page = await engine.run(caller, 'memory.context_at', { ...common, scopes: ['office'], limit: 1 });
  const other = { ...common, scopes: ['kitchen'], limit: 1, cursor: page.next_cursor };
  expect((await engine.refusal(caller, 'memory.context_at', other)).code).toBe('CURSOR_INVALID');
  for (const [filter, field] of [
    [{ visibilities: ['secret'] }, 'visibilities'],
    [{ scopes: [''] }, 'scopes'],
    [{ since: 'yesterday' }, 'since'],
    [{ owners: ['x'] }, 'owners'],
  ] as const)
    for (const name of ['memory.context_at', 'memory.search']) {
      const refused = await engine.refusal(caller, name, { ...common, query: 'tea', ...filter });
      expect([refused.code, refused.message]).toEqual(['INPUT_INVALID', expect.stringContaining(field)]);
    }
});

test('P38 P33 what a context leaves out is listed with the reasons and never pinned; a manifest excludes every selector', async () => {
  const engine = await tempEngine();
  const { caller, ref } = await stage(engine);
  const common = { project: 'demo', ref, limit: 1 };
  const listed = await engine.run(caller, 'memory.context_at', { ...common, scopes: ['office'], excluded: true });
  expect(listed).toMatchObject({
    memories: [],
    exclusion_reasons: { black: 'outside selected context limit', green: 'left out by the filter on scopes' },
  });
  expect(listed).not.toHaveProperty('manifest_id');
  const pinned = await engine.refusal(caller, 'memory.context_at', { ...common, excluded: true, pin: true });
  expect([pinned.code, pinned.data]).toEqual(['INPUT_INVALID', { field: 'pin' }]);
  const { manifest_id: manifest } = await engine.run(caller, 'memory.context_at', common);
  for (const selector of [
    { scopes: ['x'] },
    { authors: ['x'] },
    { excluded: true },
    { until: '2026-01-01T00:00:00Z' },
  ]) {
    const refused = await engine.refusal(caller, 'memory.context_at', {
      project: 'demo',
      manifest_id: manifest,
      ...selector,
    });
    expect([refused.code, refused.data]).toEqual(['INPUT_INVALID', { field: Object.keys(selector)[0] }]);
  }
});

test('P30 reasons with the longest ids fit into one result, and their pages put together are the whole', async () => {
  const engine = await tempEngine();
  const { caller, ref, head } = await stage(engine);
  const ids = Array.from({ length: 90 }, (_, index) => `${'é'.repeat(500)}${index}`);
  await engine.run(caller, 'memory.changeset_create', {
    ...commitInput('demo', { ref, head }),
    ops: ids.map((id, ordinal) => ({
      ordinal,
      op_type: 'add_memory' as const,
      resulting_event_id: id,
      payload: { content: 'x' },
    })),
  });
  const seen: string[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const page = await engine.run(caller, 'memory.context_at', {
      project: 'demo',
      ref,
      limit: 3,
      excluded: true,
      cursor,
    });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(resultBytesMax);
    seen.push(...Object.keys(page.exclusion_reasons ?? {}));
    cursor = page.next_cursor;
  }
  expect(seen).toHaveLength(90);
  expect(new Set(seen).size).toBe(90);
});
