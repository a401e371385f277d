import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TextFilter } from '../../src-main/lethe/rules/relevance.ts';
import { contextText } from '../../src-main/lethe/rules/segment.ts';
import { contextTokens } from '../../src-main/lethe/rules/tokens.ts';
import { clearTextIndex } from '../../src-main/lethe/tables/text-index.ts';
import { candidateBounds, type HeadView } from '../../src-main/lethe/text-candidates.ts';
import { tidyTextIndex, verifyTextIndex } from '../../src-main/lethe/text-indexing.ts';
import { matchContext, searchMemories } from '../../src-main/lethe/text-search.ts';
import { found, foundInContext, type ModelState, openTextModel, search, type TextModel, text } from './text-model.ts';

/** §5.10 over every memory alive at the head: the twin of `matchContext`. */
function contextByHand(
  model: TextModel,
  query: string,
  view: HeadView<ModelState>,
): readonly (readonly [number, number])[] {
  const tokens = contextTokens(query);
  return model
    .alive(view)
    .map((state) => [state.memory, tokens.filter((token) => contextText(state.text).includes(token)).length] as const)
    .filter(([, score]) => score > 0)
    .sort((left, right) => right[1] - left[1]);
}

describe('what a head shows', () => {
  test('L64 only the state at the head is found: not what was corrected, retired or is on another branch', () => {
    const model = openTextModel();
    model.write(1, { content: 'alpha original' });
    const old = model.write(2, { content: 'alpha other' });
    model.write(1, { content: 'beta corrected' });
    model.write(2, null);
    model.write(3, { content: 'alpha elsewhere' }, { branch: 'side' });
    for (const indexed of [false, true]) {
      if (indexed) model.index();
      expect(found(model, 'alpha')).toEqual([]);
      expect(found(model, 'beta')).toEqual([1]);
      expect(found(model, 'alpha', { view: model.head({ branch: 'side' }) })).toEqual([3]);
      expect(found(model, 'alpha', { view: model.head({ upTo: old }) })).toEqual([2, 1]);
      expect(found(model, 'beta', { view: model.head({ upTo: old }) })).toEqual([]);
      expect(foundInContext(model, 'alpha', model.head({ upTo: old }))).toEqual([
        [2, 1],
        [1, 1],
      ]);
      expect(foundInContext(model, 'alpha')).toEqual([]);
    }
  });

  test('L77 a corrected memory is found by the text it has now, old words that stayed included', () => {
    const model = openTextModel();
    model.write(1, { content: 'the port is 80', scope: 'web' });
    model.write(1, { content: 'the port is 443', scope: 'web' });
    model.index();
    expect(found(model, 'port web')).toEqual([1]);
    expect(found(model, '80')).toEqual([]);
  });

  test('L74 a project finds nothing of another', () => {
    const model = openTextModel();
    model.write(1, { content: 'shared word' }, { projectId: 'p' });
    model.write(2, { content: 'shared word' }, { projectId: 'q' });
    model.index();
    model.write(3, { content: 'shared word' }, { projectId: 'q' });
    expect(found(model, 'shared')).toEqual([1]);
    expect([...found(model, 'shared', { view: model.head({ projectId: 'q' }) })].sort()).toEqual([2, 3]);
    expect(found(model, 'shared', { view: model.head({ projectId: 'nobody' }) })).toEqual([]);
  });

  test('L70 kinds and tags restrict exactly: one of the kinds, every one of the tags', () => {
    const model = openTextModel();
    model.write(1, { content: 'word', kind: 'decision', tags: ['a-b', 'x'] });
    model.write(2, { content: 'word', kind: 'fact', tags: ['ab'] });
    model.write(3, { content: 'word', kind: 'task', tags: ['a-b'] });
    for (const indexed of [false, true]) {
      if (indexed) model.index();
      const filtered = (filter: TextFilter) => [...found(model, 'word', { filter })].sort();
      expect(filtered({ kinds: ['decision', 'fact'] })).toEqual([1, 2]);
      expect(filtered({ tags: ['a-b'] })).toEqual([1, 3]);
      expect(filtered({ tags: ['a-b', 'x'] })).toEqual([1]);
      expect(filtered({ kinds: ['task'], tags: ['x'] })).toEqual([]);
      expect(filtered({ kinds: [], tags: [] })).toEqual([1, 2, 3]);
      expect(foundInContext(model, 'word', model.head(), { kinds: ['fact'] })).toEqual([[2, 1]]);
    }
  });
});

