import { type KeyFacts, type KeyName, keyNames } from '../../src-preload/contract/commands/operations.ts';
import { assertNever } from '../base/assert.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import type { Environment, HomePaths } from './home.ts';
import { type KeysFile, readKeysFile, writeKeysFile } from './keys-file.ts';
import { keyBytesMin } from './merge-keys.ts';

/** The keys of a home as they are stored. A key that is replaced is in use by this process until it ends. */
export interface KeyRing {
  /** In the order of `keyNames`. Throws KEYS_INVALID for a damaged file. */
  list(): readonly KeyFacts[];
  /**
   * Makes a new key for the next start, and keeps the one before where it must verify (`charon.md` §2, H30). `dropEarlier`,
   * of the obol key alone, keeps none. Throws INPUT_INVALID for a key that is not replaced here, KEYS_INVALID.
   */
  rotate(name: KeyName, dropEarlier: boolean): KeyFacts;
}

type Earlier = NonNullable<KeysFile['earlier']>[number];

/** Opens the keys of a home that this process holds. Nothing of it ever answers a key. */
export function openKeyRing(options: {
  readonly paths: HomePaths;
  readonly env: Environment;
  readonly ids: Ids;
  readonly clock: Clock;
}): KeyRing {
  const { paths, env, ids, clock } = options;
  const read = (): KeysFile => {
    const file = readKeysFile(paths);
    if (file !== undefined) return file;
    throw new Fault('KEYS_INVALID', 'keys.json is missing. Put the file of this home back from a backup.');
  };
  return {
    list: () => {
      const file = read();
      return keyNames.map((name) => factsOf(file, env, name));
    },
    rotate: (name, dropEarlier) => {
      if (dropEarlier && name !== 'obol')
        throw new Fault('INPUT_INVALID', 'drop_earlier: only tokens can be ended with their key. Leave it out.', {
          field: 'drop_earlier',
        });
      const file = read();
      const variable = variableOf(env, name);
      if (variable !== undefined)
        throw new Fault(
          'INPUT_INVALID',
          `key: this one comes from ${variable} and is replaced there, not in this home. Change the variable and start again.`,
          { field: 'key', variable },
        );
      const replaced = { name, replaced_at: toTimestamp(clock.nowMs()) };
      const next = replace(file, replaced, ids);
      const earlier = dropEarlier
        ? next.earlier?.map(({ secret, ...one }) => (one.name === name ? one : { ...one, secret }))
        : next.earlier;
      writeKeysFile(paths, { ...next, earlier });
      return factsOf({ ...next, earlier }, env, name);
    },
  };
}

/** The file with a new key, the one before it kept with its secret only where that goes on verifying. */
function replace(file: KeysFile, replaced: Pick<Earlier, 'name' | 'replaced_at'>, ids: Ids): KeysFile {
  const secret = ids.randomBytes(keyBytesMin).toString('base64url');
  const id = `${replaced.name}-${ids.randomBytes(4).toString('hex')}`;
  const keep = (before: Pick<Earlier, 'id' | 'secret'>): KeysFile['earlier'] => [
    ...(file.earlier ?? []),
    { ...replaced, ...before },
  ];
  switch (replaced.name) {
    case 'obol':
      return { ...file, obol: secret, earlier: keep({ id: null, secret: file.obol }) };
    case 'oauth':
      return { ...file, oauth: secret, earlier: keep({ id: null }) };
    case 'merge':
      return { ...file, merges: [{ id, secret }, ...file.merges], earlier: keep({ id: file.merges[0]?.id ?? null }) };
    case 'ledger':
      return { ...file, ledger: { id, secret }, earlier: keep(file.ledger) };
    case 'head':
      return { ...file, head: { id, seed: secret }, earlier: keep({ id: file.head.id }) };
    case 'lethe_api':
      return { ...file, lethe_api: secret, earlier: file.lethe_api === undefined ? file.earlier : keep({ id: null }) };
    default:
      return assertNever(replaced.name, 'a key has a way to be replaced');
  }
}

function factsOf(file: KeysFile, env: Environment, name: KeyName): KeyFacts {
  const isFromOutside = variableOf(env, name) !== undefined;
  const before = (file.earlier ?? []).filter((one) => one.name === name);
  return {
    name,
    id: isFromOutside ? null : idOf(file, name),
    source: isFromOutside ? 'environment' : name === 'lethe_api' && file.lethe_api === undefined ? 'none' : 'keys.json',
    since: isFromOutside ? null : (before.at(-1)?.replaced_at ?? null),
    earlier: name === 'merge' ? file.merges.length - 1 : before.filter(({ secret }) => secret !== undefined).length,
  };
}

function idOf(file: KeysFile, name: KeyName): string | null {
  if (name === 'merge') return file.merges[0]?.id ?? null;
  if (name === 'ledger') return file.ledger.id;
  return name === 'head' ? file.head.id : null;
}

/** The variable that a key comes from, by the rules of `charon.md` §2. */
const variables: Readonly<Record<KeyName, readonly string[]>> = {
  obol: ['CHARON_OBOL_HMAC_KEY'],
  oauth: ['CHARON_OAUTH_HMAC_KEY'],
  merge: ['CHARON_MERGE_HMAC_KEYS', 'CHARON_MERGE_HMAC_KEY', 'CHARON_HMAC_KEY'],
  ledger: [],
  head: [],
  lethe_api: ['LETHE_API_KEY'],
};

function variableOf(env: Environment, name: KeyName): string | undefined {
  return variables[name].find((variable) => (env[variable] ?? '').trim() !== '');
}
