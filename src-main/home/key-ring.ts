import {
  type KeyFacts,
  type KeyName,
  type KeyRecovery,
  keyNames,
} from '../../src-preload/contract/commands/operations.ts';
import type { RecoveryEnvelope } from '../../src-preload/contract/recovery.ts';
import { assertNever } from '../base/assert.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import { isPassphraseLongEnough, passphraseCharactersMax, passphraseCharactersMin } from '../canonical/passphrase.ts';
import type { Environment } from './home.ts';
import type { KeyVault } from './key-vault.ts';
import type { KeysFile } from './keys-file.ts';
import { keyBytesMin } from './merge-keys.ts';
import { makeRecoveryLock, sealKeysForRecovery } from './recovery.ts';

/** The keys of a home as they are stored. A key that is replaced is in use by this process until it ends. */
export interface KeyRing {
  /** In the order of `keyNames`. */
  list(): readonly KeyFacts[];
  /**
   * Makes a new key for the next start, and keeps the one before where it must verify (`charon.md` §2, H30). `dropEarlier`,
   * of the obol key alone, keeps none. Rejects with INPUT_INVALID for a key that is not replaced here, KEYCHAIN_UNAVAILABLE.
   */
  rotate(name: KeyName, dropEarlier: boolean): Promise<KeyFacts>;
  /** Whether they are sealed with the keychain of this system, and why they can neither be sealed nor unsealed here. */
  sealing(): Promise<{ readonly sealed: boolean; readonly reason: string | undefined }>;
  /** Seals them for the home of that id (H42). Rejects with KEYCHAIN_UNAVAILABLE, KEYS_INVALID. */
  seal(homeId: string): Promise<void>;
  /** Stores them as a plain file again. */
  unseal(): Promise<void>;
  recovery(): KeyRecovery;
  /** Sets the passphrase under which they are sealed for recovery from now on (H40). Rejects with INPUT_INVALID. */
  setRecovery(passphrase: string): Promise<KeyRecovery>;
  /** The keys sealed for recovery; undefined when no passphrase was set. */
  recoveryEnvelope(homeId: string): RecoveryEnvelope | undefined;
}

type Earlier = NonNullable<KeysFile['earlier']>[number];

/** Opens the keys of a home that this process holds. Nothing of it ever answers a key. */
export function openKeyRing(options: {
  readonly vault: KeyVault;
  readonly env: Environment;
  readonly ids: Ids;
  readonly clock: Clock;
}): KeyRing {
  const { vault, env, ids, clock } = options;
  return {
    list: () => keyNames.map((name) => factsOf(vault.read(), env, name)),
    rotate: async (name, dropEarlier) => {
      requireReplaceable(env, name, dropEarlier);
      const replaced = { name, replaced_at: toTimestamp(clock.nowMs()) };
      const stored = await vault.update((file) => {
        const next = replace(file, replaced, ids);
        return dropEarlier ? { ...next, earlier: withoutSecrets(next.earlier, name) } : next;
      });
      return factsOf(stored, env, name);
    },
    sealing: async () => ({ sealed: vault.sealedFor() !== undefined, reason: await vault.whyUnavailable() }),
    seal: (homeId) => vault.seal(homeId),
    unseal: () => vault.unseal(),
    recovery: () => recoveryOf(vault.read()),
    setRecovery: async (passphrase) => {
      requireLongEnough(passphrase);
      const recovery = await makeRecoveryLock(passphrase, ids, toTimestamp(clock.nowMs()));
      return recoveryOf(await vault.update((file) => ({ ...file, recovery })));
    },
    recoveryEnvelope: (homeId) => sealKeysForRecovery(vault.read(), homeId, ids),
  };
}

function requireReplaceable(env: Environment, name: KeyName, dropEarlier: boolean): void {
  if (dropEarlier && name !== 'obol')
    throw new Fault('INPUT_INVALID', 'drop_earlier: only tokens can be ended with their key. Leave it out.', {
      field: 'drop_earlier',
    });
  const variable = variableOf(env, name);
  if (variable === undefined) return;
  throw new Fault(
    'INPUT_INVALID',
    `key: this one comes from ${variable} and is replaced there, not in this home. Change the variable and start again.`,
    { field: 'key', variable },
  );
}

function withoutSecrets(earlier: KeysFile['earlier'], name: KeyName): KeysFile['earlier'] {
  return earlier?.map(({ secret, ...one }) => (one.name === name ? one : { ...one, secret }));
}

function requireLongEnough(passphrase: string): void {
  if (isPassphraseLongEnough(passphrase)) return;
  throw new Fault(
    'INPUT_INVALID',
    `passphrase: it has ${passphraseCharactersMin} to ${passphraseCharactersMax} characters. Several words make a good one.`,
    { field: 'passphrase' },
  );
}

function recoveryOf({ recovery }: KeysFile): KeyRecovery {
  return { set: recovery !== undefined, set_at: recovery?.set_at ?? null };
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
