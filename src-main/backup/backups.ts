import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type {
  BackupInspection,
  BackupJob,
  ListedBackup,
  Rehearsal,
  RestoreStatus,
} from '../../src-preload/contract/commands/backup.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Stillness } from '../base/stillness.ts';
import type { HomePaths } from '../home/home.ts';
import { type RestoredMark, readRestoredMark, removeRestoredMark } from '../home/restored-mark.ts';
import { removeUnfinished } from '../home/swap.ts';
import { findHeadKeys } from './compare.ts';
import { createBackup, type MadeBackup, partialSuffix } from './create.ts';
import { refused } from './folder.ts';
import { inspectBackup } from './inspect.ts';
import { openJobs } from './jobs.ts';
import { listBackups, pruneBackups, removePartial } from './list.ts';
import { restoreStatus, setNext, withdrawNext } from './next.ts';
import { findDirectory, newBackupName, newScratch } from './places.ts';
import { rehearse } from './rehearse.ts';
import { tick } from './ticks.ts';
import type { BackupTools } from './tools.ts';

/** The backups of a home whose engine runs (`charon.md` §7). */
export interface Backups {
  /** What changes anything says here that it is under way, so that a backup finds a moment without any. */
  readonly stillness: Stillness;
  /** Begins a backup; answers at once. Throws BACKUP_REFUSED while one is being made, INPUT_INVALID for a path that is not absolute. */
  create(out: string | undefined): BackupJob;
  last(): BackupJob | null;
  /** Throws STATE_NOT_FOUND. */
  cancel(jobId: string): Promise<BackupJob>;
  list(): readonly ListedBackup[];
  /** How many are kept when nobody says otherwise. */
  readonly keep: number;
  /** Throws BACKUP_REFUSED, INPUT_INVALID. */
  inspect(directory: string): Promise<BackupInspection>;
  /** Throws BACKUP_REFUSED, INPUT_INVALID. */
  rehearse(directory: string): Promise<Rehearsal>;
  prune(keep: number | undefined): Promise<{ readonly removed: string[]; readonly kept: string[] }>;
  /** What waits for the next start, and whether this home was restored. */
  restoreStatus(): RestoreStatus;
  /** Verifies a backup and, when it is clean, has the next start restore it. Throws BACKUP_REFUSED, INPUT_INVALID for a wrong confirmation. */
  stage(directory: string, confirm: string): Promise<BackupInspection>;
  /** Has the next start put back what a restore replaced. Throws STATE_NOT_FOUND, INPUT_INVALID for a wrong confirmation. */
  stagePutBack(confirm: string): void;
  withdraw(): boolean;
  /** Takes away the mark of a restore: the next start is a normal one. Throws STATE_NOT_FOUND where there is none. */
  lift(): void;
  /** Resolves when no backup is being made. */
  idle(): Promise<void>;
  /** Stops what is being made. */
  close(): Promise<void>;
}

/** What a running engine gives its backups. */
export interface EngineUnderBackup {
  readonly homeId: string;
  readonly stillness: Stillness;
  /** Makes every outcome durable that waits. */
  flush(): Promise<void>;
  /** Intents without an outcome, but for those that are listed as ambiguous. */
  countOpenIntents(): number;
  /** Records what was made, in the audit ledger. */
  record(command: string, outcome: string, objectIds: readonly string[]): void;
  /** Whether the memory is in another process, so that a backup of this home would hold none of it. */
  readonly isElsewhere: boolean;
  readonly keep: number;
  tell(job: BackupJob): void;
  readonly monotonicMs: () => number;
}

/** How long writes wait at most for the instant of a backup, how often that is tried, and how long after the last try. */
const pauseMs = 50;
const triesMax = 600;
const betweenTriesMs = 100;
/** How much of the id of a home is typed to confirm that it is to be replaced. */
const confirmationCharacters = 8;

