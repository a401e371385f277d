import { z } from 'zod';
import { auditEntrySchema } from '../audit.ts';
import { ownerCommand } from '../command.ts';

/** Findings that one check tells at most. */
export const findingsToldMax = 100;

/** An intent without an outcome that no record decides: who asked for what, when, and through which door. */
const ambiguousIntentSchema = auditEntrySchema.pick({
  seq: true,
  at: true,
  principal: true,
  door: true,
  command: true,
  project: true,
  object_ids: true,
  correlation_id: true,
});
export type AmbiguousIntent = z.infer<typeof ambiguousIntentSchema>;

/** What a reconciliation looks at, in this order (`charon.md` §7). */
export const reconcileChecks = [
  'database_files',
  'audit_ledger',
  'projects',
  'proposals',
  'advances',
  'open_intents',
] as const;

/** One check: how much it looked at, every place that does not hold (the first 100), what else there is to know. */
const reconcileCheckSchema = z.strictObject({
  name: z.enum(reconcileChecks),
  checked: z.int().min(0),
  findings: z.array(z.strictObject({ where: z.string(), problem: z.string() })).max(findingsToldMax),
  notes: z.array(z.string()),
});
export type ReconcileCheck = z.infer<typeof reconcileCheckSchema>;

const reconcileReportSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(reconcileCheckSchema),
  ambiguous: z.array(ambiguousIntentSchema),
});
export type ReconcileReport = z.infer<typeof reconcileReportSchema>;

/** Commands that keep a home in order: the owner's doors only. */
export const operationCommands = [
  ownerCommand({
    name: 'engine.reconcile',
    title: 'Check that everything agrees',
    description:
      'Checks database files, audit ledger, every project, every proposal against the moves of its target and the other way round, and lists what a crash left undecided. Repairs nothing.',
    mutates: false,
    input: z.strictObject({}),
    output: reconcileReportSchema,
  }),
  ownerCommand({
    name: 'engine.settle',
    title: 'Settle what a crash left undecided',
    description:
      'Settles merges and requests that a crash interrupted from the records that prove them, and closes by hand the ambiguous ones that no record decides. Changes no memory.',
    mutates: true,
    input: z.strictObject({}),
    output: z.strictObject({
      settled: z.int().min(0),
      closed: z.int().min(0),
      left: z.int().min(0),
    }),
  }),
  ownerCommand({
    name: 'audit.ambiguous',
    title: 'Requests that nobody can decide',
    description:
      'Requests that a crash interrupted and of which no record says whether they were carried out, oldest first.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ intents: z.array(ambiguousIntentSchema) }),
  }),
] as const;
