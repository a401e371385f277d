import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { charonMain } from '../../src-main/shells/cli-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

/** Runs a verb in this process and keeps what it prints. */
async function run(
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk: string | Uint8Array) => {
      said[name] += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await charonMain(args), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

test.each([
  [['principal', 'reconcile', 'x', 'owner', 'demo'], /profile: one of readonly, propose, review, write/],
  [['principal', 'reconcile', 'x', 'propose', ' demo'], /project/],
  [['principal', 'reconcile', 'x', 'propose'], /missing required argument 'project'/],
  [['principal', 'disable', 'nobody'], /principal_id: principal_ and 16 hex/],
  [['obol', 'mint', 'principal_0123456789abcdef', '--expires', '91d'], /--expires: a number of days or hours/],
  [['obol', 'revoke', 'zzz'], /obol_id: 16 hex/],
  [['serve', '--port', '70000'], /--port: a port is/],
  [['ledger', 'tail', '-n', '0'], /--lines: a number from 1/],
  [['proposal', 'review', 'x', 'approve'], /required option '--digest/],
  [['nonsense'], /unknown command|too many arguments/],
  [['ledger', 'verify', '--nonsense'], /unknown option '--nonsense'/],
  [[], /Usage: charon/],
])('X2 X3 charon %j ends with 2 and says why', async (args, said) => {
  const home = join(tempFolder(), 'home');
  expect((await run(['principal', 'reconcile', 'one', 'propose', 'demo', '--home', home])).code).toBe(0);
  const ran = await run(args.length === 0 ? args : [...args, '--home', home]);
  expect([ran.code, ran.stdout]).toEqual([2, '']);
  expect(ran.stderr).toMatch(said);
});
