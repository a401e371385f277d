import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { KeyRecovery } from '../../src-preload/contract/commands/operations.ts';
import { Fault } from '../base/fault.ts';
import { type AskPassphrase, askOnTerminal, askTwice } from './cli-confirm.ts';
import { type Program, usageFault } from './cli-program.ts';

/** `charon keys recovery`, `export` and `restore`: keys that a passphrase brings back (`charon.md` §7). */
export function addKeyRecoveryVerbs(program: Program, keys: Command, ask: AskPassphrase = askOnTerminal): void {
  const recovery = keys.command('recovery').description('the passphrase that brings the keys back; it is kept nowhere');
  recovery
    .command('set')
    .description('set it, typed twice on the terminal: backups and exports seal the keys under it from then on')
    .action(() =>
      program.act(async ({ call, print, warn }) => {
        const state = await call('key.set_recovery', { passphrase: await askTwice(ask) });
        print(state, recoveryText(state));
        warn('It is kept nowhere: write it down. Exports and backups of before keep the passphrase of their time.');
        return undefined;
      }),
    );
  recovery
    .command('status')
    .description('whether one is set, and since when')
    .action(() =>
      program.act(async ({ call, print }) => {
        const state = await call('key.recovery', {});
        print(state, recoveryText(state));
        return undefined;
      }),
    );
  keys
    .command('export')
    .description('write the keys into a file, sealed so that the recovery passphrase alone opens it')
    .requiredOption('--out <file>', 'the file to write; one that is there is left alone')
    .action(({ out }: { out: string }) => {
      if (existsSync(out)) throw usageFault('--out', 'there is something by that name already. Choose another.');
      return program.act(async ({ call, print }) => {
        const { envelope } = await call('key.export', {});
        writeNew(out, `${JSON.stringify(envelope, null, 2)}\n`);
        print(
          { file: out, home_id: envelope.home_id },
          'The keys are in the file, sealed under the recovery passphrase.',
        );
        return undefined;
      });
    });
  addRestore(program, keys, ask);
}

function addRestore(program: Program, keys: Command, ask: AskPassphrase): void {
  keys
    .command('restore')
    .description('put the keys of an export back into a home that no process has open; asks for its passphrase')
    .argument('<file>', 'what charon keys export wrote, or the keys file of a backup')
    .option('--replace', 'also in the place of other keys, whose file is kept aside')
    .action((file: string, { replace = false }: { replace?: boolean }) =>
      program.actAlone(async ({ home, print, warn }) => {
        const { restoreKeys } = await import('./restore-keys.ts');
        const done = await restoreKeys({ home, env: process.env, file, replace, ask });
        print(done, done.changed ? 'The keys are back.' : 'These keys are there already.');
        if (done.kept !== null)
          warn(
            `What was there before is kept aside as ${done.kept}. Delete it when you are sure that you need it no more.`,
          );
        return undefined;
      }),
    );
}

/** Writes a file that was not there, 0600, and waits for the disk. */
function writeNew(path: string, text: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (thrown) {
    throw new Fault(
      'INPUT_INVALID',
      '--out: the file cannot be made there. Choose another place.',
      { field: '--out' },
      {
        cause: thrown,
      },
    );
  }
  try {
    // One write may take a part of it alone, as on a disk that is nearly full: this goes on until all is written, or throws.
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (thrown) {
    rmSync(path, { force: true });
    throw thrown;
  } finally {
    closeSync(descriptor);
  }
}

function recoveryText({ set_at: since }: KeyRecovery): string {
  return since === null
    ? 'No recovery passphrase is set: when the keys are lost, they are lost for good. Set one: charon keys recovery set.'
    : `A recovery passphrase is set since ${since}.`;
}
