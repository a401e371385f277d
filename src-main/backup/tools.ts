import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Environment, HomePaths } from '../home/home.ts';
import type { KeyRing } from '../home/key-ring.ts';
import type { HomeKeys } from '../home/keys.ts';

/** What everything about backups works with. */
export interface BackupTools {
  readonly paths: HomePaths;
  readonly env: Environment;
  /** The keys of this home: they sign a manifest, and verify what is in a backup. */
  readonly keys: HomeKeys;
  readonly keyRing: Pick<KeyRing, 'recoveryEnvelope' | 'rotate'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of the product, for manifests. */
  readonly version: string;
}
