import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { restoreBackup } from '../../src-main/backup/restore.ts';
import { homePaths } from '../../src-main/home/home.ts';
import { finishSwap, listSlot, type Swap, slotPath, swapFiles } from '../../src-main/home/swap.ts';
import { readHeads } from '../../src-main/lethe/file.ts';
import { openHeld } from '../../src-main/sqlite/held.ts';
import { tempFolder } from '../support/temp-home.ts';
import { backedUp, commitMore, livedInHome, withHome } from './backup-world.ts';

// Two processes are started here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

class Crash extends Error {}

/** Throws before the step of that number, as a process that dies there would do nothing more. */
function crashAt(number: number, steps: string[] = []): (step: string) => void {
  return (step) => {
    steps.push(step);
    if (steps.length > number) throw new Crash(step);
  };
}

const side = ['lethe.db-wal', 'charon.db-shm'];
const data = ['lethe.db', 'charon.db', 'ledger.anchor'];

/** A home of plain files that wait to be swapped, with the anchor in the home or elsewhere. */
function waiting(isAnchorElsewhere: boolean) {
  const folder = tempFolder();
  const env = isAnchorElsewhere ? { CHARON_LEDGER_ANCHOR_PATH: join(folder, 'elsewhere.anchor') } : {};
  const paths = homePaths(join(folder, 'home'), env);
  mkdirSync(paths.root);
  const targets = (): Record<string, string> => ({
    ...Object.fromEntries(
      readdirSync(paths.root, { withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [[entry.name, readFileSync(join(paths.root, entry.name), 'utf8')]] : [],
      ),
    ),
    ...(isAnchorElsewhere && existsSync(paths.anchor) ? { 'ledger.anchor': readFileSync(paths.anchor, 'utf8') } : {}),
  });
  const place = (name: string): string => (name === 'ledger.anchor' ? paths.anchor : join(paths.root, name));
  for (const name of [...side, ...data, 'settings.json']) writeFileSync(place(name), `old ${name}`);
  const id = '0badcafe';
  mkdirSync(join(paths.restore, id, 'incoming'), { recursive: true });
  for (const name of [...data, 'restored.json']) writeFileSync(slotPath(paths, id, 'incoming', name), `new ${name}`);
  const swap: Swap = { id, from: 'incoming', to: 'replaced', put: [...data, 'restored.json'] };
  return { paths, targets, swap };
}

test.each([false, true])(
  'R34 a swap that is cut short at any step is finished at the next opening, and back again likewise (anchor elsewhere: %s)',
  (isAnchorElsewhere) => {
    const whole: string[] = [];
    const first = waiting(isAnchorElsewhere);
    const before = first.targets();
    swapFiles(first.paths, first.swap, crashAt(Number.POSITIVE_INFINITY, whole));
    const after = first.targets();
    expect(after).toEqual({
      ...Object.fromEntries([...data, 'restored.json'].map((name) => [name, `new ${name}`])),
      'settings.json': 'old settings.json',
    });
    expect(whole.length).toBeGreaterThan(10);
    for (let step = 0; step < whole.length; step += 1) {
      const { paths, targets, swap } = waiting(isAnchorElsewhere);
      expect(() => swapFiles(paths, swap, crashAt(step))).toThrow(Crash);
      const isBegun = finishSwap(paths);
      expect([whole[step], isBegun]).toEqual([whole[step], step > 0]);
      expect(targets()).toEqual(isBegun ? after : before);
      expect(finishSwap(paths)).toBe(false);
      if (!isBegun) continue;
      const back: Swap = { id: swap.id, from: 'replaced', to: 'withdrawn', put: listSlot(paths, swap.id, 'replaced') };
      const steps: string[] = [];
      const at = 1 + (step % 9);
      expect(() => swapFiles(paths, back, crashAt(at, steps))).toThrow(Crash);
      expect(finishSwap(paths)).toBe(true);
      expect(targets()).toEqual(before);
    }
  },
);

const headsOf = (path: string): string => {
  const held = openHeld(path);
  held.hold();
  const heads = JSON.stringify(readHeads(held.db));
  held.close();
  return heads;
};

test('R34 a restore that dies before its swap changes nothing, and one that is killed inside it is there at the next opening', async () => {
  const { engine, writer } = await livedInHome();
  const { directory } = await backedUp(engine);
  const then = headsOf(join(directory, 'lethe.db'));
  await commitMore(engine, writer, 'later', 2);
  await engine.close();
  const now = headsOf(engine.paths.letheDb);
  const folder = tempFolder();
  const copy = (name: string): string => {
    const root = join(folder, name);
    cpSync(engine.paths.root, root, { recursive: true });
    return root;
  };
  const root = copy('home');
  const ahead = ['copy', 'safety', 'ready', 'verify', 'key'];
  for (const [step, name] of [...ahead.entries()].filter(([number]) => number % 2 === 0)) {
    const steps: string[] = [];
    const died = withHome(root, (tools) => restoreBackup(tools, { directory, hook: crashAt(step, steps) }));
    await expect(died).rejects.toThrow(name);
    expect(steps).toEqual(ahead.slice(0, step + 1));
    const { letheDb, restore } = homePaths(root, {});
    expect([headsOf(letheDb), readdirSync(restore)]).toEqual([now, []]);
  }
  rmSync(root, { recursive: true });

  const program = fileURLToPath(new URL('restore-until-killed.ts', import.meta.url));
  for (const [step, isRestored] of [
    ['journal', false],
    ['put charon.db', true],
  ] as const) {
    const killed = copy(step.replace(' ', '-'));
    const child = spawn(process.execPath, [program, killed, directory, step], { stdio: 'inherit' });
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
    await withHome(killed, async ({ paths }, mark) => {
      expect([headsOf(paths.letheDb), mark !== undefined]).toEqual(isRestored ? [then, true] : [now, false]);
      expect(existsSync(join(paths.root, 'restore.journal'))).toBe(false);
    });
  }
});
