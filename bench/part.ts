// One part of a run in a process of its own, so that its memory is its own: `corpus` makes a history, a workload measures.
// Arguments: the part, the mode, the run's folder, the number of the history. Prints its result as one line of JSON.
import { mkdirSync, readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { buildCorpus } from './lib/corpus.ts';
import { corpusSizes, modes, raceLengths, workloads } from './lib/plan.ts';
import type { WorkloadResult } from './lib/rows.ts';

const [part, mode, folder, number] = z
  .tuple([z.string(), z.enum(modes), z.string(), z.coerce.number().int()])
  .parse(process.argv.slice(2));
const corporaFolder = join(folder, 'corpora');

if (part === 'corpus') {
  const size = corpusSizes[mode][number];
  if (size === undefined) throw new Error(`there is no history number ${number}`);
  const { buildMs, indexMs, changesets } = await buildCorpus(join(corporaFolder, String(number)), size);
  process.stdout.write(`${JSON.stringify({ changesets, buildMs, indexMs })}\n`);
} else {
  const planned = workloads.find(({ name }) => name === part);
  if (planned === undefined) throw new Error(`there is no workload ${part}`);
  const scratch = join(folder, part);
  mkdirSync(scratch);
  const corpora = planned.reads
    ? readdirSync(corporaFolder)
        .sort()
        .map((name) => join(corporaFolder, name))
    : [];
  const startedAt = performance.now();
  const rows = await planned.run(mode)({ scratch, corpora, length: raceLengths[mode] });
  const result: WorkloadResult = {
    workload: part,
    rows: [...rows],
    peak_rss_mib: process.resourceUsage().maxRSS / 1_024,
    load: loadavg()[0] ?? 0,
    took_ms: performance.now() - startedAt,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
