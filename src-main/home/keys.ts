import { chmodSync, existsSync, statSync } from 'node:fs';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import { createSigner, type Signer } from '../canonical/signature.ts';
import type { Environment, HomePaths } from './home.ts';
import { type KeyVault, openKeyVault } from './key-vault.ts';
import type { Keychain } from './keychain.ts';
import { type KeysFile, secretText } from './keys-file.ts';
import {
  type ExplicitKey,
  keyBytesMin,
  type MergeKeys,
  type NamedKey,
  readExplicitKey,
  readMergeKeys,
  requireDistinct,
} from './merge-keys.ts';
import { readTextIfThere, writePrivateFile } from './private-file.ts';

/** Every key of a home, in memory only. Nothing of it is ever printed or logged. */
export interface HomeKeys {
  readonly obol: Buffer;
  /** Obol keys before it: tokens that were minted under them stay good. */
  readonly earlierObols: readonly Buffer[];
  readonly oauth: Buffer;
  readonly ledger: NamedKey;
  /** Ledger keys before it: they verify the entries that name them. */
  readonly earlierLedgers: ReadonlyMap<string, Buffer>;
  readonly merges: MergeKeys;
  /** Signs the moves of refs (`lethe.md` §0.2). */
  readonly head: Signer & { readonly keyId: string };
  /** Proves the owner at the owner socket. */
  readonly owner: Buffer;
  /** For the start-up log: deprecated variables, permissions that were too wide. */
  readonly warnings: readonly string[];
}

/** The keys of a home as this process uses them, and as they are stored. */
export interface OpenedKeys {
  readonly keys: HomeKeys;
  readonly vault: KeyVault;
}

/**
 * The keys of a home: made at its first start, read at every later one, overridden by the environment (`charon.md` §2).
 * Throws KEYS_INVALID when keys.json is damaged, or is missing from a home that holds data (H6): new keys are never made
 * in its place, since nothing signed before would verify; KEYS_SEALED when they are sealed and `keychain`, the one of this system
 * where there is a window, does not open them (H43); KEYS_INVALID for what the environment says wrong (H7, H8, H9).
 */
export async function openKeys(
  paths: HomePaths,
  env: Environment,
  ids: Ids,
  keychain?: Keychain | undefined,
): Promise<OpenedKeys> {
  const explicit = readExplicitKeys(env);
  const warnings = [...explicit.merges.warnings, ...narrow(paths.keys, 'keys.json')];
  const vault = await openKeyVault({ paths, ids, keychain });
  const owner = openOwnerKey(paths, ids);
  warnings.push(...narrow(paths.ownerKey, 'owner.key'));
  return { keys: { ...keysOf(vault.read(), explicit), owner, warnings }, vault };
}

interface ExplicitKeys {
  readonly obol: ExplicitKey | undefined;
  readonly oauth: ExplicitKey | undefined;
  readonly merges: ReturnType<typeof readMergeKeys>;
}

function readExplicitKeys(env: Environment): ExplicitKeys {
  const obol = readExplicitKey(env, 'CHARON_OBOL_HMAC_KEY');
  const oauth = readExplicitKey(env, 'CHARON_OAUTH_HMAC_KEY');
  const merges = readMergeKeys(env);
  requireDistinct(explicitKeys(obol, oauth, merges.keys));
  return { obol, oauth, merges };
}

function keysOf(file: KeysFile, { obol, oauth, merges }: ExplicitKeys): Omit<HomeKeys, 'owner' | 'warnings'> {
  const earlier = (file.earlier ?? []).flatMap(({ name, id, secret }) =>
    secret === undefined ? [] : [{ name, id: id ?? '', key: fromText(secret) }],
  );
  return {
    obol: obol?.key ?? fromText(file.obol),
    earlierObols: earlier.filter(({ name }) => name === 'obol').map(({ key }) => key),
    oauth: oauth?.key ?? fromText(file.oauth),
    ledger: { id: file.ledger.id, key: fromText(file.ledger.secret) },
    earlierLedgers: new Map(earlier.filter(({ name }) => name === 'ledger').map(({ id, key }) => [id, key])),
    merges: mergeKeysOf(merges.keys, file),
    head: { keyId: file.head.id, ...createSigner(fromText(file.head.seed)) },
  };
}

