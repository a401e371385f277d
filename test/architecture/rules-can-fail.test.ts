import { describe, expect, test } from 'vitest';
import {
  findBorderViolations,
  findCycles,
  findFeatureViolations,
  findOrderViolations,
  findPackageViolations,
  findRuleFolderViolations,
  findUnresolvedImports,
  type Violation,
} from './import-rules.ts';
import { type SourceTree, treeOf } from './source-tree.ts';
import { findCoverageViolations } from './spec-coverage.ts';
import {
  FILE_LINES_MAX,
  findBadNames,
  findExportViolations,
  findImpureRules,
  findLongFiles,
  findStraySql,
  findUnfinished,
} from './text-rules.ts';

type Rule = (tree: SourceTree) => readonly Violation[];
const unresolved: Rule = (tree) => findUnresolvedImports(tree, new Set(['zod']));
const task = ['TO', 'DO'].join('');

/** Each rule with a file that breaks it, so that no rule passes because it looks at nothing. */
const broken: readonly (readonly [string, Rule, string, string])[] = [
  ['base imports a store', findOrderViolations, 'src-main/base/a.ts', "import { b } from '../lethe/b.ts';"],
  ['Lethe imports Charon', findOrderViolations, 'src-main/lethe/a.ts', "import type { B } from '../charon/b.ts';"],
  ['Charon imports Lethe, lazily', findOrderViolations, 'src-main/charon/a.ts', "const b = import('../lethe/b.ts');"],
  [
    'the ledger imports Lethe, as a type',
    findOrderViolations,
    'src-main/ledger/a.ts',
    "type B = import('../lethe/b.ts').B;",
  ],
  ['commands import a door', findOrderViolations, 'src-main/commands/a.ts', "import { b } from '../transports/b.ts';"],
  ['canonical imports sqlite', findOrderViolations, 'src-main/canonical/a.ts', "import { b } from '../sqlite/b.ts';"],
  [
    'a door imports the composition root',
    findOrderViolations,
    'src-main/transports/a.ts',
    "import { b } from '../app.ts';",
  ],
  [
    'the contract imports main',
    findOrderViolations,
    'src-preload/contract/a.ts',
    "import { b } from '../../src-main/base/b.ts';",
  ],
  ['a part without a place', findOrderViolations, 'src-main/misc/a.ts', "import { b } from '../base/b.ts';"],
  ['rules import tables', findRuleFolderViolations, 'src-main/lethe/rules/a.ts', "import { b } from '../tables/b.ts';"],
  ['rules import a verb', findRuleFolderViolations, 'src-main/lethe/rules/a.ts', "import { b } from '../b.ts';"],
  [
    'rules import sqlite',
    findRuleFolderViolations,
    'src-main/charon/rules/a.ts',
    "import type { B } from '../../sqlite/b.ts';",
  ],
  [
    'rules import Node',
    findRuleFolderViolations,
    'src-main/lethe/rules/a.ts',
    "import { randomBytes } from 'node:crypto';",
  ],
  [
    'the renderer imports main',
    findBorderViolations,
    'src-renderer/app/a.ts',
    "import { b } from '../../src-main/base/b.ts';",
  ],
  ['main imports the renderer', findBorderViolations, 'src-main/app.ts', "import { b } from '../src-renderer/b.ts';"],
  ['main imports the bridge', findBorderViolations, 'src-main/app.ts', "import { b } from '../src-preload/bridge.ts';"],
  ['the renderer imports Node', findBorderViolations, 'src-renderer/app/a.ts', "import fs from 'node:fs';"],
  ['the contract imports Node', findBorderViolations, 'src-preload/contract/a.ts', "import fs from 'node:fs';"],
  ['the contract imports a package', findBorderViolations, 'src-preload/contract/a.ts', "import { x } from 'fastify';"],
  ['the bridge imports Node', findBorderViolations, 'src-preload/bridge.ts', "import fs from 'node:fs';"],
  [
    'a feature imports another',
    findFeatureViolations,
    'src-renderer/features/a/a.tsx',
    "import { b } from '../b/b.tsx';",
  ],
  [
    'a feature imports the frame',
    findFeatureViolations,
    'src-renderer/features/a/a.tsx',
    "import { b } from '../../app/b.tsx';",
  ],
  ['ui imports a feature', findFeatureViolations, 'src-renderer/ui/a.tsx', "import { b } from '../features/b/b.tsx';"],
  ['a verb imports the driver', findPackageViolations, 'src-main/lethe/a.ts', "import Database from 'better-sqlite3';"],
  ['a door imports electron', findPackageViolations, 'src-main/transports/a.ts', "import { app } from 'electron';"],
  [
    'a headless shell imports electron',
    findPackageViolations,
    'src-main/shells/a.ts',
    "import type { App } from 'electron';",
  ],
  ['a command imports fastify', findPackageViolations, 'src-main/commands/a.ts', "import fastify from 'fastify';"],
  [
    'a store imports the MCP SDK',
    findPackageViolations,
    'src-main/charon/a.ts',
    "import { x } from '@modelcontextprotocol/server/zod';",
  ],
  ['main imports React', findPackageViolations, 'src-main/app.ts', "import { useState } from 'react';"],
  ['an import without its ending', unresolved, 'src-main/base/a.ts', "import { b } from './b';"],
  ['an import of nothing', unresolved, 'src-main/base/a.ts', "import { b } from './b.ts';"],
  ['an alias', unresolved, 'src-main/base/a.ts', "import { b } from '@/base/b.ts';"],
  ['an undeclared package', unresolved, 'src-main/base/a.ts', "import { b } from 'left-pad';"],
  ['SQL in a verb', findStraySql, 'src-main/lethe/a.ts', 'const q = `SELECT id FROM refs WHERE name = ?`;'],
  [
    'SQL in rules, small letters',
    findStraySql,
    'src-main/lethe/rules/a.ts',
    "const q = 'delete from refs where id = ?';",
  ],
  [
    'SQL in a command',
    findStraySql,
    'src-main/commands/a.ts',
    'const q = `INSERT OR IGNORE INTO refs (id) VALUES (?)`;',
  ],
  [
    'SQL spliced',
    findStraySql,
    'src-main/app.ts',
    ['const q = (t: string) => `UPDATE $', '{t} SET name = ?`;'].join(''),
  ],
  ['a transaction in a verb', findStraySql, 'src-main/charon/a.ts', "const q = 'BEGIN IMMEDIATE';"],
  ['a default export', findExportViolations, 'src-main/app.ts', 'export default 1;'],
  ['a handed-on module', findExportViolations, 'src-main/app.ts', "export * from './b.ts';"],
  ['a handed-on name', findExportViolations, 'src-main/app.ts', "export { b } from './b.ts';"],
  ['an index file', findExportViolations, 'src-renderer/ui/index.ts', 'export const a = 1;'],
  ['a long file', findLongFiles, 'src-main/app.ts', 'const a = 1;\n'.repeat(FILE_LINES_MAX + 1).replaceAll('a', 'b')],
  ['a name in camel case', findBadNames, 'src-main/base/myFile.ts', ''],
  ['rules that read the clock', findImpureRules, 'src-main/lethe/rules/a.ts', 'export const now = () => Date.now();'],
  ['rules that make a date', findImpureRules, 'src-main/lethe/rules/a.ts', 'export const now = () => new Date();'],
  ['rules that roll dice', findImpureRules, 'src-main/charon/rules/a.ts', 'export const dice = () => Math.random();'],
  ['a skipped test', findUnfinished, 'test/a.test.ts', "test.skip('x', () => {});"],
  ['a focused group', findUnfinished, 'test/a.test.ts', "describe.only('x', () => {});"],
  ['a task left behind', findUnfinished, 'src-main/app.ts', `// ${task}: later`],
  ['a silenced checker', findUnfinished, 'src-main/app.ts', ['// @ts', 'ignore'].join('-')],
];

