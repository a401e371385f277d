import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const counters = {
  authzDenials: ['charon_authz_denials_total', 'Calls refused for want of a right.'],
  idempotentReplays: ['charon_idempotent_replays_total', 'Requests answered again from their idempotency key.'],
  idempotencyMismatches: ['charon_idempotency_mismatches_total', 'Idempotency keys used again with another request.'],
  ledgerAppendFailures: [
    'charon_ledger_append_failures_total',
    'Intents that did not become durable, so that nothing ran.',
  ],
  mergeAttempts: ['charon_merge_attempts_total', 'Merges that were attempted.'],
  mergeCasConflicts: ['charon_merge_cas_conflicts_total', 'Merges refused because the target had moved.'],
  proposalsCreated: ['charon_proposals_created_total', 'Proposals created.'],
  strictParsingRejections: ['charon_strict_parsing_rejections_total', 'Calls refused for their shape.'],
} as const satisfies Record<string, readonly [name: string, help: string]>;

export type MetricName = keyof typeof counters;

/** What is counted about commands (`charon.md` §9). */
export interface Metrics {
  count(name: MetricName): void;
  /** Seconds that one call of a known command took. */
  observe(command: string, seconds: number): void;
  /** All series in the text format of Prometheus. */
  text(): Promise<string>;
}

/** Builds the metrics of one engine, in a registry of their own. The audit ledger is asked whenever they are read. */
export function createMetrics(auditBacklog: () => number, auditFailures: () => number): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const made = new Map<string, Counter>();
  for (const [key, [name, help]] of Object.entries(counters)) made.set(key, new Counter({ name, help, registers }));
  const duration = new Histogram({
    name: 'charon_command_duration_seconds',
    help: 'How long calls took, by command.',
    labelNames: ['command'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: 'charon_audit_outbox_backlog',
      help: 'Audit entries that wait to become durable.',
      registers: [],
      collect() {
        this.set(auditBacklog());
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: 'charon_audit_append_failures_total',
      help: 'Writes of intents and outcomes that the audit ledger did not take; outcomes wait and are tried again.',
      registers: [],
      collect() {
        this.reset();
        this.inc(auditFailures());
      },
    }),
  );
  return {
    count: (name) => made.get(name)?.inc(),
    observe: (command, seconds) => duration.observe({ command }, seconds),
    text: () => registry.metrics(),
  };
}
