import type { KeyName } from './commands/operations.ts';

/** What each key of a home is for: the same words at the desk and on the command line. */
export const keyUses: Readonly<Record<KeyName, string>> = {
  obol: 'tokens of agents, keys of the memory ledger',
  oauth: 'sign-ins in a browser',
  merge: 'authorizations of merges',
  ledger: 'entries of the audit ledger, security settings',
  head: 'moves of branches',
  lethe_api: "the store's own HTTP protocol",
};

/** What replacing a key breaks, said before it is done. */
export const keyEffects: Readonly<Record<KeyName, string>> = {
  obol: 'Tokens that were minted before stay good.',
  oauth: 'Programs that signed in with a browser must sign in again.',
  merge:
    'Nothing breaks: new merges are signed with the new key, and the one before only verifies the merges that it signed.',
  ledger:
    'Nothing breaks: the ledger says where the new key begins, and the one before verifies the entries that it signed.',
  head: 'Nothing breaks: the store keeps the public half of every key that signed a move.',
  lethe_api: "Every program that uses the store's own HTTP protocol must be given the new key from keys.json.",
};

/** What works no more while the keys are sealed with the keychain of this system. */
export const sealingStops: readonly string[] = [
  'charon serve and lethe serve: keys are unsealed by the desk alone, so without its window nothing starts.',
  'charon and lethe on a closed desk: while the desk runs they work through it; without it they end with exit code 3.',
  'This home under another user or on another computer, and from a copy of the folder: the keychain stays behind. Take a recovery export along.',
  'Backups hold the keys only when a recovery passphrase was set. Without one, what the keychain loses is lost for good.',
];