test.each(broken)('%s is found', (_, rule, path, text) => {
  const found = rule(treeOf({ [path]: text }));
  expect(found.length).toBeGreaterThan(0);
  expect(found[0]).toContain(path);
});

test('a circle of imports is found, one of types is none', () => {
  const circle = (b: string) => treeOf({ 'src-main/a.ts': "import { b } from './b.ts';", 'src-main/b.ts': b });
  expect(findCycles(circle("import { a } from './a.ts';"))).toEqual([
    'src-main/a.ts → src-main/b.ts → src-main/a.ts: a circle of imports',
  ]);
  expect(findCycles(circle("import type { A } from './a.ts';"))).toEqual([]);
});

/** Files that keep the rules: none of them may be taken for a breach. */
const kept: readonly (readonly [string, Rule, string, string])[] = [
  [
    'commands join the stores',
    findOrderViolations,
    'src-main/commands/a.ts',
    "import { b } from '../lethe/b.ts'; import { c } from '../charon/c.ts';",
  ],
  [
    'rules import canonical',
    findRuleFolderViolations,
    'src-main/lethe/rules/a.ts',
    "import { b } from '../../canonical/b.ts';",
  ],
  ['the driver in its place', findPackageViolations, 'src-main/sqlite/a.ts', "import Database from 'better-sqlite3';"],
  ['SQL in a table', findStraySql, 'src-main/lethe/tables/a.ts', 'const q = `SELECT id FROM refs`;'],
  [
    'a sentence',
    findStraySql,
    'src-main/lethe/a.ts',
    "const s = 'Select a memory from the list, then update the note. Begin again.';",
  ],
  ['a comment with an import', findOrderViolations, 'src-main/base/a.ts', "// import { b } from '../lethe/b.ts';"],
  [
    'a feature at home',
    findFeatureViolations,
    'src-renderer/features/a/a.tsx',
    "import { b } from './b.tsx'; import { c } from '../../ui/c.tsx';",
  ],
  [
    'the frame shows features',
    findFeatureViolations,
    'src-renderer/app/a.tsx',
    "import { b } from '../features/b/b.tsx';",
  ],
];

