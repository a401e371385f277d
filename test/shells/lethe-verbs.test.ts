import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openAccess } from '../../src-main/shells/cli-access.ts';
import { charonMain } from '../../src-main/shells/cli-charon.ts';
import { letheMain } from '../../src-main/shells/cli-lethe.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a verb in this process and keeps what it prints. */
async function ran(main: (args: readonly string[]) => Promise<number>, args: readonly string[]): Promise<Ran> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk: string | Uint8Array) => {
      said[name] += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await main(args), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

let folder: string;
let home: string;
let pinned: { readonly manifest_id?: string | undefined; readonly head_changeset_id: string };
const lethe = (...args: string[]): Promise<Ran> => ran(letheMain, [...args, '--home', home]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'memory-git-verbs-'));
  home = join(folder, 'home');
  const access = await openAccess({ home, env: {}, create: true, storeOnly: true });
  await access.call('memory.repo_init', { project: 'demo' });
  pinned = await access.call('memory.context_at', { project: 'demo', pin: true });
  await access.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

const verbs = [
  ['version'],
  ['verify-chain'],
  ['import'],
  ['serve'],
  ['keygen'],
  ...['status', 'log', 'show', 'diff', 'branch', 'manifest'].map((verb) => ['memory', verb]),
  ...['log', 'show', 'diff'].map((verb) => ['ledger', verb]),
];

test.each(verbs)('X13 lethe %s %s is explained by --help', async (...words) => {
  const help = await lethe(...words.filter((word) => typeof word === 'string'), '--help');
  expect([help.code, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toMatch(new RegExp(`^Usage: lethe ${words.join(' ').trim()}[\\s\\S]*--home[\\s\\S]*--json`));
});

describe('a branch and a manifest', () => {
  test('X60 a branch starts at the head of main or where it is told to, and is refused where it cannot', async () => {
    const made = await lethe('memory', 'branch', 'demo', 'refs/topics/one', '--json');
    expect([made.code, JSON.parse(made.stdout)]).toEqual([
      0,
      expect.objectContaining({ ref_name: 'refs/topics/one', head_changeset_id: pinned.head_changeset_id }),
    ]);
    const told = await lethe('memory', 'branch', 'demo', 'refs/topics/two', '--at', pinned.head_changeset_id);
    expect([told.code, told.stdout]).toEqual([0, `refs/topics/two starts at ${pinned.head_changeset_id}\n`]);
    for (const [args, code] of [
      [['demo', 'refs/topics/one'], 1],
      [['demo', 'refs/shared/other'], 1],
      [['none', 'refs/topics/one'], 1],
      [['demo', 'refs/topics/three', '--at', 'nowhere'], 2],
      [['demo'], 2],
    ] as const) {
      const refused = await lethe('memory', 'branch', ...args);
      expect([args, refused.code, refused.stdout]).toEqual([args, code, '']);
      expect(refused.stderr).not.toBe('');
    }
  });

  test('X60 a manifest is shown as it was pinned', async () => {
    const id = pinned.manifest_id ?? '';
    const shown = await lethe('memory', 'manifest', 'demo', id, '--json');
    expect([shown.code, JSON.parse(shown.stdout)]).toEqual([0, pinned]);
    expect((await lethe('memory', 'manifest', 'demo', id)).stdout).toContain(`Head:    ${pinned.head_changeset_id}\n`);
    const other = '00000000-0000-7000-8000-000000000001';
    expect((await lethe('memory', 'manifest', 'demo', other)).code).toBe(1);
    expect((await lethe('memory', 'manifest', 'demo', 'x')).code).toBe(2);
  });

  test('X60 a key is printed once, another one each time', async () => {
    const keys = [await lethe('keygen'), await lethe('keygen')];
    for (const { code, stdout, stderr } of keys) {
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^LETHE_API_KEY=lethe_[0-9a-f]{64}\n$/)]);
      expect(stderr).not.toContain('lethe_');
    }
    expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(2);
    expect(JSON.parse((await lethe('keygen', '--json')).stdout)).toEqual({ lethe_api_key: expect.any(String) });
  });
});

describe('what is not there or does not hold', () => {
  const unknown = '00000000-0000-7000-8000-000000000001';
  test.each([
    ['verify-chain', 'none'],
    ['memory', 'status', 'none'],
    ['memory', 'log', 'none'],
    ['memory', 'show', unknown],
    ['memory', 'diff', unknown, unknown],
  ])('X61 lethe %s %s of what the store does not hold ends with 1', async (...args) => {
    for (const json of [[], ['--json']]) {
      const refused = await lethe(...args, ...json);
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toMatch(
        json.length > 0 ? /^\{"fault":\{"code":"[A-Z_]+_NOT_FOUND"/ : /^lethe: not_found: /,
      );
    }
  });

  test('X61 a home that is not there and a store that is damaged are not available', async () => {
    const damaged = join(folder, 'damaged');
    await ran(charonMain, ['principal', 'reconcile', 'one', 'propose', 'demo', '--home', damaged]);
    writeFileSync(join(damaged, 'lethe.db'), 'no database at all');
    for (const [at, message] of [
      [join(folder, 'nowhere'), /There is no Memory Git home/],
      [damaged, /The database file is damaged/],
    ] as const)
      for (const verb of [
        ['verify-chain', 'demo'],
        ['memory', 'status', 'demo'],
      ]) {
        const refused = await ran(letheMain, [...verb, '--home', at]);
        expect([refused.code, refused.stdout]).toEqual([3, '']);
        expect(refused.stderr).toMatch(message);
        expect(refused.stderr).not.toMatch(/\n\s+at /);
      }
  });
});
