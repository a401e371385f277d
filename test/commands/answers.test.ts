import { expect, test } from 'vitest';
import { inputDigest } from '../../src-main/commands/digest.ts';
import { fitPage, formatNameCursor, parseNameCursor } from '../../src-main/commands/page.ts';
import { resultBytes } from '../../src-main/commands/result-bytes.ts';
import { resultBytesMax } from '../../src-preload/contract/limits.ts';
import { branch, commit, commitInput, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

const large = (mark: string): string => `${mark} ${'word '.repeat(2_000)}`;
const middling = (mark: string): string => `${mark} ${'word '.repeat(800)}`;

/** A branch with one commit of ten kilobytes after the other. */
async function largeBranch(engine: TempEngine, count: number) {
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'large');
  let head = at.head;
  for (let index = 0; index < count; index += 1) {
    head = (await commit(engine, caller, 'demo', { ref: at.ref, head }, large(`text-${index}`))).changeset_id;
  }
  return { caller, ref: at.ref, base: at.head, head };
}

/** Follows the cursors to the end; every page must fit. */
async function pages<Page extends { readonly next_cursor?: string | undefined }>(
  read: (cursor: string | undefined) => Promise<Page>,
): Promise<Page[]> {
  const all: Page[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    expect(resultBytes(page)).toBeLessThanOrEqual(resultBytesMax);
    all.push(page);
    cursor = page.next_cursor;
  } while (cursor !== undefined && all.length < 100);
  return all;
}

const marks = (texts: readonly string[]): readonly string[] => texts.map((text) => text.split(' ')[0] ?? '');
const newestFirst = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `text-${count - 1 - index}`);

test('P30 log, context, search and diff come in pages that fit and miss nothing', async () => {
  const engine = await tempEngine();
  const { caller, ref, base, head } = await largeBranch(engine, 12);
  const log = await pages((cursor) => engine.run(caller, 'memory.log', { project: 'demo', ref, limit: 100, cursor }));
  expect(log.length).toBeGreaterThan(2);
  const logged = log.flatMap(({ changesets }) => changesets);
  expect(logged).toHaveLength(13);
  expect(logged[0]?.ops?.[0]?.payload?.content).toBe(large('text-11'));

  const context = await pages((cursor) =>
    engine.run(caller, 'memory.context_at', { project: 'demo', ref, pin: false, limit: 100, cursor }),
  );
  expect(marks(context.flatMap(({ memories }) => memories.map(({ content }) => content)))).toEqual(newestFirst(12));

  const found = await pages((cursor) =>
    engine.run(caller, 'memory.search', { project: 'demo', ref, query: 'word', limit: 100, cursor }),
  );
  expect(new Set(marks(found.flatMap(({ matches }) => matches.map(({ memory }) => memory.content)))).size).toBe(12);

  const diff = await pages((cursor) =>
    engine.run(caller, 'memory.diff', { base_changeset_id: base, target_changeset_id: head, cursor }),
  );
  expect(diff.length).toBeGreaterThan(2);
  expect(diff.flatMap(({ memories_added: added }) => added)).toHaveLength(12);
});

test('P30 what is pinned is the page that was answered', async () => {
  const engine = await tempEngine();
  const { caller, ref } = await largeBranch(engine, 8);
  const page = await engine.run(caller, 'memory.context_at', { project: 'demo', ref, limit: 100 });
  expect(resultBytes(page)).toBeLessThanOrEqual(resultBytesMax);
  expect(page.memories.length).toBeLessThan(8);
  const { manifest_id: manifestId, ...read } = page;
  const again = await engine.run(caller, 'memory.context_at', { project: 'demo', manifest_id: manifestId });
  expect(again).toMatchObject({ memories: read.memories, head_changeset_id: read.head_changeset_id });
});

test('P30 one item larger than a result is a page of its own; in a log it comes without its ops', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'large');
  const changeset = await commit(
    engine,
    caller,
    'demo',
    at,
    ...Array.from({ length: 6 }, (_, index) => large(`text-${index}`)),
  );
  const log = await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref, limit: 1 });
  expect(log.changesets).toEqual([
    expect.objectContaining({ changeset_id: changeset.changeset_id, message: 'adds 6' }),
  ]);
  expect(log.changesets[0]?.ops).toBeUndefined();
});

test('P30 a log of large changesets lists as many as fit without what they hold', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'large');
  let { head } = at;
  for (let index = 0; index < 4; index += 1) {
    const texts = Array.from({ length: 6 }, (_, text) => large(`text-${index}-${text}`));
    head = (await commit(engine, caller, 'demo', { ref: at.ref, head }, ...texts)).changeset_id;
  }
  const log = await engine.run(caller, 'memory.log', { project: 'demo', ref: at.ref, limit: 200 });
  expect(log.changesets).toHaveLength(5);
  expect(log.next_cursor).toBeUndefined();
});

