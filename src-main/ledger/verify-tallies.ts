import type { Findings } from '../base/findings.ts';
import type { LiveTotalsRow, TotalsRow } from './tables/totals.ts';
import type { VersionRow } from './tables/versions.ts';

/** What the history amounts to, counted anew while it is verified. */
export interface Tallies {
  countVersion(row: VersionRow): void;
  /** A live head: which importance, how many bytes. */
  countLive(agent: number, importance: number, bytes: number): void;
  countHead(): void;
  /** Compares what is kept of an agent with what was counted. */
  compare(agent: number, agentId: string, kept: TotalsRow | undefined, live: readonly LiveTotalsRow[]): void;
  /** Compares what was counted at all. */
  close(): void;
}

/** Counts from zero; differences become findings. */
export function openTallies(findings: Findings): Tallies {
  const totals = new Map<number, { ops: number; versions: number; bytes: number }>();
  const live = new Map<string, { keys: number; bytes: number }>();
  let keys = 0;
  let heads = 0;
  return {
    countVersion: ({ agent, kind, version, value_bytes }) => {
      const of = totals.get(agent) ?? { ops: 0, versions: 0, bytes: 0 };
      of.ops += kind === 'expire' ? 0 : 1;
      of.versions += 1;
      of.bytes += value_bytes;
      totals.set(agent, of);
      if (version === 1) keys += 1;
    },
    countLive: (agent, importance, bytes) => {
      const of = live.get(`${agent} ${importance}`) ?? { keys: 0, bytes: 0 };
      of.keys += 1;
      of.bytes += bytes;
      live.set(`${agent} ${importance}`, of);
    },
    countHead: () => {
      heads += 1;
    },
    compare: (agent, agentId, kept, keptLive) => {
      const counted = totals.get(agent) ?? { ops: 0, versions: 0, bytes: 0 };
      const same = (['ops', 'versions', 'bytes'] as const).every((of) => kept?.[of] === counted[of]);
      if (!same) findings.add(`agent ${agentId}`, 'its totals are not those of its versions');
      for (const importance of [0, 1, 2, 3]) {
        const now = keptLive.find((row) => row.importance === importance) ?? { keys: 0, bytes: 0 };
        const then = live.get(`${agent} ${importance}`) ?? { keys: 0, bytes: 0 };
        if (now.keys !== then.keys || now.bytes !== then.bytes)
          findings.add(`agent ${agentId}`, 'its live totals are not those of its live values');
      }
      totals.delete(agent);
    },
    close: () => {
      if (heads !== keys) findings.add('the heads of keys', `there are ${heads} for ${keys} keys`);
      for (const agent of totals.keys()) findings.add(`agent number ${agent}`, 'it has versions and no id');
    },
  };
}
