import { type KeyFacts, type KeyName, keyNames } from '../../src-preload/contract/commands/operations.ts';
import { exitCodes } from './cli-exit.ts';
import { type Program, usageFault } from './cli-program.ts';
import { table } from './cli-text.ts';

/** What each key is for. */
const uses: Readonly<Record<KeyName, string>> = {
  obol: 'tokens of agents, keys of the memory ledger',
  oauth: 'sign-ins in a browser',
  merge: 'authorizations of merges',
  ledger: 'entries of the audit ledger, security settings',
  head: 'moves of branches',
  lethe_api: "the store's own HTTP protocol",
};

/** What replacing a key does, said before it is done. */
const effects: Readonly<Record<KeyName, string>> = {
  obol: 'Tokens that were minted before stay good. Add --drop-earlier to end every one of them.',
  oauth: 'Programs that signed in with a browser must sign in again.',
  merge:
    'Nothing breaks: new merges are signed with the new key, and the one before only verifies the merges that it signed.',
  ledger:
    'Nothing breaks: the ledger says where the new key begins, and the one before verifies the entries that it signed.',
  head: 'Nothing breaks: the store keeps the public half of every key that signed a move.',
  lethe_api: "Every program that uses the store's own HTTP protocol must be given the new key from keys.json.",
};

/** `charon keys`: what keys there are, and new ones for them (`charon.md` §2). */
export function addKeyVerbs(program: Program): void {
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
            : effects[key],
        );
        if (options.yes !== true) {
          warn('Nothing was done. Add --yes to replace it.');
          return exitCodes.usage;
        }
        const facts = await call('key.rotate', { key, drop_earlier: dropEarlier });
        print(facts, keysText([facts]));
        warn(
          'The new key is in use from the next start of Memory Git on. Back up keys.json: without it nothing verifies.',
        );
        return undefined;
      });
    });
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
      uses[name],
    ]),
  );
}
