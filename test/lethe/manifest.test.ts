import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../src-main/canonical/digest.ts';
import { encodeCanonical } from '../../src-main/canonical/json.ts';
import type { PinInput } from '../../src-main/lethe/api.ts';
import { type ManifestId, manifestIdSchema } from '../../src-preload/contract/ids.ts';
import { type MemoryContext, manifestSchema } from '../../src-preload/contract/memory.ts';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';

let temp: TempLethe;
let history: HistoryBuilder;
const branch = 'refs/agents/a/main';

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
  await history.commit(branch, [
    addAs('cats', 'cats purr', { kind: 'fact', tags: ['pets'] }),
    addAs('dogs', 'dogs bark', { kind: 'fact', tags: ['pets'] }),
    addAs('plan', 'feed the cats', { kind: 'task' }),
  ]);
});
afterEach(() => temp.remove());

function pin(more: Partial<PinInput> = {}): Promise<MemoryContext> {
  return temp.lethe.pinContext({
    projectId: history.project,
    refName: refName(branch),
    limit: 2,
    actorId: 'a',
    sessionId: 's',
    ...more,
  });
}

function idOf(context: MemoryContext): ManifestId {
  return manifestIdSchema.parse(context.manifest_id);
}

function countManifests(): number {
  return temp.db.query<[], { count: number }>('SELECT count(*) AS count FROM memory_manifests').get()?.count ?? -1;
}

describe('pinning a context', () => {
  test('L55 records exactly what was read, and the digest of its bytes', async () => {
    const question = {
      projectId: history.project,
      refName: refName(branch),
      limit: 2,
      query: 'cats',
      kinds: ['fact', 'task'],
      tags: undefined,
    };
    const plain = temp.lethe.context(question);
    const pinned = await pin({ query: 'cats', kinds: ['fact', 'task'] });
    expect(pinned).toEqual({ ...plain, manifest_id: pinned.manifest_id });
    const manifest = temp.lethe.getManifest(idOf(pinned));
    expect(manifestSchema.parse(manifest)).toEqual(manifest);
    expect(manifest).toEqual({
      manifest_id: pinned.manifest_id,
      direction: 'input',
      project_id: 'demo',
      ref_name: branch,
      head_changeset_id: history.head(branch),
      selected_memory_ids: plain.memories.map((memory) => memory.memory_id),
      inclusion_reasons: plain.inclusion_reasons,
      query: 'cats',
      limit: 2,
      kinds: ['fact', 'task'],
      total_active: 3,
      context_digest: sha256Hex(encodeCanonical(JSON.parse(JSON.stringify(plain)))),
      session_id: 's',
      actor_id: 'a',
      created_at: '2026-11-30T12:00:00Z',
    });
  });

  test('L55 the same actor with the same question gets the same manifest', async () => {
    const first = await pin();
    temp.clock.advance(1_000);
    expect(await pin()).toEqual(first);
    expect(countManifests()).toBe(1);
  });

  test('L55 another actor, session, question or head makes another one', async () => {
    const ids = new Set([idOf(await pin())]);
    for (const more of [
      { actorId: 'b' },
      { sessionId: 't' },
      { limit: 3 },
      { query: 'cats' },
      { kinds: ['fact'] },
      { tags: ['pets'] },
      { actorId: undefined },
    ])
      ids.add(idOf(await pin(more)));
    await history.commit(branch, [add('news')]);
    ids.add(idOf(await pin()));
    expect(ids.size).toBe(9);
    expect(countManifests()).toBe(9);
  });

  test('L55 an actor id that is too long is refused by name', async () => {
    await expect(pin({ actorId: 'x'.repeat(1_025) })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'actor_id' },
    });
    expect(countManifests()).toBe(0);
  });

  test('L19 a commit may name the manifest that it worked from, of its own project only', async () => {
    const manifest = idOf(await pin());
    const made = await history.commit(branch, [add('conclusion')], { contextManifestId: manifest });
    expect(temp.lethe.findChangeset(made.changeset_id)?.context_manifest_id).toBe(manifest);
    const other = historyBuilder(temp, 'other');
    await other.init();
    await other.branch(branch);
    await expect(other.commit(branch, [add('x')], { contextManifestId: manifest })).rejects.toMatchObject({
      code: 'MANIFEST_NOT_FOUND',
    });
  });
});

describe('reading it again', () => {
  test('L56 is byte for byte the same after corrections, retirements and a restart', async () => {
    const pages = [await pin(), await pin({ query: 'cats', limit: 1 }), await pin({ kinds: ['fact'] })];
    pages.push(
      await pin({ cursor: pages[0]?.next_cursor }),
      await pin({ query: 'cats', limit: 1, cursor: pages[1]?.next_cursor }),
    );
    expect(pages.map((page) => page.memories.length)).toEqual([2, 1, 2, 1, 1]);
    await history.commit(branch, [
      correct('cats', { content: 'cats hunt' }),
      supersede('dogs', { content: 'wolves howl' }, 'wolves'),
      add('more cats'),
    ]);
    temp = temp.reopen();
    history = historyBuilder(temp);
    for (const page of pages)
      expect(JSON.stringify(temp.lethe.manifestContext(history.project, idOf(page)))).toBe(JSON.stringify(page));
  });

  test('L56 an unknown manifest and one of another project are not found', async () => {
    const pinned = idOf(await pin());
    await historyBuilder(temp, 'other').init();
    const missing = expect.objectContaining({ code: 'MANIFEST_NOT_FOUND' });
    expect(() => temp.lethe.manifestContext(historyBuilder(temp, 'other').project, pinned)).toThrow(missing);
    expect(() => temp.lethe.getManifest(manifestIdSchema.parse('00000000-0000-7000-8000-00000000dead'))).toThrow(
      missing,
    );
  });

  test('L56 a context that does not read as pinned any more is a fault', async () => {
    const pinned = idOf(await pin({ limit: 3 }));
    temp.db.exec(
      `DROP TRIGGER memory_op_payloads_never_update; UPDATE memory_op_payloads SET body = replace(body, 'purr', 'bite')`,
    );
    expect(() => temp.lethe.manifestContext(history.project, pinned)).toThrow(
      expect.objectContaining({ code: 'INTEGRITY_MISMATCH', data: { manifest_id: pinned } }),
    );
  });

  test('L56 an altered manifest is a fault, whichever column it is', async () => {
    const pinned = idOf(await pin({ query: 'cats' }));
    temp.db.exec('DROP TRIGGER memory_manifests_never_update');
    for (const column of [
      'query',
      'page_limit',
      'actor_id',
      'session_id',
      'created_at',
      'selected_memory_ids',
      'total_active',
      'inclusion_reasons',
      'context_digest',
    ]) {
      const original =
        temp.db.query<[], Record<string, string | number>>(`SELECT ${column} AS value FROM memory_manifests`).get()
          ?.value ?? '';
      const altered =
        typeof original === 'number'
          ? original + 1
          : original === ''
            ? 'x'
            : `${original.slice(0, -1)}${original.endsWith('0') ? '1' : '0'}`;
      temp.db.command<[string | number]>(`UPDATE memory_manifests SET ${column} = ?`).run(altered);
      expect(() => temp.lethe.getManifest(pinned), column).toThrow(
        expect.objectContaining({ code: 'INTEGRITY_MISMATCH' }),
      );
      temp.db.command<[string | number]>(`UPDATE memory_manifests SET ${column} = ?`).run(original);
    }
    expect(temp.lethe.getManifest(pinned).query).toBe('cats');
  });
});
