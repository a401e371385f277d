import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import type { Ids } from '../base/ids.ts';
import { type HomePaths, homeExists, keptAsidePrefix } from './home.ts';
import { type Keychain, noKeychain } from './keychain.ts';
import {
  isSealedForm,
  type KeysFile,
  parseJson,
  parseKeysFile,
  readStoredKeys,
  type SealedKeys,
  writeKeysFile,
  writeSealedKeys,
} from './keys-file.ts';
import { keyBytesMin } from './merge-keys.ts';
import { readTextIfThere } from './private-file.ts';

/** keys.json of a home that this process holds, plain or sealed. One change of it after the other. */
export interface KeyVault {
  /** The keys as they are stored now. */
  read(): KeysFile;
  /** Stores what `change` makes of them, sealed if they are sealed. What it throws changes nothing. Rejects with KEYCHAIN_UNAVAILABLE. */
  update(change: (file: KeysFile) => KeysFile): Promise<KeysFile>;
  /** The home that sealed keys are of; undefined while they are plain. */
  sealedFor(): string | undefined;
  /** Why they can neither be sealed nor unsealed here; undefined when they can. */
  whyUnavailable(): Promise<string | undefined>;
  /** Seals them for a home, after a trial that they open again (H42). Rejects with KEYCHAIN_UNAVAILABLE, KEYS_INVALID. */
  seal(homeId: string): Promise<void>;
  /** Stores them plain again. */
  unseal(): Promise<void>;
}

/**
 * Opens the keys of a home, and makes them at its first start. Throws KEYS_INVALID for a damaged keys.json and for a missing
 * one in a home that holds data (H6); KEYS_SEALED where sealed ones cannot be opened: new ones are never made in their place (H43).
 */
export async function openKeyVault(options: {
  readonly paths: HomePaths;
  readonly ids: Ids;
  readonly keychain: Keychain | undefined;
}): Promise<KeyVault> {
  const { paths, keychain } = options;
  const stored = readStoredKeys(paths);
  let sealedFor = stored?.kind === 'sealed' ? stored.sealed.home_id : undefined;
  if (sealedFor !== undefined) removeHalfWritten(paths);
  let file =
    stored?.kind === 'sealed'
      ? await unsealed(keychain, stored.sealed)
      : (stored?.file ?? makeKeysFile(paths, options.ids));

  const store = async (next: KeysFile, homeId: string | undefined): Promise<void> => {
    if (homeId === undefined) writeKeysFile(paths, next);
    else writeSealedKeys(paths, await sealed(keychain, next, homeId));
    file = next;
    sealedFor = homeId;
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    read: () => file,
    update: (change) =>
      inTurn(async () => {
        const next = change(file);
        await store(next, sealedFor);
        return next;
      }),
    sealedFor: () => sealedFor,
    whyUnavailable: async () => (keychain === undefined ? noKeychain : keychain.whyUnavailable()),
    seal: (homeId) =>
      inTurn(async () => {
        requireNoCopies(paths);
        await store(file, homeId);
        removeHalfWritten(paths);
      }),
    unseal: () => inTurn(() => store(file, undefined)),
  };
}

const sealedTextSchema = z.strictObject({ home_id: z.uuidv4(), keys: z.unknown() });

async function unsealed(keychain: Keychain | undefined, { home_id: homeId, blob }: SealedKeys): Promise<KeysFile> {
  // The sentence of the protocol (`charon.md` §2).
  if (keychain === undefined)
    throw new Fault('KEYS_SEALED', 'sealed: open the desk, or export with a recovery passphrase.');
  const parsed = sealedTextSchema.safeParse(parseJson(await opened(keychain, blob)));
  if (parsed.success && parsed.data.home_id === homeId)
    return parseKeysFile(JSON.stringify(parsed.data.keys), 'keys.json');
  throw new Fault('KEYS_INVALID', `keys.json is damaged (sealed.home_id). ${remedy}`, { field: 'sealed.home_id' });
}

const remedy = 'Put the keys back from a recovery export: charon keys restore FILE --replace. New ones are never made.';

async function opened(keychain: Keychain, blob: string): Promise<string> {
  const reason = await keychain.whyUnavailable();
  if (reason !== undefined)
    throw new Fault(
      'KEYS_SEALED',
      `The keys of this home are sealed, and the keychain is not there: ${reason} ${remedy}`,
    );
  try {
    return await keychain.unseal(blob);
  } catch (thrown) {
    throw new Fault(
      'KEYS_SEALED',
      `The keychain of this system does not open the keys of this home: they were sealed by another user, on another system, or before the keychain was reset. ${remedy}`,
      {},
      { cause: thrown },
    );
  }
}

/** Sealed keys that were opened again for trial, and that do not hold a key in plain (H42). */
async function sealed(keychain: Keychain | undefined, file: KeysFile, homeId: string): Promise<SealedKeys> {
  const reason = keychain === undefined ? noKeychain : await keychain.whyUnavailable();
  if (keychain === undefined || reason !== undefined)
    throw new Fault('KEYCHAIN_UNAVAILABLE', `${reason ?? noKeychain} Nothing was changed.`);
  const text = JSON.stringify({ home_id: homeId, keys: file });
  const blob = await keychain.seal(text);
  const isHidden = !Buffer.from(blob, 'base64').includes(file.ledger.secret);
  if (isHidden && (await keychain.unseal(blob)) === text) return { by: 'keychain', home_id: homeId, blob };
  throw new Fault(
    'KEYCHAIN_UNAVAILABLE',
    'The keychain of this system did not give back what it was given, or did not hide it. Nothing was changed.',
  );
}

/** Keys that were put aside would stay plain beside sealed ones; those that were sealed then are none. */
function requireNoCopies(paths: HomePaths): void {
  const copies = readdirSync(paths.root).filter((entry) => entry.startsWith(keptAsidePrefix));
  const copy = copies.find((entry) => !isSealedForm(parseJson(readTextIfThere(join(paths.root, entry)) ?? '')));
  if (copy === undefined) return;
  throw new Fault(
    'KEYS_INVALID',
    `${copy} in the folder of this home holds earlier keys in plain. Move it to a safe place or delete it, then seal.`,
    { file: copy },
  );
}

/** What a write of plain keys left behind when its process died inside it. */
function removeHalfWritten(paths: HomePaths): void {
  for (const entry of readdirSync(paths.root))
    if (/^keys\.json\.\d+$/.test(entry)) rmSync(join(paths.root, entry), { force: true });
}

function makeKeysFile(paths: HomePaths, ids: Ids): KeysFile {
  if (homeExists(paths)) {
    throw new Fault(
      'KEYS_INVALID',
      'keys.json is missing, and this home holds data that was signed with its keys. Put the file back from a backup or a recovery export; new keys are never made in its place.',
    );
  }
  const secret = (): string => ids.randomBytes(keyBytesMin).toString('base64url');
  const name = (purpose: string): string => `${purpose}-${ids.randomBytes(4).toString('hex')}`;
  const file: KeysFile = {
    version: 1,
    obol: secret(),
    oauth: secret(),
    merges: [{ id: name('merge'), secret: secret() }],
    ledger: { id: name('ledger'), secret: secret() },
    head: { id: name('head'), seed: secret() },
  };
  writeKeysFile(paths, file);
  return file;
}