test.each(kept)('%s: no breach', (_, rule, path, text) => {
  expect(rule(treeOf({ [path]: text }))).toEqual([]);
});

test('a file that does not parse is an error, not an empty file', () => {
  expect(() => treeOf({ 'src-main/a.ts': 'const = ;' })).toThrow('src-main/a.ts does not parse');
});

describe('coverage of a SPEC.md', () => {
  const specs = { 'src-main/lethe/SPEC.md': '# Lethe\n\n- **L1** one thing\n- **L2** another\n' };
  const covered = (title: string) => findCoverageViolations(treeOf({ 'test/lethe/a.test.ts': title }), specs);

  test('every rule cited: nothing to say', () => {
    expect(covered("test('L1 one', f); test.each([1])(`L2 with %s`, f);")).toEqual([]);
  });

  test('one test may cite two rules, and a letter that no spec uses is free', () => {
    expect(covered("it('L1, L2 and Z9 together', f);")).toEqual([]);
  });

  test('a rule without a test is found', () => {
    expect(covered("test('L1 one', f);")).toEqual(['src-main/lethe/SPEC.md: no test cites L2']);
  });

  test('a citation in a comment or in a group’s title does not count', () => {
    expect(covered("// L2\ndescribe('L2 group', () => { test('L1 one', f); });")).toEqual([
      'src-main/lethe/SPEC.md: no test cites L2',
    ]);
  });

  test('an id without a rule is found', () => {
    expect(covered("test('L1 L2 L3', f);")).toEqual(['test/lethe/a.test.ts cites L3, which no SPEC.md has']);
  });

  test('an id given twice is found', () => {
    const twice = { a: '- **L1** one', b: '- **L1** again' };
    expect(findCoverageViolations(treeOf({ 'test/a.test.ts': "test('L1 one', f);" }), twice)).toEqual([
      'L1 is given to 2 rules',
    ]);
  });
});
