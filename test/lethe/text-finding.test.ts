import { describe, expect, test } from 'vitest';
import { found, foundInContext, openTextModel, type TextModel } from './text-model.ts';

/** The same index state three ways: everything waits, half of it does, nothing does. */
const coverage = [
  ['everything waiting', 0],
  ['half of it waiting', 0.5],
  ['nothing waiting', 1],
] as const;

describe.each(coverage)('finding, %s to be indexed', (_name, share) => {
  function modelOf(contents: readonly string[]): TextModel {
    const model = openTextModel();
    for (const [index, content] of contents.entries()) model.write(index, { content });
    if (share > 0) model.index(Math.ceil(contents.length * share));
    return model;
  }

  test.each([
    ["don't", ["We don't deploy on Fridays", 'Dont is another word', 'Tabs or spaces'], [0, 1]],
    ['better-sqlite3', ['sqlite is not better', 'We use better-sqlite3 13', 'nothing'], [1, 0]],
    ['src/x.ts', ['see src/x.ts:12', 'see src/y.ts', 'nothing'], [0, 1]],
    ['AND', ['this and that', 'this or that'], [0]],
    ['OR NOT NEAR(', ['or not near', 'nothing of it'], [0, 1]],
    ['foo:bar', ['the label foo:bar', 'foo alone', 'nothing'], [0, 1]],
    ['"', ['he said "no"', 'he said no'], [0]],
    ['*', ['SELECT * FROM t', 'SELECT a FROM t'], [0]],
    ['C++', ['C# and C', 'written in C++'], [1, 0]],
    ['😀', ['good 😀', 'bad 😢'], [0]],
    ['👩‍🚀', ['an astronaut 👩‍🚀', 'a rocket 🚀', 'a chair'], [0, 1]],
    ['x', ['the letter x', 'extra', 'box'], [0]],
    ['--force', ['git push --force', 'force of habit'], [0, 1]],
    ['tokens:a AND tokens', ['tokens', 'none'], [0]],
  ])('L66 %s', (query, contents, expected) => {
    expect(found(modelOf(contents), query)).toEqual(expected);
  });

  test.each([
    ['設', ['設定を変更', '定例会議'], [0]],
    ['設定', ['サーバー設定を変更', '定例の設備', 'other'], [0]],
    ['カ', ['ｶﾒﾗ', 'カメラ', 'camera'], [1, 0]],
    ['서버', ['서버를 재시작', '서 버', '클라이언트'], [0]],
    ['น้ำ', ['ดื่มน้ำเยอะ', 'นานมาก'], [0]],
    ['数据库迁移', ['昨天完成数据库迁移', '数据很多', '图'], [0]],
    ['ខ្មែរ', ['ភាសាខ្មែរ', 'ភាសា'], [0]],
    ['ລາວ', ['ພາສາລາວ', 'ພາສາ'], [0]],
    ['вода', ['водопровод и вода', 'огонь'], [0]],
    ['да', ['да или нет', 'вода'], [0]],
  ])('L67 %s', (query, contents, expected) => {
    expect([...found(modelOf(contents), query)].sort()).toEqual([...expected].sort());
  });

  test('L68 case, width and composition of the query do not matter', () => {
    const model = modelOf(['the API of the Café', 'ＡＰＩ', 'soft\u00adware']);
    expect([...found(model, 'api')].sort()).toEqual([0, 1]);
    expect(found(model, 'CAFE\u0301')).toEqual([0]);
    expect(found(model, 'software')).toEqual([2]);
  });

  test('L62 a context query finds substrings, in any field, and counts the tokens', () => {
    const model = modelOf(['debugging the importer', 'a bug', 'nothing', '設定']);
    model.write(4, { content: 'x', kind: 'decision', scope: 'Import-Service', tags: ['big bugs', 'ab'] });
    expect(foundInContext(model, 'bug import')).toEqual([
      [4, 2],
      [0, 2],
      [1, 1],
    ]);
    expect(foundInContext(model, '設')).toEqual([[3, 1]]);
    expect(foundInContext(model, 'ecisio SERVICE')).toEqual([[4, 2]]);
    expect(foundInContext(model, 'ab xx ..')).toEqual([]);
  });
});
