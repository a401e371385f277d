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