test('P30 a large changeset is shown in pages that fit, each op, evidence and verification once', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'large');
  const texts = Array.from({ length: 9 }, (_, index) => large(`text-${index}`));
  const notes = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ kind, index, note: 'n'.repeat(900) }));
  const made = await engine.run(caller, 'memory.changeset_create', {
    ...commitInput('demo', at, ...texts),
    evidence: notes('evidence', 60),
    verification: notes('verification', 60),
  });
  expect(resultBytes(made)).toBeLessThanOrEqual(resultBytesMax);
  const { changeset_id: id } = made;
  const shown = await pages((cursor) => engine.run(caller, 'memory.show', { id, cursor }));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.flatMap(({ ops = [] }) => ops.map(({ ordinal }) => ordinal))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(shown.flatMap(({ evidence = [] }) => evidence)).toEqual(notes('evidence', 60));
  expect(shown.flatMap(({ verification = [] }) => verification)).toEqual(notes('verification', 60));
  expect(new Set(shown.map((page) => page.integrity_digest)).size).toBe(1);

  const cursor = shown[0]?.next_cursor;
  const other = { id: at.head, cursor };
  await expect(engine.run(caller, 'memory.show', other)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  const garbage = { id, cursor: 'garbage' };
  await expect(engine.run(caller, 'memory.show', garbage)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
});

test('P30 the lineage of a memory and the changes of a proposal come in pages that fit', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  let head = (await commit(engine, caller, 'demo', at, middling('text-0'))).changeset_id;
  const memoryId = `mem:${head}:0`;
  for (let index = 1; index < 8; index += 1) {
    const input = {
      ...commitInput('demo', { ref: at.ref, head }, 'x'),
      ops: [
        {
          ordinal: 0,
          op_type: 'correct_memory' as const,
          target_event_id: memoryId,
          payload: { content: middling(`text-${index}`) },
        },
      ],
    };
    head = (await engine.run(caller, 'memory.changeset_create', input)).changeset_id;
  }
  const got = await pages((cursor) =>
    engine.run(caller, 'memory.get', { project: 'demo', memory_id: memoryId, head_changeset_id: head, cursor }),
  );
  expect(got.length).toBeGreaterThan(2);
  expect(marks(got.flatMap(({ lineage }) => lineage.map(({ after }) => after?.content ?? '')))).toEqual(
    newestFirst(8).toReversed(),
  );

  const proposed = await proposal(
    engine,
    caller,
    'demo',
    'many',
    ...Array.from({ length: 12 }, (_, index) => middling(`text-${index}`)),
  );
  const shown = await pages(async (cursor) => {
    const page = await engine.run(caller, 'memory.proposal_show', { proposal_id: proposed.proposal_id, cursor });
    expect(page.diff.next_cursor).toBeUndefined();
    return page;
  });
  expect(marks(shown.flatMap(({ diff }) => diff.memories_added.map(({ after }) => after?.content ?? '')))).toEqual(
    newestFirst(12).toReversed(),
  );
});

test('P30 refs and proposals come in pages, in order, each once', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const names = Array.from({ length: 230 }, (_, index) => `refs/topics/t-${String(index).padStart(3, '0')}`);
  await Promise.all(
    names.map((name) =>
      engine.run(caller, 'memory.branch_create', { project: 'demo', ref_name: name, head_changeset_id: root }),
    ),
  );
  const listed = await pages((cursor) => engine.run(caller, 'memory.ref_list', { project: 'demo', cursor }));
  expect(listed.length).toBeGreaterThan(1);
  expect(listed.flatMap(({ refs }) => refs.map(({ ref_name: name }) => name))).toEqual(['refs/shared/main', ...names]);
  const status = await engine.run(caller, 'memory.status', { project: 'demo' });
  expect(status.refs.map(({ ref_name: name }) => name)).toEqual(['refs/shared/main']);
  expect(resultBytes(status)).toBeLessThanOrEqual(resultBytesMax);

  const made = [];
  for (let index = 0; index < 6; index += 1)
    made.push((await proposal(engine, caller, 'demo', `p${index}`, 'text')).proposal_id);
  const proposals = await pages((cursor) =>
    engine.run(caller, 'memory.proposal_list', { project: 'demo', limit: 4, cursor }),
  );
  expect(proposals.map((page) => page.proposals.length)).toEqual([4, 2]);
  expect(proposals.flatMap((page) => page.proposals.map(({ proposal_id: id }) => id))).toEqual(made.toReversed());
});

test('P31 a cursor of another list, project or make is refused', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('reader', 'readonly', '*');
  const foreign = formatNameCursor('memory.ref_list', 'other', 'refs/shared/main');
  for (const cursor of [
    foreign,
    formatNameCursor('other', 'demo', 'refs/shared/main'),
    formatNameCursor('memory.ref_list', 'demo', 'no ref'),
    'nonsense',
    '%%%',
  ]) {
    expect((await engine.refusal(caller, 'memory.ref_list', { project: 'demo', cursor })).code).toBe('CURSOR_INVALID');
  }
  for (const name of ['memory.log', 'memory.context_at', 'memory.proposal_list']) {
    expect((await engine.refusal(caller, name, { project: 'demo', cursor: foreign })).code).toBe('CURSOR_INVALID');
  }
  expect(parseNameCursor(foreign, 'memory.ref_list', 'other')).toBe('refs/shared/main');
});