test('L70 as many kinds and tags as a memory can have are one filter', () => {
  const model = openTextModel();
  const tags = Array.from({ length: 64 }, (_, index) => `tag ${index}`);
  model.write(1, { content: 'word', kind: 'fact', tags });
  model.write(2, { content: 'word', kind: 'fact', tags: tags.slice(1) });
  model.index();
  const kinds = ['observation', 'fact', 'decision', 'task', 'flag', 'record'];
  expect(found(model, 'word', { filter: { kinds, tags } })).toEqual([1]);
});

test('L66 a word longer than the index keeps is told apart from its like', () => {
  const model = openTextModel();
  const [long, like] = [`${'z'.repeat(200)}1`, `${'z'.repeat(200)}2`];
  model.write(1, { content: long });
  model.write(2, { content: like });
  model.index();
  expect(found(model, like)).toEqual([2]);
  expect(foundInContext(model, long)).toEqual([[1, 1]]);
});

describe('the order of a search', () => {
  test('L69 the whole query before a part, words before beginnings before inner parts, a quotation first', () => {
    const model = openTextModel();
    const contents = ['redeployment', 'deployment', 'we deploy', 'deploy the red service', 'the red deploy', 'red'];
    for (const [memory, content] of contents.entries()) model.write(memory, { content });
    model.index();
    expect(found(model, 'deploy')).toEqual([2, 4, 3, 1, 0]);
    expect(found(model, 'red deploy').slice(0, 2)).toEqual([4, 3]);
    expect(found(model, 'deploy red').slice(0, 2).sort()).toEqual([3, 4]);
  });

  test('L69 a rare word counts for more than a frequent one', () => {
    const model = openTextModel();
    for (let memory = 0; memory < 50; memory += 1) model.write(memory, { content: `server number ${memory}` });
    model.write(50, { content: 'the zebra' });
    model.write(51, { content: 'the server' });
    model.index();
    expect(found(model, 'zebra server')[0]).toBe(50);
  });

  test('L69 why names each part that was found and the fields it was found in', () => {
    const model = openTextModel();
    model.write(1, { content: 'The cache policy', kind: 'decision', scope: 'cache', tags: ['cache-layer'] });
    const [match] = search(model, 'Cache decision absent').matches;
    expect(match?.why).toEqual([
      { token: 'cache', fields: ['content', 'scope', 'tags'] },
      { token: 'decision', fields: ['kind'] },
    ]);
    expect(match?.score).toBeGreaterThan(0);
  });

  test('L76 pages neither repeat nor leave out, and say when there is more', () => {
    const model = openTextModel();
    for (let memory = 0; memory < 25; memory += 1)
      model.write(memory, { content: `word ${memory % 3 === 0 ? 'extra' : ''}` });
    model.index();
    const whole = found(model, 'word extra');
    const pages = [0, 10, 20].map((offset) => search(model, 'word extra', { offset, limit: 10 }));
    expect(pages.flatMap((page) => page.matches.map((match) => match.state.memory))).toEqual(whole);
    expect(pages.map((page) => page.more)).toEqual([true, true, false]);
    expect(whole).toHaveLength(25);
  });
});

