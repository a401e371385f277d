import { z } from 'zod';
import { percentile, type Timing } from './measure.ts';

const ratioSchema = z.strictObject({
  /** What it is compared with, measured in the same race. */
  to: z.string(),
  /** Rates: greater is better. Times: smaller is better. */
  by: z.enum(['rate', 'p50', 'p95']),
  ratio: z.number(),
});
export type Ratio = z.infer<typeof ratioSchema>;

const rowSchema = z.strictObject({
  workload: z.string(),
  what: z.string(),
  p50_ms: z.number(),
  p95_ms: z.number(),
  p99_ms: z.number(),
  per_second: z.number(),
  /** Processor time of the workload's own process a unit. */
  cpu_ms: z.number(),
  samples: z.int(),
  floor: ratioSchema.nullable(),
  peer: ratioSchema.nullable(),
  /** The requirement in words; null for what is only there to be compared with. */
  must: z.string().nullable(),
  reached: z.boolean().nullable(),
});

/** One line of the table. */
export type Row = z.infer<typeof rowSchema>;

/** What a workload's process hands back. */
export const workloadResultSchema = z.strictObject({
  workload: z.string(),
  rows: z.array(rowSchema),
  /** Most memory that the workload's process held, in MiB. */
  peak_rss_mib: z.number(),
  /** The load of the machine when it ended, over one minute. */
  load: z.number(),
  took_ms: z.number(),
});
export type WorkloadResult = z.infer<typeof workloadResultSchema>;

/** What is said of a row beside its own figures. */
export interface Verdict {
  readonly floor?: Ratio;
  readonly peer?: Ratio;
  readonly must?: { readonly text: string; readonly reached: boolean };
}

/** A line of the table out of what was measured. */
export function toRow(workload: string, what: string, timing: Timing, verdict: Verdict = {}): Row {
  return {
    workload,
    what,
    p50_ms: percentile(timing, 0.5),
    p95_ms: percentile(timing, 0.95),
    p99_ms: percentile(timing, 0.99),
    per_second: timing.perSecond,
    cpu_ms: timing.cpuMs,
    samples: timing.samplesMs.length,
    floor: verdict.floor ?? null,
    peer: verdict.peer ?? null,
    must: verdict.must?.text ?? null,
    reached: verdict.must?.reached ?? null,
  };
}

/** How many times as many units a second as the other. */
export function rateRatio(timing: Timing, to: Timing): Ratio {
  return { to: to.name, by: 'rate', ratio: timing.perSecond / to.perSecond };
}

/** How many times as long as the other, at a percentile. */
export function timeRatio(timing: Timing, to: Timing, by: 'p50' | 'p95'): Ratio {
  const share = by === 'p50' ? 0.5 : 0.95;
  return { to: to.name, by, ratio: percentile(timing, share) / percentile(to, share) };
}
