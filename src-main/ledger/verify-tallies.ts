import type { Findings } from '../base/findings.ts';
import type { LiveTotalsRow, TotalsRow } from './tables/totals.ts';
import type { VersionRow } from './tables/versions.ts';

/** What the history amounts to, counted anew while it is verified. */
export interface Tallies {
  countVersion(row: VersionRow): void;
  /** A live head: which importance, how many bytes. */
  countLive(agent: number, importance: number, bytes: number): void;
  countHead(): void;
  countPolicy(agent: number): void;
  countCustody(agent: number): void;
  /** Compares what is kept of an agent with what was counted. */
  compare(agent: number, agentId: string, kept: TotalsRow | undefined, live: readonly LiveTotalsRow[]): void;
  /** Compares what was counted at all. */
  close(): void;
}

const columns = [
  'ops',
  'versions',
  'bytes',
  'policies',
  'custody_steps',
] as const satisfies readonly (keyof TotalsRow)[];
const nothing = { ops: 0, versions: 0, bytes: 0, policies: 0, custody_steps: 0 };
type Counted = { [column in (typeof columns)[number]]: number };

/** Counts from zero; differences become findings. */
export function openTallies(findings: Findings): Tallies {
  const totals = new Map<number, Counted>();
  const totalsOf = (agent: number): Counted => {
    const of = totals.get(agent) ?? { ...nothing };
    totals.set(agent, of);
    return of;
  };
  const live = new Map<string, { keys: number; bytes: number }>();
  let keys = 0;
  let heads = 0;
  return {
    countVersion: ({ agent, kind, version, value_bytes }) => {
      const of = totalsOf(agent);
      of.ops += kind === 'expire' ? 0 : 1;
      of.versions += 1;
      of.bytes += value_bytes;
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
    countPolicy: (agent) => {
      totalsOf(agent).policies += 1;
    },
    countCustody: (agent) => {
      totalsOf(agent).custody_steps += 1;
    },
    compare: (agent, agentId, kept, keptLive) => {
      const counted = totalsOf(agent);
      const same = columns.every((of) => kept?.[of] === counted[of]);
      if (!same) findings.add(`agent ${agentId}`, 'its totals are not those of its history');
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
      for (const agent of totals.keys()) findings.add(`agent number ${agent}`, 'it has a history and no id');
    },
  };
}
