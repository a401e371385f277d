import { runCommits } from '../workloads/w01-commits.ts';
import { runAgents } from '../workloads/w02-agents.ts';
import { runReads } from '../workloads/w03-reads.ts';
import { runPastReads } from '../workloads/w04-past-reads.ts';
import { runDiff } from '../workloads/w05-diff.ts';
import { runMerges } from '../workloads/w06-merge.ts';
import { runSearch } from '../workloads/w07-search.ts';
import { runVerify } from '../workloads/w11-verify.ts';
import type { CorpusSize } from './corpus.ts';
import type { RaceLength } from './measure.ts';
import type { Workload } from './setting.ts';

export const modes = ['quick', 'usual', 'full'] as const;
export type Mode = (typeof modes)[number];

/** The histories that are made in a mode, smallest first. */
export const corpusSizes: Readonly<Record<Mode, readonly CorpusSize[]>> = {
  quick: [
    { memories: 2_000, addsPerChangeset: 10 },
    { memories: 10_000, addsPerChangeset: 10 },
  ],
  usual: [
    { memories: 10_000, addsPerChangeset: 10 },
    { memories: 100_000, addsPerChangeset: 10 },
  ],
  full: [
    { memories: 10_000, addsPerChangeset: 10 },
    { memories: 100_000, addsPerChangeset: 10 },
    { memories: 1_000_000, addsPerChangeset: 10 },
  ],
};

const verifiedChangesets: Readonly<Record<Mode, number>> = { quick: 2_000, usual: 10_000, full: 100_000 };

/** How long each race of a mode lasts. */
export const raceLengths: Readonly<Record<Mode, RaceLength>> = {
  quick: { rounds: 3, turnMs: 60 },
  usual: { rounds: 10, turnMs: 150 },
  full: { rounds: 10, turnMs: 300 },
};

/** A workload as `--only` names it, and whether it needs the histories. */
export interface PlannedWorkload {
  readonly name: string;
  readonly reads: boolean;
  readonly run: (mode: Mode) => Workload;
}

/** Every workload that the product has the parts for, in the order of the table. */
export const workloads: readonly PlannedWorkload[] = [
  { name: 'W1', reads: false, run: () => runCommits },
  { name: 'W2', reads: true, run: () => runAgents },
  { name: 'W3', reads: true, run: () => runReads },
  { name: 'W4', reads: true, run: () => runPastReads },
  { name: 'W5', reads: true, run: () => runDiff },
  { name: 'W6', reads: true, run: () => runMerges },
  { name: 'W7', reads: true, run: () => runSearch },
  { name: 'W11', reads: false, run: (mode) => (setting) => runVerify(verifiedChangesets[mode], setting) },
];
