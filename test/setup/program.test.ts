import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { decideProgram } from '../../scripts/lib/program.mjs';

const facts = { nodeVersion: '24.9.0', bundledNode: true, packagesPresent: true, buildFresh: () => true };

describe('how a command line is started', () => {
  test('the built program, when it is that of the present sources', () => {
    expect(decideProgram('charon', facts)).toEqual({ kind: 'run', file: 'out/main/charon.js' });
  });

  test('the sources otherwise', () => {
    expect(decideProgram('lethe', { ...facts, buildFresh: () => false })).toEqual({
      kind: 'run',
      file: 'src-main/shells/lethe.ts',
    });
  });

  test('an old Node hands over to the bundled one', () => {
    expect(decideProgram('charon', { ...facts, nodeVersion: '20.20.2' })).toEqual({ kind: 'hand-over' });
  });

  test('an old Node alone is refused with the remedy', () => {
    const way = decideProgram('charon', { ...facts, nodeVersion: '20.20.2', bundledNode: false });
    expect(way).toMatchObject({
      kind: 'refuse',
      why: expect.stringMatching(/20\.20\.2 is too old .*npm run setup.*22\.12/),
    });
  });

  test('without its packages it is refused with the remedy', () => {
    const way = decideProgram('lethe', { ...facts, packagesPresent: false });
    expect(way).toMatchObject({ kind: 'refuse', why: expect.stringContaining('npm run setup') });
  });
});

describe('in a folder of its own', () => {
  let folder = '';
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A copy of the scripts beside a program of one line. */
  function prepare(program: string | null): void {
    folder = mkdtempSync(join(tmpdir(), 'memory-git-program-'));
    cpSync(resolve(import.meta.dirname, '../../scripts'), join(folder, 'scripts'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    if (program === null) return;
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), '{}');
    mkdirSync(join(folder, 'src-main/shells'), { recursive: true });
    writeFileSync(join(folder, 'src-main/shells/charon.ts'), program);
  }

  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'scripts/charon.mjs'), ...args], { encoding: 'utf8' });

  test('arguments, output and exit code are the program’s own', () => {
    prepare('const rest: string[] = process.argv.slice(2); console.log(JSON.stringify(rest)); process.exitCode = 7;');
    const result = run('obol', 'mint', '--json');
    expect(result).toMatchObject({ status: 7, stdout: '["obol","mint","--json"]\n', stderr: '' });
  });

  test('before set-up the exit code is 3, with one line on stderr and nothing on stdout', () => {
    prepare(null);
    const result = run('version');
    expect(result).toMatchObject({ status: 3, stdout: '' });
    expect(result.stderr).toMatch(/^memory-git: charon is not set up yet.*\n$/);
  });
});