test('P32 context is pinned for who may commit, unless declined; asked for without the right it is refused', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const reader = await engine.agent('reader', 'readonly', 'demo');
  const roamer = await engine.agent('roamer', 'propose', '*');
  const input = { project: 'demo' };
  const pinned = await engine.run(writer, 'memory.context_at', input);
  expect(pinned.manifest_id).toBeDefined();
  expect((await engine.run(writer, 'memory.context_at', input)).manifest_id).toBe(pinned.manifest_id);
  expect((await engine.run(writer, 'memory.context_at', { ...input, pin: false })).manifest_id).toBeUndefined();
  for (const caller of [reader, roamer])
    expect((await engine.run(caller, 'memory.context_at', input)).manifest_id).toBeUndefined();
  expect((await engine.refusal(reader, 'memory.context_at', { ...input, pin: true })).code).toBe('SCOPE_MISSING');
  expect((await engine.refusal(roamer, 'memory.context_at', { ...input, pin: true })).code).toBe('GRANT_MISSING');
});

test('P33 a manifest is read by itself; head and moment are not given together', async () => {
  const engine = await tempEngine();
  const head = await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const { manifest_id: manifest } = await engine.run(caller, 'memory.context_at', { project: 'demo' });
  for (const more of [{ ref: 'refs/shared/main' }, { query: 'x' }, { limit: 3 }, { pin: false }, { tags: [] }]) {
    const fault = await engine.refusal(caller, 'memory.context_at', {
      project: 'demo',
      manifest_id: manifest,
      ...more,
    });
    expect(fault).toMatchObject({ code: 'INPUT_INVALID', data: { field: Object.keys(more)[0] } });
  }
  const both = { project: 'demo', head_changeset_id: head, at: '2026-11-30T12:00:00Z' };
  expect(await engine.refusal(caller, 'memory.context_at', both)).toMatchObject({
    code: 'INPUT_INVALID',
    data: { field: 'at' },
  });
  const unknown = { project: 'demo', manifest_id: '00000000-0000-4000-8000-000000000000' };
  expect((await engine.refusal(caller, 'memory.context_at', unknown)).code).toBe('MANIFEST_NOT_FOUND');
});

test('P36 while shutting down new calls are refused and running ones are waited for', async () => {
  const engine = await tempEngine();
  const running = engine.run(engine.owner, 'memory.repo_init', { project: 'demo' });
  await engine.commands.close();
  let settled = false;
  void running.then(() => {
    settled = true;
  });
  await Promise.resolve();
  expect(settled).toBe(true);
  expect((await engine.refusal(engine.owner, 'memory.status', { project: 'demo' })).code).toBe('CLOSED');
});

test('P30 fitPage asks for less until it fits, and for one at least', async () => {
  const asked: number[] = [];
  const read = (size: number) => (limit: number) => {
    asked.push(limit);
    return Array.from({ length: Math.min(limit, 40) }, () => 'x'.repeat(size));
  };
  expect(await fitPage(100, read(10), (page) => page.length)).toHaveLength(40);
  expect(asked.splice(0)).toEqual([100]);
  const fits = await fitPage(100, read(5_000), (page) => page.length);
  expect(fits.length).toBe(9);
  expect(asked.splice(0)).toEqual([100, 9]);
  expect(await fitPage(100, read(100_000), (page) => page.length)).toHaveLength(1);
  expect(asked.at(-1)).toBe(1);
});

test('P20 the digest of a request is that of its meaning: key order and absent keys change nothing', () => {
  const digest = inputDigest({ b: [1, { d: undefined, c: 'x' }], a: null });
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(inputDigest({ a: null, b: [1, { c: 'x' }] })).toBe(digest);
  expect(inputDigest({ a: null, b: [1, { c: 'y' }] })).not.toBe(digest);
  expect(inputDigest(undefined)).toBeUndefined();
  expect(inputDigest({ a: Number.NaN })).toBeUndefined();
  let deep: unknown = 1;
  for (let index = 0; index < 10_000; index += 1) deep = [deep];
  expect(inputDigest(deep)).toBeUndefined();
});

test('P2 an input without a canonical form is refused, so that no two requests share a digest', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const caller = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, caller, 'demo', 'main');
  const twice = { ...commitInput('demo', at, 'x'), evidence: [{ '\ud800': 1, '\udfff': 2 }] };
  expect(await engine.refusal(caller, 'memory.changeset_create', twice)).toMatchObject({ code: 'INPUT_INVALID' });
});
