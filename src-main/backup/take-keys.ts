import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../base/fault.ts';
import type { OpenHome } from '../home/open.ts';
import { openRecoveryEnvelope, parseRecoveryEnvelope } from '../home/recovery.ts';
import { readSmall, refused } from './folder.ts';

const envelopeBytesMax = 1_048_576;

/**
 * Takes the keys that a backup holds, sealed under the recovery passphrase, into a home that holds nothing yet (R38). They are in
 * use once the home is opened anew. Throws KEYS_INVALID for a wrong passphrase and for a home that holds data, BACKUP_REFUSED for a
 * backup without keys.
 */
export async function takeKeys(
  { paths, keyVault }: Pick<OpenHome, 'paths' | 'keyVault'>,
  directory: string,
  ask: () => Promise<string>,
): Promise<void> {
  if (existsSync(paths.letheDb) || existsSync(paths.charonDb))
    throw new Fault(
      'KEYS_INVALID',
      'This home holds data under keys of its own. Put the keys of the backup in their place first: charon keys restore FILE --replace, with keys.recovery.json of the backup.',
    );
  const place = join(directory, 'keys.recovery.json');
  if (!existsSync(place)) throw refused('it holds no keys: no recovery passphrase was set when it was made');
  const envelope = parseRecoveryEnvelope(readSmall(place, envelopeBytesMax));
  // The key of the store's own protocol may have been replaced since: it is made anew at the next need.
  const { lethe_api: _old, ...file } = await openRecoveryEnvelope(envelope, await ask());
  await keyVault.update(() => file);
}
