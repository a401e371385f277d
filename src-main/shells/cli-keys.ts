import { type KeyFacts, type KeyName, keyNames } from '../../src-preload/contract/commands/operations.ts';
import { keyEffects, keyUses } from '../../src-preload/contract/key-words.ts';
import type { AskPassphrase } from './cli-confirm.ts';
import { exitCodes } from './cli-exit.ts';
import { addKeyRecoveryVerbs } from './cli-key-recovery.ts';
import { type Program, usageFault } from './cli-program.ts';
import { table } from './cli-text.ts';

/** `charon keys`: what keys there are, new ones for them, and their recovery (`charon.md` §2, §7). `ask` reads a passphrase unseen. */
export function addKeyVerbs(program: Program, ask?: AskPassphrase): void {
  const keys = program.root.command('keys').description('the keys of this home; none is ever printed');
  keys
    .command('ls')
    .description('where each key comes from, since when, and how many before it still verify')
    .action(() =>
      program.act(async ({ call, print }) => {
        const listed = await call('key.list', {});
        print(listed, keysText(listed.keys));
        return undefined;
      }),
    );
  keys
    .command('rotate')
    .description('replace a key from the next start on; says what that breaks, and does it only with --yes')
    .argument('<key>', keyNames.join(', '))
    .option('--drop-earlier', 'of the obol key: end every token that was minted before')
    .option('--yes', 'do it')
    .action((name: string, options: { dropEarlier?: boolean; yes?: boolean }) => {
      const key = parseName(name);
      const dropEarlier = options.dropEarlier === true;
      return program.act(async ({ call, print, warn }) => {
        warn(
          dropEarlier
            ? 'Every token and every key of the memory ledger ends: make new ones for your agents.'
            : effectOf(key),
        );
        if (options.yes !== true) {
          warn('Nothing was done. Add --yes to replace it.');
          return exitCodes.usage;
        }
        const facts = await call('key.rotate', { key, drop_earlier: dropEarlier });
        print(facts, keysText([facts]));
        warn(
          'The new key is in use from the next start of Memory Git on. Without its keys nothing of a home verifies: set a recovery passphrase (charon keys recovery set), or keep a copy of keys.json.',
        );
        return undefined;
      });
    });
  addKeyRecoveryVerbs(program, keys, ask);
}

function effectOf(key: KeyName): string {
  return key === 'obol' ? `${keyEffects.obol} Add --drop-earlier to end every one of them.` : keyEffects[key];
}

function parseName(text: string): KeyName {
  const name = keyNames.find((known) => known === text);
  if (name !== undefined) return name;
  throw usageFault('key', `one of ${keyNames.join(', ')}.`);
}

function keysText(keys: readonly KeyFacts[]): string {
  return table(
    ['KEY', 'ID', 'FROM', 'SINCE', 'EARLIER', 'FOR'],
    keys.map(({ name, id, source, since, earlier }) => [
      name,
      id ?? '-',
      source,
      since ?? '-',
      String(earlier),
      keyUses[name],
    ]),
  );
}
