import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Signer } from '../canonical/signature.ts';
import type { Detector } from './detection-memo.ts';

/** What verbs are given from outside: time, identities, keys and who owns the home. */
export interface VerbContext {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Signs the moves of refs (`lethe.md` §0.2). */
  readonly headSigner: Signer;
  /** Merge keys by key id; each has at least 32 bytes. */
  readonly mergeKeys: ReadonlyMap<string, Uint8Array>;
  /** Those of before, which only verify. */
  readonly earlierMergeKeys: ReadonlyMap<string, Uint8Array>;
  /** The principal who may review and merge what is their own (`lethe.md` §0.1); undefined: nobody. */
  readonly ownerPrincipal: string | undefined;
  /** Finds conflicts, and remembers what it found last. */
  readonly detector: Detector;
  /** Takes ids and codes, never content. */
  readonly log: Log;
}

/** Tells what became durable. Called within the verb; heard after the transaction. */
export type Emit = (event: EngineEvent) => void;
