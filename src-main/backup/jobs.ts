import { basename } from 'node:path';
import type { BackupJob } from '../../src-preload/contract/commands/backup.ts';
import { digestSchema } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { Fault, toFault } from '../base/fault.ts';
import type { CreateOptions, MadeBackup } from './create.ts';
import { refused } from './folder.ts';
import type { BackupTools } from './tools.ts';

/** The one backup that is made at a time, and what became of the last one. */
export interface BackupJobs {
  /** Begins; answers at once. Throws BACKUP_REFUSED while another one is being made. */
  start(directory: string): BackupJob;
  last(): BackupJob | null;
  /** Stops it and waits until nothing of it is left. Throws STATE_NOT_FOUND when that one is not being made. */
  cancel(jobId: string): Promise<BackupJob>;
  /** Resolves when nothing is being made. */
  idle(): Promise<void>;
  /** Stops what is being made, and waits. */
  close(): Promise<void>;
}

/** The reason of a signal that was aborted by the owner: no fault, and nothing that a door is told. */
class Canceled extends Error {
  override readonly name = 'Canceled';
}

/** Progress is told at most so often, but for a new phase. */
const tellEveryMs = 200;

/** Opens it. `make` makes a backup; what it made, `onMade` may do something with before the job is done; `tell` hears of every step. */
export function openJobs(
  tools: BackupTools,
  options: {
    readonly make: (wanted: Pick<CreateOptions, 'directory' | 'signal' | 'onProgress'>) => Promise<MadeBackup>;
    readonly onMade: (made: MadeBackup) => Promise<readonly string[]>;
    readonly tell: (job: BackupJob) => void;
    readonly monotonicMs: () => number;
  },
): BackupJobs {
  let job: BackupJob | null = null;
  let running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  let toldMs = Number.NEGATIVE_INFINITY;

  const enter = (next: BackupJob): void => {
    const isNewPhase = job?.phase !== next.phase || job.job_id !== next.job_id;
    job = next;
    const nowMs = options.monotonicMs();
    if (!isNewPhase && nowMs - toldMs < tellEveryMs) return;
    toldMs = nowMs;
    options.tell(next);
  };
  const run = async (started: BackupJob, signal: AbortSignal): Promise<void> => {
    const now = (): BackupJob => job ?? started;
    const ended = (end: Partial<BackupJob> & Pick<BackupJob, 'phase'>): void =>
      enter({ ...now(), ended_at: toTimestamp(tools.clock.nowMs()), ...end });
    try {
      const made = await options.make({
        directory: started.directory,
        signal,
        onProgress: (phase, done, total) => enter({ ...now(), phase, done, total }),
      });
      const removed = [...(await options.onMade(made))];
      ended({ phase: 'done', manifest_digest: digestSchema.parse(made.digest), bytes: made.bytes, removed });
    } catch (thrown) {
      if (thrown instanceof Canceled) return ended({ phase: 'canceled' });
      const fault = toFault(thrown);
      if (fault.code === 'INTERNAL') tools.log.error({ err: thrown }, 'a backup failed by our own fault');
      ended({ phase: 'failed', problem: fault.message, code: fault.code });
    }
  };
  const stop = async (): Promise<void> => {
    running?.stop.abort(new Canceled());
    await running?.ended;
  };

  return {
    start: (directory) => {
      if (running !== undefined) throw refused('another one is being made. Wait for it, or cancel it');
      const started: BackupJob = {
        job_id: tools.ids.uuidv7(),
        directory,
        name: basename(directory),
        phase: 'waiting',
        ...{ done: 0, total: 0, started_at: toTimestamp(tools.clock.nowMs()), ended_at: null },
        ...{ manifest_digest: null, bytes: null, problem: null, code: null, removed: [] },
      };
      enter(started);
      const controller = new AbortController();
      const ended = run(started, controller.signal).finally(() => {
        running = undefined;
      });
      running = { stop: controller, ended };
      return started;
    },
    last: () => job,
    cancel: async (jobId) => {
      if (running === undefined || job?.job_id !== jobId)
        throw new Fault('STATE_NOT_FOUND', 'job_id names no backup that is being made.', { field: 'job_id' });
      await stop();
      return job;
    },
    idle: async () => running?.ended,
    close: stop,
  };
}