/**
 * The shared key of the store's own HTTP protocol (`lethe.md` §1.5, D23): `LETHE_API_KEY`, else that of keys.json in a home
 * that holds charon.db, made there at the first need unless nothing may be written. Undefined: a home of the store alone,
 * which may be served without. Throws KEYS_INVALID, unprinted (H13).
 */
export async function openLetheApiKey(
  { paths, keyVault, recovery }: { readonly paths: HomePaths; readonly keyVault: KeyVault; readonly recovery: boolean },
  env: Environment,
  ids: Ids,
): Promise<{ readonly key: string; readonly source: 'environment' | 'keys.json' } | undefined> {
  const given = (env.LETHE_API_KEY ?? '').trim();
  if (given !== '') {
    if (!/^[\x21-\x7e]+$/.test(given))
      throw new Fault(
        'KEYS_INVALID',
        'LETHE_API_KEY cannot be sent in a header. Use printable characters without spaces.',
        {
          variable: 'LETHE_API_KEY',
        },
      );
    const { obol, oauth, merges } = readExplicitKeys(env);
    requireDistinct([
      { variable: 'LETHE_API_KEY', key: Buffer.from(given, 'utf8') },
      ...explicitKeys(obol, oauth, merges.keys),
    ]);
    return { key: given, source: 'environment' };
  }
  if (!existsSync(paths.charonDb)) return undefined;
  const known = keyVault.read().lethe_api;
  if (known !== undefined) return { key: known, source: 'keys.json' };
  if (recovery)
    throw new Fault('KEYS_INVALID', 'keys.json holds no key for this door and is not written now. Set LETHE_API_KEY.', {
      variable: 'LETHE_API_KEY',
    });
  const key = ids.randomBytes(keyBytesMin).toString('base64url');
  await keyVault.update((file) => ({ ...file, lethe_api: key }));
  return { key, source: 'keys.json' };
}

/** The owner's key of a home that was started before, for a command line; undefined when there is none. */
export function findOwnerKey(paths: HomePaths): Buffer | undefined {
  const text = readTextIfThere(paths.ownerKey)?.trim();
  return text !== undefined && secretText.safeParse(text).success ? fromText(text) : undefined;
}

function explicitKeys(
  obol: ExplicitKey | undefined,
  oauth: ExplicitKey | undefined,
  merges: readonly NamedKey[],
): readonly ExplicitKey[] {
  const single = [obol, oauth].filter((key) => key !== undefined);
  return [
    ...single,
    ...merges.map(({ id, key }) => ({ variable: id === '' ? 'the merge key' : `the merge key ${id}`, key })),
  ];
}

/** The keys of the environment authorize, else the first of our own; every other one of our own verifies what is history. */
function mergeKeysOf(fromOutside: readonly NamedKey[], file: KeysFile): MergeKeys {
  const own = file.merges.map(({ id, secret }) => ({ id, key: fromText(secret) }));
  return fromOutside.length > 0 ? toMergeKeys(fromOutside, own) : toMergeKeys(own.slice(0, 1), own.slice(1));
}

function toMergeKeys(keys: readonly NamedKey[], earlier: readonly NamedKey[]): MergeKeys {
  const [signing] = keys;
  if (signing === undefined)
    throw new Fault('KEYS_INVALID', 'keys.json holds no merge key. Put back the file of this home from a backup.');
  const byId = (named: readonly NamedKey[]) => new Map(named.map(({ id, key }) => [id, key]));
  return { signing, verifying: byId(keys), earlier: byId(earlier) };
}

/** The owner's key protects a socket, not data: a lost one is simply made again. */
function openOwnerKey(paths: HomePaths, ids: Ids): Buffer {
  const known = findOwnerKey(paths);
  if (known !== undefined) return known;
  const key = ids.randomBytes(keyBytesMin);
  writePrivateFile(paths.ownerKey, `${key.toString('base64url')}\n`);
  return key;
}

/** Makes a key file 0600 again and says so when others could read it. */
function narrow(path: string, name: string): readonly string[] {
  if (process.platform === 'win32') return [];
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o077) === 0) return [];
  chmodSync(path, 0o600);
  return [
    `${name} could be read by other users of this machine. It is 0600 now; if anyone else was here, make new keys.`,
  ];
}

function fromText(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
