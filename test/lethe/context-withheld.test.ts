import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContextInput } from '../../src-main/lethe/api.ts';
import { withheldReasonsMax } from '../../src-main/lethe/withheld.ts';
import { type ManifestId, memoryIdSchema } from '../../src-preload/contract/ids.ts';
import type { MemoryContext } from '../../src-preload/contract/memory.ts';
import { add, addAs, correct, refName, relate } from '../support/history-builder.ts';
import { type ConflictStage, decision, first, openConflictStage, ours, theirs } from './conflict-stage.ts';

const both = 'refs/topics/both';
let stage: ConflictStage;
beforeEach(async () => {
  stage = await openConflictStage();
});
afterEach(() => stage.temp.remove());

/** A branch that has both sides, with the conflict between them open; answers the conflict's id. */
async function openBoth(): Promise<string> {
  const { conflict_id: id } = first(await stage.keep());
  await stage.history.branch(both, ours);
  await stage.history.mergeInto(both, theirs);
  return id;
}

function question(more: Partial<ContextInput> = {}): ContextInput {
  return { projectId: stage.history.project, refName: refName(both), limit: 20, ...more };
}

function context(more: Partial<ContextInput> = {}): MemoryContext {
  return stage.temp.lethe.context(question(more));
}

const idsOf = (reply: MemoryContext): readonly string[] => reply.memories.map((memory) => memory.memory_id);

function found(query: string): readonly string[] {
  const { matches } = stage.temp.lethe.search({ ...question(), query });
  return matches.map(({ memory }) => memory.memory_id);
}

function get(memoryId: string) {
  const memory = memoryIdSchema.parse(memoryId);
  return stage.temp.lethe.getMemory({
    projectId: stage.history.project,
    memoryId: memory,
    refName: refName(both),
    limit: 10,
  });
}

function idOf(reply: MemoryContext): ManifestId {
  if (reply.manifest_id === undefined) throw new Error('a pinned context has a manifest');
  return reply.manifest_id;
}

describe('withheld memories', () => {
  test('L213 are in no context, query, search or count while the conflict is open, and are again when it is settled', async () => {
    const id = await openBoth();
    const reply = context();
    expect(idsOf(reply)).toHaveLength(1);
    expect([reply.total_active, reply.withheld_total]).toEqual([1, 2]);
    expect(reply.unresolved_conflicts).toEqual([id]);
    expect(reply.exclusion_reasons).toEqual({
      'ours-net': `withheld by unresolved conflict ${id}`,
      'theirs-net': `withheld by unresolved conflict ${id}`,
    });
    expect(idsOf(context({ query: 'cable' }))).toEqual(idsOf(reply));
    expect(found('cable')).toEqual([]);
    expect(stage.temp.lethe.totalActive(stage.history.head(both))).toBe(1);
    while (await stage.temp.lethe.maintain());
    expect(found('cable')).toEqual([]);
    await stage.resolve(first(stage.list()).conflict_id);
    expect(
      idsOf(context({ query: 'cable' }))
        .slice(0, 2)
        .sort(),
    ).toEqual(['ours-net', 'theirs-net']);
    expect(found('cable')).toHaveLength(2);
    expect(context()).toMatchObject({ total_active: 3 });
    expect(context()).not.toHaveProperty('withheld_total');
    expect(context()).not.toHaveProperty('unresolved_conflicts');
  });

  test('L213 pages of a context, whatever their size, have neither a withheld memory nor a gap', async () => {
    await openBoth();
    await stage.history.commit(
      both,
      Array.from({ length: 9 }, (_, index) => add(`memory ${index}`)),
    );
    const whole = idsOf(context());
    expect(whole).toHaveLength(10);
    for (const limit of [1, 3, 10]) {
      const paged: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
        const page = context({ limit, cursor });
        paged.push(...idsOf(page));
        cursor = page.next_cursor;
      }
      expect(paged).toEqual(whole);
    }
  });

  test('L213 a cursor goes with what was withheld: once that has changed, it is refused', async () => {
    await openBoth();
    await stage.history.commit(
      both,
      Array.from({ length: 9 }, (_, index) => add(`cable ${index}`)),
    );
    const { next_cursor: cursor } = context({ limit: 2 });
    const { nextCursor } = stage.temp.lethe.search({ ...question(), query: 'cable', limit: 2 });
    expect(context({ limit: 2, cursor }).memories).toHaveLength(2);
    expect(
      stage.temp.lethe.search({ ...question(), query: 'cable', limit: 2, cursor: nextCursor }).matches,
    ).toHaveLength(2);
    await stage.resolve(first(stage.list()).conflict_id);
    const refused = expect.objectContaining({ code: 'CURSOR_INVALID' });
    expect(() => context({ limit: 2, cursor })).toThrow(refused);
    expect(() => stage.temp.lethe.search({ ...question(), query: 'cable', limit: 2, cursor: nextCursor })).toThrow(
      refused,
    );
  });

  test('L213 what is related to one is not told with the others', async () => {
    await stage.history.branch(both, ours);
    await stage.history.mergeInto(both, theirs);
    await stage.history.commit(both, [addAs('a', 'one'), addAs('b', 'two')]);
    await stage.history.commit(both, [relate('a', 'needs', 'b'), relate('a', 'needs', 'ours-net')]);
    expect(context().relationships).toHaveLength(2);
    await stage.keep();
    expect(context().relationships?.map((one) => one.to_memory_id)).toEqual(['b']);
  });

  test('L213 the first reasons are told, within their bounds, and how many there are', async () => {
    const scopes = Array.from({ length: 40 }, (_, index) => `scope-${index}`);
    await stage.history.commit(
      ours,
      scopes.map((scope) => addAs(`ours/${scope}`, `yes to ${scope}`, decision(scope))),
    );
    await stage.history.commit(
      theirs,
      scopes.map((scope) => addAs(`theirs/${scope}`, `no to ${scope}`, decision(scope))),
    );
    await openBoth();
    const reply = context();
    expect(reply.withheld_total).toBe(82);
    const reasons = Object.keys(reply.exclusion_reasons ?? {});
    expect(reasons.length).toBeGreaterThan(10);
    expect(reasons.length).toBeLessThanOrEqual(withheldReasonsMax);
    const all = context({ excluded: true });
    const withheld = Object.values(all.exclusion_reasons ?? {}).filter((one) => one.startsWith('withheld by'));
    expect(withheld).toHaveLength(82);
  });

  test('L216 one of them is shown as conflicted, with the reason; one that is retired or shown, as what it is', async () => {
    const id = await openBoth();
    await stage.history.commit(both, [addAs('a', 'one'), addAs('b', 'two')]);
    await stage.history.commit(both, [correct('a', { content: 'one more' }, 'a-2')]);
    expect(get('ours-net')).toMatchObject({
      memory: { status: 'conflicted', content: 'use one cable' },
      exclusionReason: `withheld by unresolved conflict ${id}`,
      headChangesetId: stage.history.head(both),
    });
    expect(get('a')).toMatchObject({ memory: { status: 'corrected' }, exclusionReason: 'corrected by a-2' });
    expect(get('b')).not.toHaveProperty('exclusionReason');
  });
});

