import { performance } from 'node:perf_hooks';

/** Something whose speed is measured beside that of others. */
export interface Contestant {
  readonly name: string;
  /** How many do its work at the same time. */
  readonly workers: number;
  /** Done before each unit of work and not timed. */
  readonly prepare?: (worker: number) => Promise<void> | void;
  /** Units at the start of each turn that are done and not timed: what others did in between has emptied every cache. */
  readonly lead?: number;
  /** One unit of work. */
  readonly once: (worker: number) => Promise<void> | void;
}

/** How long a race lasts: each of its rounds gives every contestant one turn. */
export interface RaceLength {
  readonly rounds: number;
  /** Length of one turn. A unit that began in time is finished. */
  readonly turnMs: number;
}

/** What a contestant needed, over all of its turns. */
export interface Timing {
  readonly name: string;
  /** One entry a unit of work, in milliseconds, ascending. */
  readonly samplesMs: readonly number[];
  /** Units of all workers a second, over the time that was spent working. */
  readonly perSecond: number;
  /** Processor time of this process a unit, in milliseconds, all of its threads together: it hardly depends on what else runs. */
  readonly cpuMs: number;
}

interface Turns {
  readonly samplesMs: number[];
  busyMs: number;
  cpuMs: number;
}

/**
 * Measures contestants side by side: they take turns, so that whatever else the machine does meanwhile hits all of them
 * alike. A first round of quarter turns warms up and does not count.
 */
export async function race<Name extends string>(
  contestants: readonly (Contestant & { readonly name: Name })[],
  { rounds, turnMs }: RaceLength,
): Promise<(name: Name) => Timing> {
  const all = new Map<Name, Turns>();
  for (const contestant of contestants) await takeTurn(contestant, turnMs / 4, { samplesMs: [], busyMs: 0, cpuMs: 0 });
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      const turns = all.get(contestant.name) ?? { samplesMs: [], busyMs: 0, cpuMs: 0 };
      all.set(contestant.name, turns);
      await takeTurn(contestant, turnMs, turns);
    }
  }
  return (name) => {
    const { samplesMs, busyMs, cpuMs } = all.get(name) ?? { samplesMs: [], busyMs: 0, cpuMs: 0 };
    return {
      name,
      samplesMs: samplesMs.toSorted((one, other) => one - other),
      perSecond: busyMs === 0 ? 0 : (samplesMs.length / busyMs) * 1_000,
      cpuMs: samplesMs.length === 0 ? 0 : cpuMs / samplesMs.length,
    };
  };
}

/** The smallest sample that `share` of all samples do not exceed; NaN without samples. */
export function percentile(timing: Timing, share: number): number {
  const { samplesMs } = timing;
  return samplesMs[Math.max(0, Math.ceil(samplesMs.length * share) - 1)] ?? Number.NaN;
}

async function takeTurn(contestant: Contestant, turnMs: number, turns: Turns): Promise<void> {
  for (let unit = 0; unit < (contestant.lead ?? 0); unit += 1) {
    await contestant.prepare?.(0);
    await contestant.once(0);
  }
  const startedAt = performance.now();
  const startedCpu = process.cpuUsage();
  const workers = Array.from({ length: contestant.workers }, (_, worker) =>
    work(contestant, worker, startedAt + turnMs, turns.samplesMs),
  );
  const untimed = await Promise.all(workers);
  turns.busyMs += performance.now() - startedAt - Math.max(...untimed.map(({ wallMs }) => wallMs));
  // Where something is prepared one worker works alone, so that what its preparation took is known.
  turns.cpuMs += cpuMsSince(startedCpu) - Math.max(...untimed.map(({ cpuMs }) => cpuMs));
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** What went into preparation. */
interface Untimed {
  wallMs: number;
  cpuMs: number;
}

/** One worker until its turn is over; answers how much of it went into preparation. At least one unit is done. */
async function work(contestant: Contestant, worker: number, until: number, samplesMs: number[]): Promise<Untimed> {
  const untimed: Untimed = { wallMs: 0, cpuMs: 0 };
  do {
    if (contestant.prepare !== undefined) {
      const preparedFrom = performance.now();
      const preparedCpu = process.cpuUsage();
      await contestant.prepare(worker);
      untimed.wallMs += performance.now() - preparedFrom;
      untimed.cpuMs += cpuMsSince(preparedCpu);
    }
    const startedAt = performance.now();
    const pending = contestant.once(worker);
    if (pending instanceof Promise) await pending;
    samplesMs.push(performance.now() - startedAt);
  } while (performance.now() < until);
  return untimed;
}
