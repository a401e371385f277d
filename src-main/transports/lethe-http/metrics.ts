import { Counter, Histogram, Registry } from 'prom-client';
import type { FaultCode } from '../../../src-preload/contract/faults.ts';

const counters = {
  busyRetries: ['lethe_sqlite_busy_retries_total', 'Writes tried again because another process held the database.'],
  busy: ['lethe_sqlite_busy_exhausted_total', 'Requests refused because the store stayed busy.'],
  created: ['lethe_changesets_created_total', 'Changesets created.'],
  rejected: ['lethe_changesets_rejected_total', 'Changesets whose operations were refused.'],
  casConflicts: ['lethe_ref_cas_conflicts_total', 'Moves refused because the ref had moved.'],
  conflictsPersisted: ['lethe_conflicts_persisted_total', 'Conflicts kept for proposals.'],
  conflictsRetired: ['lethe_conflicts_retired_total', 'Open conflicts that ended with their proposals.'],
  conflictsResolved: ['lethe_conflicts_resolved_total', 'Conflicts resolved.'],
  merges: ['lethe_merge_authorized_total', 'Protected moves made by a signed authorization.'],
  mergeFailures: ['lethe_merge_authorization_failures_total', 'Merge authorizations refused.'],
  mergeReplays: ['lethe_merge_replay_rejections_total', 'Merge authorizations that were spent before.'],
  contexts: ['lethe_context_reconstructions_total', 'Contexts read.'],
  contextChangesets: [
    'lethe_context_reconstruction_changesets_total',
    'Changesets that the memories of contexts were read from.',
  ],
  contextMs: ['lethe_context_reconstruction_ms_total', 'Milliseconds spent on reading contexts.'],
  replays: ['lethe_idempotent_replays_total', 'Commits answered again from their idempotency key.'],
  mismatches: ['lethe_idempotency_mismatches_total', 'Idempotency keys used again with another request.'],
} as const satisfies Record<string, readonly [name: string, help: string]>;

type CounterName = keyof typeof counters;

const counterByFault: Partial<Record<FaultCode, CounterName>> = {
  STORE_BUSY: 'busy',
  OP_INVALID: 'rejected',
  REF_MOVED: 'casConflicts',
  MERGE_AUTHORIZATION_REFUSED: 'mergeFailures',
  MERGE_AUTHORIZATION_MALFORMED: 'mergeFailures',
  NONCE_CONSUMED: 'mergeReplays',
  IDEMPOTENCY_MISMATCH: 'mismatches',
};

/** The verbs of the store whose times are kept. */
export type MeasuredVerb = 'commit' | 'advance' | 'context' | 'search' | 'diff' | 'detection' | 'verify';

/** Bounds of the histograms, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** What this door counts (`lethe.md` §9.5). A series begins with its first count. */
export interface LetheMetrics {
  count(name: CounterName, by?: number): void;
  countFault(code: FaultCode): void;
  /** Seconds that one request of a route took. */
  observe(route: string, seconds: number): void;
  /** Seconds that the store took for one verb. */
  observeVerb(verb: MeasuredVerb, seconds: number): void;
  /** All series in the text format of Prometheus. */
  text(): Promise<string>;
}

/**
 * Builds the metrics of one door, in a registry of their own.
 * @param busyRetries how often the store has tried a write again so far
 */
export function createLetheMetrics(busyRetries: () => number): LetheMetrics {
  const registry = new Registry();
  const registers = [registry];
  const made = new Map<CounterName, Counter>();
  let retriesCounted = 0;
  const duration = new Histogram({
    name: 'lethe_http_request_duration_seconds',
    help: 'How long requests took, by route.',
    labelNames: ['route'],
    buckets,
    registers,
  });
  const verbDuration = new Histogram({
    name: 'lethe_verb_duration_seconds',
    help: 'How long the store took, by verb.',
    labelNames: ['verb'],
    buckets,
    registers,
  });
  const count = (name: CounterName, by = 1): void => {
    const [series, help] = counters[name];
    const counter = made.get(name) ?? new Counter({ name: series, help, registers });
    made.set(name, counter);
    counter.inc(by);
  };
  return {
    count,
    countFault: (code) => {
      const name = counterByFault[code];
      if (name !== undefined) count(name);
    },
    observe: (route, seconds) => duration.observe({ route }, seconds),
    observeVerb: (verb, seconds) => verbDuration.observe({ verb }, seconds),
    text: () => {
      const since = busyRetries() - retriesCounted;
      if (since > 0) count('busyRetries', since);
      retriesCounted += since;
      return registry.metrics();
    },
  };
}