/** Opens them. */
export function openBackups(tools: BackupTools, engine: EngineUnderBackup): Backups {
  const { paths, ids, clock } = tools;
  const { homeId } = engine;
  removePartial(paths);
  removeUnfinished(paths);
  const headKeys = (): ReadonlySet<string> => findHeadKeys(tools) ?? new Set([tools.keys.head.publicKey]);
  const onMade = async (made: MadeBackup): Promise<readonly string[]> => {
    engine.record('backup.made', 'done', [made.digest]);
    tick(paths, made.digest, made.manifest.created_at, 'verified');
    if (dirname(made.directory) !== paths.backups) return [];
    try {
      return (await pruneBackups(paths, homeId, headKeys(), engine.keep)).removed;
    } catch (thrown) {
      tools.log.error({ err: thrown }, 'a backup was made, and older ones could not be rotated out');
      return [];
    }
  };
  const jobs = openJobs(tools, {
    make: (wanted) =>
      createBackup(tools, { ...wanted, kind: 'backup', still: (moment) => holdStill(engine, moment, wanted.signal) }),
    onMade,
    tell: engine.tell,
    monotonicMs: engine.monotonicMs,
  });
  const inspect = async (directory: string): Promise<BackupInspection> => {
    const inspected = await inspectBackup(directory, newScratch(paths, ids, 'inspect'), tools);
    if (inspected.ok && inspected.manifest_digest !== null)
      tick(paths, inspected.manifest_digest, toTimestamp(clock.nowMs()), 'verified');
    return inspected;
  };
  return {
    stillness: engine.stillness,
    create: (out) => {
      if (engine.isElsewhere)
        throw new Fault(
          'BACKUP_REFUSED',
          'The memory is in another process (CHARON_UPSTREAM), so a backup of this home would hold none of it. Back up the home of that store.',
          { variable: 'CHARON_UPSTREAM' },
        );
      const place = out === undefined ? undefined : usablePlace(paths, out);
      return jobs.start(place ?? join(paths.backups, newBackupName(clock.nowMs(), ids)));
    },
    last: jobs.last,
    cancel: jobs.cancel,
    list: () => listBackups(paths, homeId, headKeys()),
    keep: engine.keep,
    inspect: async (named) => inspect(findDirectory(paths, named)),
    rehearse: async (named) => {
      const directory = findDirectory(paths, named);
      return rehearse(directory, newScratch(paths, ids, 'rehearse'), tools, headKeys());
    },
    restoreStatus: () => restoreStatus(paths, readRestoredMark(paths)),
    stage: async (named, confirm) => {
      const directory = findDirectory(paths, named);
      requireConfirmed(homeId, confirm);
      const inspected = await inspect(directory);
      const { home_id: backedUp, manifest_digest: digest, ok } = inspected;
      if (ok && backedUp !== homeId)
        throw refused('it is of another home. Restore it into an empty folder: charon restore with another --home');
      if (ok && digest !== null)
        setNext(paths, { act: 'restore', directory, manifest_digest: digest, asked_at: toTimestamp(clock.nowMs()) });
      return inspected;
    },
    stagePutBack: (confirm) => {
      requireRestored(readRestoredMark(paths));
      requireConfirmed(homeId, confirm);
      setNext(paths, { act: 'put_back', directory: null, manifest_digest: null, asked_at: toTimestamp(clock.nowMs()) });
    },
    withdraw: () => withdrawNext(paths),
    lift: () => {
      requireRestored(readRestoredMark(paths));
      removeRestoredMark(paths);
      engine.record('restore.lifted', 'done', []);
    },
    prune: (keep) => pruneBackups(paths, homeId, headKeys(), keep ?? engine.keep),
    idle: jobs.idle,
    close: jobs.close,
  };
}

/** A place for a backup: absolute, and in the home only among its backups. Throws INPUT_INVALID. */
function usablePlace(paths: HomePaths, out: string): string {
  if (!isAbsolute(out)) throw new Fault('INPUT_INVALID', 'out must be an absolute path.', { field: 'out' });
  const place = resolve(out);
  const isInHome = place === paths.root || place.startsWith(paths.root + sep);
  if (!place.endsWith(partialSuffix) && (!isInHome || dirname(place) === paths.backups)) return place;
  throw new Fault(
    'INPUT_INVALID',
    'out: this name or this place is kept for something else. Choose a folder outside the home, or leave it out.',
    { field: 'out' },
  );
}

/** The first characters of the home's id, which the owner typed. Throws INPUT_INVALID. */
function requireConfirmed(homeId: string, confirm: string): void {
  if (homeId.startsWith(confirm) && confirm.length === confirmationCharacters) return;
  throw new Fault(
    'INPUT_INVALID',
    `confirm: type the first ${confirmationCharacters} characters of the id of this home. Nothing was changed.`,
    { field: 'confirm' },
  );
}

function requireRestored(mark: RestoredMark | undefined): void {
  if (mark !== undefined) return;
  throw new Fault('STATE_NOT_FOUND', 'This home was not restored, or its recovery was lifted already.');
}

/** One instant of both databases: between two writes of either, with no intent that lacks its outcome. Throws STORE_BUSY. */
async function holdStill(
  engine: EngineUnderBackup,
  moment: () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    signal?.throwIfAborted();
    const held = await engine.stillness.hold(pauseMs, engine.flush, () => {
      if (engine.countOpenIntents() > 0) return false;
      moment();
      return true;
    });
    if (held?.value === true) return;
    await new Promise((resolve) => setTimeout(resolve, betweenTriesMs));
  }
  throw new Fault(
    'STORE_BUSY',
    'No moment came in which nothing was under way, so no backup was made. Try again when agents are quieter.',
  );
}