describe('a manifest', () => {
  test('L215 pins what conflicts withheld, and reads the same after 500 changesets and conflicts that opened and were settled', async () => {
    const id = await openBoth();
    const pin = (more: Partial<ContextInput> = {}) => stage.temp.lethe.pinContext({ ...question(more), actorId: 'a' });
    const open = [await pin(), await pin({ query: 'cable' }), await pin({ limit: 1, kinds: ['decision'] })];
    await stage.resolve(first(stage.list()).conflict_id);
    const settled = [await pin(), await pin({ query: 'cable' }), await pin({ limit: 1, kinds: ['decision'] })];
    expect(stage.temp.lethe.getManifest(idOf(first(open)))).toMatchObject({
      withheld_ids: ['ours-net', 'theirs-net'],
      unresolved_conflicts: [id],
      exclusion_reasons: { 'ours-net': `withheld by unresolved conflict ${id}` },
      total_active: 1,
    });
    expect(stage.temp.lethe.getManifest(idOf(first(settled)))).not.toHaveProperty('withheld_ids');

    for (let step = 0; step < 500; step += 1)
      await stage.history.commit(step % 2 === 0 ? both : ours, [add(`cable ${step}`, { kind: 'decision' })]);
    await stage.history.commit(both, [correct('ours-net', { content: 'use two cables' })]);
    await stage.history.commit(ours, [addAs('ours-late', 'yes', decision('late'))]);
    await stage.history.commit(theirs, [addAs('theirs-late', 'no', decision('late'))]);
    const late = (await stage.keep()).filter(({ status }) => status === 'open');
    expect(late.length).toBeGreaterThan(0);

    const reopened = stage.temp.reopen();
    stage = { ...stage, temp: reopened };
    for (const page of [...open, ...settled])
      expect(JSON.stringify(reopened.lethe.manifestContext(stage.history.project, idOf(page)))).toBe(
        JSON.stringify(page),
      );
    expect(await reopened.lethe.verifyChain(stage.history.project)).toMatchObject({ ok: true, findings: [] });
  });

  test('L217 is put together from what it names: no index is asked, and what is related is as its head has it', async () => {
    await openBoth();
    await stage.history.commit(both, [addAs('a', 'one cable'), addAs('b', 'two'), relate('a', 'needs', 'b')]);
    await stage.history.commit(both, [relate('a', 'contradicts', 'ours-net'), relate('b', 'needs', 'a')]);
    while (await stage.temp.lethe.maintain());
    const pinned = await stage.temp.lethe.pinContext({ ...question({ query: 'cable', limit: 2 }), actorId: 'a' });
    expect(pinned.relationships).toHaveLength(2);
    await stage.history.commit(both, [relate('b', 'follows', 'a')]);
    stage.temp.db.exec('DELETE FROM text_versions; UPDATE text_index_progress SET through = 9007199254740991');
    expect(found('one cable')).toEqual([]);
    const read = stage.temp.lethe.manifestContext(stage.history.project, idOf(pinned));
    expect(JSON.stringify(read)).toBe(JSON.stringify(pinned));
  });

  test('L215 the same reply with something else withheld is another manifest', async () => {
    await openBoth();
    const input = { ...question({ query: 'nothing', kinds: ['task'] }), actorId: 'a' };
    const before = await stage.temp.lethe.pinContext(input);
    const again = await stage.temp.lethe.pinContext(input);
    await stage.resolve(first(stage.list()).conflict_id);
    const after = await stage.temp.lethe.pinContext(input);
    expect(again).toEqual(before);
    expect(after.manifest_id).not.toBe(before.manifest_id);
  });
});