describe('any text at all', () => {
  const anyQuery = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 }).map((units) => String.fromCharCode(...units)),
    fc
      .array(
        fc.constantFrom(
          '"',
          '*',
          ':',
          '(',
          ')',
          'AND',
          'OR',
          'NOT',
          'NEAR',
          '^',
          '-',
          '+',
          "'",
          ';',
          '{',
          '}',
          ' ',
          '\0',
          'tokens',
          'alpha',
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join('')),
  );

  test('L65 no query is an error, in a search or in a context', () => {
    const model = openTextModel();
    model.write(1, { content: 'alpha "beta" (gamma) * \0 設定 😀' });
    model.index();
    fc.assert(
      fc.property(anyQuery, (query) => {
        search(model, query);
        foundInContext(model, query);
        search(model, 'alpha', { filter: { tags: [query], kinds: [query] } });
      }),
      { numRuns: 600 },
    );
    expect(found(model, 'a'.repeat(100_000))).toEqual([]);
    expect(found(model, '" '.repeat(50_000))).toEqual([1]);
  });

  test('L66 a memory is found by any piece of its own text, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(anyQuery, { minLength: 1, maxLength: 4 }), (contents) => {
        const model = openTextModel();
        for (const [memory, content] of contents.entries()) model.write(memory, { content });
        model.index();
        for (const [memory, content] of contents.entries()) {
          const hits = search(model, content);
          if (/[^\p{White_Space}\p{Cf}\p{M}]/u.test(content.toWellFormed())) {
            expect(hits.matches.map((match) => match.state.memory)).toContain(memory);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the index against its from-scratch twin', () => {
  const words = ['alpha', 'beta', 'alphabet', 'be', '設定', '設', 'x1', 'x12', 'да', 'вода', '😀', 'Σας'];
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        memory: fc.nat(15),
        words: fc.array(fc.constantFrom(...words), { maxLength: 5 }),
        branch: fc.constantFrom('main', 'main', 'a', 'b'),
        retired: fc.integer({ min: 0, max: 9 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('index' as const), limit: fc.integer({ min: 1, max: 9 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('tidy' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
  );

  test('L61 L62 L75 L78 any history, indexed, cleared and tidied in any order, answers as a plain scan of it', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.array(fc.constantFrom(...words, 'alp', 'ода', 'ας'), { minLength: 1, maxLength: 3 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (steps, parts, share) => {
          const model = openTextModel();
          let written = 0;
          for (const next of steps) {
            if (next.kind === 'write')
              written = model.write(next.memory, next.retired === 0 ? null : { content: next.words.join(' ') }, {
                branch: next.branch,
              });
            if (next.kind === 'index') model.index(next.limit);
            if (next.kind === 'tidy') model.transact((db) => tidyTextIndex(db));
            if (next.kind === 'clear') model.transact((db) => clearTextIndex(db));
          }
          expect(verifyTextIndex(model.db, model.source(0, steps.length))).toEqual([]);
          const query = parts.join(' ');
          const views = ['main', 'a', 'b'].map((branch) => model.head({ branch }));
          const bounds = { ...candidateBounds, holdersMax: 2 };
          const answers = () =>
            views.map((view) => [matchContext(model.db, view, query, {}, bounds), search(model, query, { view })]);
          const before = answers();
          model.index(7);
          expect(answers()).toEqual(before);
          model.index();
          expect(answers()).toEqual(before);
          for (const branch of ['main', 'a', 'b']) {
            for (const upTo of [written, Math.floor(written * share)]) {
              const view = model.head({ branch, upTo });
              expect(foundInContext(model, query, view)).toEqual(contextByHand(model, query, view));
              const expected = model
                .alive(view)
                .filter((state) => parts.some((part) => holdsPart(state.text.content, part)));
              expect([...found(model, query, { view })].sort((a, b) => a - b)).toEqual(
                expected.map((state) => state.memory).sort((a, b) => a - b),
              );
            }
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  /** A part is found as a word of its own, or within one when it has 3 characters or runs on without spaces. */
  function holdsPart(content: string, part: string): boolean {
    const haystack = content.toLowerCase().replaceAll('ς', 'σ');
    const needle = part.toLowerCase().replaceAll('ς', 'σ');
    const within = needle.length >= 3 || /[設😀]/u.test(needle);
    return within ? haystack.includes(needle) : haystack.split(' ').includes(needle);
  }
});

describe('bounds', () => {
  test('L63 past the bound a token brings its newest holders, and adds its score to those that other tokens bring', () => {
    const model = openTextModel();
    for (let memory = 0; memory < 60; memory += 1)
      model.write(memory, { content: memory === 3 ? 'common rare' : 'common' });
    model.index();
    const view = model.head();
    const bounded = matchContext(model.db, view, 'common rare', {}, { ...candidateBounds, holdersMax: 20 });
    expect(bounded.map(({ state, score }) => [state.memory, score])).toEqual([
      [3, 2],
      ...Array.from({ length: 20 }, (_, index) => [59 - index, 1]),
    ]);
    const whole = matchContext(model.db, view, 'common rare', {}, { ...candidateBounds, holdersMax: 60 });
    expect(whole.map(({ state, score }) => [state.memory, score])).toEqual(contextByHand(model, 'common rare', view));
  });

  test('L73 a spent bound says that the answer is not complete', () => {
    const model = openTextModel();
    for (let memory = 0; memory < 50; memory += 1)
      model.write(memory, { content: memory === 0 ? 'needle hay' : 'hay' });
    const page = { query: 'hay needle', filter: {}, offset: 0, limit: 10 };
    const run = (bounds: Partial<typeof candidateBounds>) =>
      searchMemories(model.db, model.head(), page, { ...candidateBounds, ...bounds }).complete;
    expect(run({})).toBe(true);
    expect(run({ tailMax: 49 })).toBe(false);
    expect(run({ tailMax: 50 })).toBe(true);
    model.index();
    expect(run({})).toBe(true);
    expect(run({ rowsMax: 10 })).toBe(false);
    expect(run({ statesMax: 10 })).toBe(false);
    expect(run({ workMax: 100 })).toBe(false);
  });

  test('L73 where more memories hold the whole query than a search takes, the answer is not complete', () => {
    const model = openTextModel();
    for (let memory = 0; memory < 500; memory += 1)
      model.write(memory, { content: `often again ${memory === 0 ? 'needle' : ''} ${memory < 150 ? 'seldom' : ''}` });
    model.index();
    const complete = (query: string) =>
      searchMemories(model.db, model.head(), { query, filter: {}, offset: 0, limit: 10 }).complete;
    expect(['often', 'ofte', 'often again'].map(complete)).toEqual([false, false, false]);
    expect(['seldom', 'often seldom', 'often again needle', 'absent'].map(complete)).toEqual([true, true, true, true]);
  });
});

test('L60 what was just written is found before it is indexed, and the same after', () => {
  const model = openTextModel();
  model.write(1, { content: 'alpha' });
  model.index();
  model.write(2, { content: 'alpha too' });
  expect(found(model, 'alpha')).toEqual([1, 2]);
  model.index();
  expect(found(model, 'alpha')).toEqual([1, 2]);
  expect(text('x').tags).toEqual([]);
});

test('L79 verification names a version that the index lacks, has too much, under another memory or without its text', () => {
  const model = openTextModel();
  for (let memory = 1; memory <= 6; memory += 1)
    model.write(memory, memory === 5 ? null : { content: `content of memory ${memory}` });
  model.index(5);
  const stretch = model.source(0, 10);
  expect(verifyTextIndex(model.db, stretch)).toEqual([]);
  const changed = stretch.map((pending) => {
    if (pending.version === 2) return { ...pending, memory: 9 };
    if (pending.version === 3) return { ...pending, text: text('other content of memory 3') };
    return pending.version === 4 ? { ...pending, text: null } : pending;
  });
  model.transact((db) => db.command('DELETE FROM text_versions WHERE version = 1').run());
  expect(verifyTextIndex(model.db, changed).map(({ version, problem }) => [version, problem])).toEqual([
    [1, 'is missing from the full-text index'],
    [2, 'is in the full-text index under another memory'],
    [3, 'is in the full-text index without all of its text'],
    [4, 'is in the full-text index but leaves nothing to find'],
  ]);
});
