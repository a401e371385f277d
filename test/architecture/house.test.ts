import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  findBorderViolations,
  findCycles,
  findFeatureViolations,
  findOrderViolations,
  findPackageViolations,
  findRuleFolderViolations,
  findUnresolvedImports,
} from './import-rules.ts';
import { readSpecs, readTree } from './source-tree.ts';
import { findCoverageViolations } from './spec-coverage.ts';
import {
  findBadNames,
  findExportViolations,
  findImpureRules,
  findLongFiles,
  findStraySql,
  findUnfinished,
} from './text-rules.ts';

const root = resolve(import.meta.dirname, '../..');
const sources = readTree(root, ['src-main', 'src-preload', 'src-renderer']);
const tests = readTree(root, ['test', 'bench', 'examples']);
const specs = readSpecs(root, 'src-main');

test('there are sources to look at', () => {
  expect(sources.files.length).toBeGreaterThan(20);
});

describe('imports', () => {
  test('lower parts never import higher ones, and Lethe, Charon and the ledger never each other', () => {
    expect(findOrderViolations(sources)).toEqual([]);
  });

  test('rules import only contract, base, canonical and text', () => {
    expect(findRuleFolderViolations(sources)).toEqual([]);
  });

  test('main and renderer meet only in the contract', () => {
    expect(findBorderViolations(sources)).toEqual([]);
  });

  test('a feature imports bridge, ui, contract and itself', () => {
    expect(findFeatureViolations(sources)).toEqual([]);
  });

  test('the driver, electron, HTTP and React stay in their places', () => {
    expect(findPackageViolations(sources)).toEqual([]);
  });

  test('every import leads to a file, a dependency or a module of Node', () => {
    const manifest: { dependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    expect(findUnresolvedImports(sources, new Set([...Object.keys(manifest.dependencies), 'electron']))).toEqual([]);
  });

  test('no circle of imports', () => {
    expect(findCycles(sources)).toEqual([]);
  });
});

describe('texts', () => {
  test('only tables and migrations contain SQL', () => {
    expect(findStraySql(sources)).toEqual([]);
  });

  test('named exports only, no barrels', () => {
    expect(findExportViolations(sources)).toEqual([]);
  });

  test.each([
    ['sources', sources],
    ['tests', tests],
  ])('no long file among the %s', (_, tree) => {
    expect(findLongFiles(tree)).toEqual([]);
  });

  test.each([
    ['sources', sources],
    ['tests', tests],
  ])('kebab-case names among the %s', (_, tree) => {
    expect(findBadNames(tree)).toEqual([]);
  });

  test('rules read no clock and no randomness', () => {
    expect(findImpureRules(sources)).toEqual([]);
  });

  test.each([
    ['sources', sources],
    ['tests', tests],
  ])('nothing is skipped, silenced or left for later among the %s', (_, tree) => {
    expect(findUnfinished(tree)).toEqual([]);
  });
});

test('every rule of a SPEC.md has a test, and every cited id a rule', () => {
  expect(findCoverageViolations(tests, specs)).toEqual([]);
});

test('the README names both commands', () => {
  const readme = readTree(root, ['README.md']).textOf('README.md') ?? '';
  expect(readme).toMatch(/\bnpm start\b/);
  expect(readme).toMatch(/\bnpm test\b/);
});

test('the continuous check runs the README’s test command and nothing else', () => {
  const commands = readFileSync(join(root, '.ci/run'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('npm'));
  expect(commands).toEqual(['exec npm test']);
});
