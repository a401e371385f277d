import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { homePaths } from '../../src-main/home/home.ts';
import { lockHome } from '../../src-main/home/lock.ts';
import { addKeyVerbs } from '../../src-main/shells/cli-keys.ts';
import { createProgram } from '../../src-main/shells/cli-program.ts';
import { tempFolder } from '../support/temp-home.ts';

// Passphrases cost what they cost, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const passphrase = 'correct horse battery';
const twice = [passphrase, passphrase];

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What was asked for on the terminal. */
  readonly asked: readonly string[];
}

/** Runs `charon keys …` in this process; `typed` is what is typed on its terminal, a text for every question. */
async function keys(home: string, args: readonly string[], typed: readonly string[] = []): Promise<Said> {
  const [asked, out, err]: [string[], string[], string[]] = [[], [], []];
  const write = (to: string[]) => (chunk: unknown) => to.push(String(chunk)) > 0;
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(write(out)),
    vi.spyOn(process.stderr, 'write').mockImplementation(write(err)),
  ];
  const program = createProgram('charon', 'as it is typed');
  addKeyVerbs(program, async (question) => {
    const answer = typed[asked.push(question) - 1];
    if (answer === undefined) throw new Fault('CONFIRMATION_REQUIRED', 'there is no terminal here');
    return answer;
  });
  // A verb of another family makes the home.
  program.root.command('make').action(() => program.act(async () => undefined, { create: true }));
  try {
    const code = await program.run([...args, '--home', home]);
    return { code, stdout: out.join(''), stderr: err.join(''), asked };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function madeHome() {
  const folder = tempFolder();
  const home = join(folder, 'home');
  expect((await keys(home, ['make'])).code).toBe(0);
  return { folder, home, file: () => readFileSync(join(home, 'keys.json'), 'utf8') };
}

test('X70 X71 keys come back by the passphrase that was typed, also into a home that is new', async () => {
  const { folder, home, file } = await madeHome();
  const out = join(folder, 'keys.export');
  const none = await keys(home, ['keys', 'export', '--out', out]);
  expect([none.code, none.stderr, existsSync(out)]).toEqual([3, expect.stringMatching(/keys recovery set/), false]);
  expect((await keys(home, ['keys', 'recovery', 'status'])).stdout).toMatch(/^No recovery passphrase is set/);

  const set = await keys(home, ['keys', 'recovery', 'set'], twice);
  expect([set.code, set.asked.length]).toEqual([0, 2]);
  expect(set.stdout).toMatch(/^A recovery passphrase is set since \S+Z\.\n$/);
  const status = await keys(home, ['keys', 'recovery', 'status', '--json']);
  expect(JSON.parse(status.stdout)).toEqual({ set: true, set_at: expect.stringMatching(/Z$/) });
  const exported = await keys(home, ['keys', 'export', '--out', out, '--json']);
  expect([exported.code, statSync(out).mode & 0o777]).toEqual([0, 0o600]);
  const envelope = readFileSync(out, 'utf8');
  expect(JSON.parse(exported.stdout)).toEqual({ file: out, home_id: JSON.parse(envelope).home_id });
  const said = JSON.stringify([set, status, exported, envelope]);
  expect(said).not.toContain(passphrase);
  for (const [, secret] of file().matchAll(/"(?:obol|oauth|secret|seed|sealing_key)": "([^"]{43})"/g))
    expect(said).not.toContain(secret);

  const elsewhere = join(folder, 'elsewhere');
  const wrong = await keys(elsewhere, ['keys', 'restore', out], ['correct horse batterY']);
  expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringMatching(/passphrase: it does not open these keys/)]);
  expect(existsSync(elsewhere)).toBe(false);
  const back = await keys(elsewhere, ['keys', 'restore', out, '--json'], [passphrase]);
  expect(back.asked).toEqual(['Recovery passphrase: ']);
  expect(JSON.parse(back.stdout)).toEqual({ home_id: JSON.parse(envelope).home_id, changed: true, kept: null });
  expect(readFileSync(join(elsewhere, 'keys.json'), 'utf8')).toBe(file());
});

test('X70 a passphrase that is short, typed in two ways or on no terminal changes nothing', async () => {
  const { home, file } = await madeHome();
  const before = file();
  for (const [typed, code] of [
    [['too short', 'too short'], 2],
    [[passphrase, 'correct horse batterY'], 2],
    [[], 1],
  ] as const) {
    const said = await keys(home, ['keys', 'recovery', 'set'], typed);
    expect([said.code, said.stdout]).toEqual([code, '']);
    expect(said.stderr).not.toContain('horse');
    expect(file()).toBe(before);
  }
});

test('X71 H45 a file that is there is not written over, and other keys are replaced only when that is asked for', async () => {
  const { folder, home, file } = await madeHome();
  await keys(home, ['keys', 'recovery', 'set'], twice);
  const out = join(folder, 'keys.export');
  writeFileSync(out, 'mine');
  expect((await keys(home, ['keys', 'export', '--out', out])).code).toBe(2);
  expect(readFileSync(out, 'utf8')).toBe('mine');
  rmSync(out);
  await keys(home, ['keys', 'export', '--out', out]);
  const first = file();
  await keys(home, ['keys', 'rotate', 'obol', '--yes']);
  const rotated = file();
  const refused = await keys(home, ['keys', 'restore', out], [passphrase]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringMatching(/--replace/)]);
  expect(file()).toBe(rotated);
  const lock = lockHome(homePaths(home, {}));
  const held = await keys(home, ['keys', 'restore', out, '--replace'], [passphrase]);
  lock.release();
  expect([held.code, held.asked, held.stderr]).toEqual([3, [], expect.stringMatching(/process uses this home/i)]);
  const done = await keys(home, ['keys', 'restore', out, '--replace'], [passphrase]);
  const kept = /kept aside as (\S+)\. /.exec(done.stderr)?.[1] ?? '';
  expect([done.code, file(), readFileSync(join(home, kept), 'utf8')]).toEqual([0, first, rotated]);
  for (const text of ['no such file', 'damaged']) {
    const path = join(folder, text);
    if (text === 'damaged') writeFileSync(path, readFileSync(out, 'utf8').slice(1));
    expect((await keys(home, ['keys', 'restore', path])).code).toBe(text === 'damaged' ? 3 : 2);
  }
  const other = (await madeHome()).home;
  expect((await keys(other, ['keys', 'restore', out, '--replace'], [passphrase])).stderr).toMatch(
    /keys of another home/,
  );
});
