import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contestant } from './measure.ts';

/** A repository of git in a folder of its own, beside which the store is measured. */
export interface GitPeer {
  /** Runs a command of git there; throws when it fails. */
  run(...args: readonly string[]): void;
  /** The same, with something on its standard input. */
  feed(input: string, ...args: readonly string[]): void;
  readonly folder: string;
}

/** Starts a repository that syncs everything it writes, as the store does, and never packs in between. */
export function openGit(parent: string, name: string): GitPeer {
  const folder = join(parent, name);
  mkdirSync(folder);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'bench',
    GIT_AUTHOR_EMAIL: 'bench@localhost',
    GIT_COMMITTER_NAME: 'bench',
    GIT_COMMITTER_EMAIL: 'bench@localhost',
  };
  const feed = (input: string, ...args: readonly string[]): void => {
    const done = spawnSync('git', args, { cwd: folder, env, input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    if (done.status !== 0) throw new Error(`git ${args[0]} failed: ${done.stderr || String(done.error)}`);
  };
  const run = (...args: readonly string[]): void => feed('', ...args);
  run('init', '--quiet');
  run('config', 'core.fsync', 'all');
  run('config', 'gc.auto', '0');
  return { run, feed, folder };
}

/** `git commit` of one line more in one file. */
export function gitCommits<Name extends string>(name: Name, parent: string): Contestant & { readonly name: Name } {
  const git = openGit(parent, 'git-commits');
  const file = join(git.folder, 'memory.md');
  writeFileSync(file, 'memory\n');
  git.run('add', 'memory.md');
  git.run('commit', '--quiet', '--message', 'start');
  return {
    name,
    workers: 1,
    prepare: () => appendFileSync(file, `${'one more line of memory '.repeat(8)}\n`),
    once: () => git.run('commit', '--quiet', '--all', '--message', 'one more'),
  };
}
