import type { RaceLength } from './measure.ts';
import type { Row } from './rows.ts';

/** What a workload runs with. */
export interface Setting {
  /** An empty folder of its own. */
  readonly scratch: string;
  /** Folders of histories made by `buildCorpus`, smallest first. Only to be read: who writes takes a copy. */
  readonly corpora: readonly string[];
  readonly length: RaceLength;
}

/** One workload: sets up, races, and says what came of it. */
export type Workload = (setting: Setting) => Promise<readonly Row[]>;

/** A number of things as it stands in the table: 10 k, 1 M. */
export function short(count: number): string {
  if (count >= 1_000_000) return `${count / 1_000_000} M`;
  return count >= 1_000 ? `${count / 1_000} k` : String(count);
}
