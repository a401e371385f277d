import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SearchInput } from '../../src-main/ledger/api.ts';
import { entryText } from '../../src-main/ledger/rules/entry-text.ts';
import { readQuestion, similarityOf } from '../../src-main/ledger/rules/similarity.ts';
import { searchValues } from '../../src-main/ledger/search.ts';
import { openTextHealth } from '../../src-main/text/health.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import { agent, openTempLedger, other, type TempLedger } from './temp-ledger.ts';

const similarity = (query: string, name: string, value: JsonValue): number =>
  similarityOf(readQuestion(query), entryText(name, value));

describe('similarity', () => {
  test.each<[query: string, name: string, value: JsonValue]>([
    ['user prefs', 'user.prefs', { theme: 'dark' }],
    ['theme', 'user.prefs:theme', 'dark'],
    ['user prefs', 'userPrefs', 1],
    ['preferred language', 'user.prefs', { preferredLanguage: 'Python' }],
    ['what language does the user prefer', 'user.prefs', { preferred_language: 'Python' }],
    ['kubernetes cluster', 'k8s', { cluster: 'kubernetes prod' }],
    ['book', 'x', 'two books'],
    ['better-sqlite3', 'deps', ['better sqlite3']],
    ['C++', 'lang', 'I like C++'],
    ['東京の天気', 'w', '東京の天気は晴れ'],
    ['база данных', 'x', 'Основная база данных живёт тут'],
    ['설정', 'x', '서버 설정을 바꿨다'],
    ['การตั้งค่า', 'x', 'การตั้งค่าเซิร์ฟเวอร์'],
    ['😀', 'x', 'fun 😀'],
    ['CAFÉ', 'x', 'cafe\u0301 at noon'],
    ['404', 'errors', { code: 404 }],
    ['--', '--', null],
  ])('G21 a clear match is 0.7 or more: %s in %s', (query, name, value) => {
    expect(similarity(query, name, value)).toBeGreaterThanOrEqual(0.7);
  });

  test.each<[query: string, name: string, value: JsonValue]>([
    ['what is the capital of France', 'history', 'the history of the roman empire is long and of interest'],
    ['how do I reset my password', 'cats', 'cats do not care how I feel about my day'],
    ['what should the user do about their password', 'x', 'what should the cook do about their oven when it is cold'],
    ['wie lautet das Passwort für den Server', 'x', 'Das Wetter für den Ausflug ist gut'],
    ['où est la clé de la maison', 'x', 'le chat de la voisine dort sur le lit'],
    ['art', 'x', 'an article about cars'],
    ['color', 'geo', 'Colombia is warm'],
    ['東京の天気', 'w', '大阪は雨'],
    ['記憶管理', 'x', '会議は明日です'],
    ['база данных', 'x', 'сегодня на улице тепло и сухо'],
    ['deployment window', 'user.food', { likes: ['pizza', 'pasta'] }],
    ['😀', 'x', 'no pictures here'],
    ['404', 'errors', { code: 500 }],
  ])('G21 an unrelated text is below 0.4: %s in %s', (query, name, value) => {
    expect(similarity(query, name, value)).toBeLessThan(0.4);
  });

  test('G21 whatever the key, the words of it are 0.7 or more similar, whatever the value', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9_.:-]{1,40}$/);
    fc.assert(
      fc.property(name, fc.jsonValue(), fc.boolean(), (text, value, spaced) => {
        const phrase = spaced ? text.replace(/[_.:-]+/g, ' ').trim() : text;
        if (phrase === '') return;
        expect(similarity(phrase, text, value as JsonValue)).toBeGreaterThanOrEqual(0.7);
        expect(similarity(phrase, text, value as JsonValue)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('G21 a text that shares no letter with the query is 0', () => {
    const word = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 9 });
    const words = (letters: string) => fc.array(word(letters), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(words('abcdefgжзи記憶'), words('hijklmnклм天気'), (query, text) => {
        expect(similarity(query.join(' '), 'xyz', text)).toBe(0);
      }),
    );
  });

  test('G21 a query that is the key comes before one that stands in it, and that before one in the value', () => {
    const at = (name: string, value: JsonValue) => similarity('release notes', name, value);
    expect(at('release.notes', 1)).toBeGreaterThan(at('release.notes:2024', 1));
    expect(at('release.notes:2024', 1)).toBeGreaterThan(at('x', 'the release notes'));
    expect(at('x', 'the release notes')).toBeGreaterThan(at('x', 'notes of a release'));
    expect(at('x', 'notes of a release')).toBeGreaterThan(at('x', 'a release'));
  });
});

describe('searches', () => {
  let temp: TempLedger;
  beforeEach(() => {
    temp = openTempLedger();
  });
  afterEach(() => temp.discard());

  const search = (query: string, more: Partial<SearchInput> = {}) =>
    temp.ledger
      .search({ agentId: agent, query, limit: 20, threshold: 0.7, ...more })
      .map((match) => match.key as string);

  test('G20 any text is a query; one without a visible character is refused', async () => {
    await temp.put('k', 'text');
    for (const query of ['"', '*', 'a AND', 'NEAR(', '-x', ':', 'k^2', "'; DROP", '\u0000k', '\ud800', '(('])
      expect(() => search(query)).not.toThrow();
    for (const query of ['', '  ', '\u3000', '\u200b'])
      expect(() => search(query)).toThrow(expect.objectContaining({ code: 'MEMORY_QUERY_REQUIRED' }));
  });

  test('G22 what was just put is found, and what is live no longer is not, indexed or not', async () => {
    for (const indexed of [false, true]) {
      await temp.put('harbour', { note: 'lighthouse keeper' });
      if (indexed) await temp.maintain();
      expect(search('lighthouse keeper')).toEqual(['harbour']);
      await temp.put('harbour', { note: 'something else' });
      if (indexed) await temp.maintain();
      expect(search('lighthouse keeper')).toEqual([]);
      expect(search('something else')).toEqual(['harbour']);
      await temp.remove('harbour');
      if (indexed) await temp.maintain();
      expect(search('something else')).toEqual([]);
    }
    await temp.put('theirs', 'lighthouse keeper', { agentId: other });
    expect(search('lighthouse keeper')).toEqual([]);
  });

  test('G23 most similar first, then importance, then newest, then key; the floor and the threshold leave out', async () => {
    await temp.put('c', 'red apple', { importance: 'low' });
    await temp.put('b', 'red apple');
    await temp.put('a', 'red apple');
    temp.clock.advance(1_000);
    await temp.put('d', 'red apple');
    await temp.put('e', 'red apple', { importance: 'critical' });
    await temp.put('red.apple', 1, { importance: 'low' });
    await temp.put('half', 'red pear');
    const whole = ['red.apple', 'e', 'd', 'a', 'b', 'c'];
    expect(search('red apple')).toEqual(whole);
    await temp.maintain();
    expect(search('red apple')).toEqual(whole);
    expect(search('red apple', { importance: 'normal' })).toEqual(['e', 'd', 'a', 'b']);
    expect(search('red apple', { importance: 'critical' })).toEqual(['e']);
    expect(search('red apple', { threshold: 0 })).toEqual([...whole, 'half']);
    expect(search('red apple', { threshold: 1 })).toEqual(['red.apple']);
    expect(search('red apple', { limit: 2 })).toEqual(['red.apple', 'e']);
  });

  test('G22 random lives of keys: what is found over the index is what is found by looking at every value', async () => {
    const words = ['alpha', 'beta', 'gamma', '記憶', '天気', 'b2b', 'c++'];
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const damaged = openTextHealth();
    damaged.noticeDamage();
    for (let step = 0; step < 300; step += 1) {
      const name = `k${random(25)}`;
      const importance = (['critical', 'high', 'normal', 'low'] as const)[random(4)];
      const text = Array.from({ length: 1 + random(3) }, () => words[random(words.length)]).join(' ');
      if (random(5) === 0) await temp.remove(name).catch(() => undefined);
      else await temp.put(name, { text }, { importance, ...(random(6) === 0 ? { ttl: 1 + random(20) } : {}) });
      temp.clock.advance(random(2_000));
      if (random(7) === 0) await temp.ledger.maintain();
      if (step % 10 !== 0) continue;
      for (const query of ['alpha', 'beta gamma', '記憶 天気', 'c++ b2b', 'alp']) {
        const input = {
          agentId: agent,
          query,
          limit: 20,
          threshold: 0,
          importance: random(2) ? 'high' : undefined,
        } as const;
        const plain = searchValues(temp.db, input, temp.clock.nowMs(), damaged);
        expect(temp.ledger.search(input)).toEqual(plain);
      }
    }
  });

  test.each([
    ['its structure is gone', 'DELETE FROM ledger_text_data WHERE id = 10'],
    ['its pages are gone', 'DELETE FROM ledger_text_data WHERE id > 10'],
    ['its pages are other bytes', "UPDATE ledger_text_data SET block = x'00' WHERE id > 10"],
    ['what says which pages hold a word is gone', 'DELETE FROM ledger_text_idx'],
  ])('G24 a damaged index is done without while few values are live, and is made anew: %s', async (_, damage) => {
    for (let number = 0; number < 60; number += 1) await temp.put(`k${number}`, `lighthouse ${number}`);
    await temp.maintain();
    const raw = new Database(temp.path);
    raw.unsafeMode(true);
    raw.exec(damage);
    raw.close();
    expect(search('lighthouse 7')).toContain('k7');
    await temp.maintain();
    expect(search('lighthouse 7')).toContain('k7');
    expect(temp.db.query('SELECT count(*) AS count FROM ledger_text_docsize').get()).toEqual({ count: 60 });
    await temp.put('new', 'lighthouse anew');
    await temp.maintain();
    expect(search('anew')).toEqual(['new']);
  });

  test('G22 no bound hides the key that a query spells, nor what was just put', async () => {
    await temp.put('release.notes', 1);
    for (let number = 0; number < 9; number += 1) await temp.put(`k${number}`, 'the release notes');
    await temp.maintain();
    await temp.put('new', 'the release notes');
    const bounds = { wholeHoldersMax: 2, partHoldersMax: 2, tailMax: 5, workMax: 10_000 };
    const input = { agentId: agent, query: 'Release Notes', limit: 2, threshold: 0.7 };
    const found = searchValues(temp.db, input, temp.clock.nowMs(), openTextHealth(), bounds);
    expect(found.map((match) => match.key)[0]).toBe('release.notes');
    const spent = searchValues(temp.db, input, temp.clock.nowMs(), openTextHealth(), { ...bounds, workMax: 1 });
    expect(spent.map((match) => match.key)).toEqual(['new']);
  });

  test('G25 without an index, and with more live values than can be looked at, a search is refused', async () => {
    for (let number = 0; number < 4; number += 1) await temp.put(`k${number}`, 'lighthouse');
    const health = openTextHealth();
    health.noticeDamage();
    const bounds = { wholeHoldersMax: 400, partHoldersMax: 200, tailMax: 3, workMax: 1_000_000 };
    const input = { agentId: agent, query: 'lighthouse', limit: 5, threshold: 0 };
    expect(() => searchValues(temp.db, input, temp.clock.nowMs(), health, bounds)).toThrow(
      expect.objectContaining({ code: 'MEMORY_SEARCH_UNAVAILABLE' }),
    );
    expect(searchValues(temp.db, input, temp.clock.nowMs(), openTextHealth(), bounds)).toHaveLength(3);
    expect(searchValues(temp.db, input, temp.clock.nowMs(), health, { ...bounds, tailMax: 4 })).toHaveLength(4);
  });
});
