import { z } from 'zod';
import { auditEntrySchema } from '../audit.ts';
import { ownerCommand } from '../command.ts';
import { timestampSchema } from '../ids.ts';
import { recoveryEnvelopeSchema } from '../recovery.ts';

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

/** Every check of a reconciliation. */
export const reconcileReportSchema = z.strictObject({
  ok: z.boolean(),
  checks: z.array(reconcileCheckSchema),
  ambiguous: z.array(ambiguousIntentSchema),
});
export type ReconcileReport = z.infer<typeof reconcileReportSchema>;

/** The keys of a home that can be replaced (`charon.md` §2). */
export const keyNames = ['obol', 'oauth', 'merge', 'ledger', 'head', 'lethe_api'] as const;
export type KeyName = (typeof keyNames)[number];

/** What may be told of a key: never the key. */
const keyFactsSchema = z.strictObject({
  name: z.enum(keyNames),
  /** The id that entries and envelopes name it by; null for a key that nothing names. */
  id: z.string().nullable(),
  source: z.enum(['keys.json', 'environment', 'none']),
  /** When it came in the place of another; null for the first one, and for one of the environment. */
  since: timestampSchema.nullable(),
  /** How many keys before it still verify what they made. */
  earlier: z.int().min(0),
});
export type KeyFacts = z.infer<typeof keyFactsSchema>;

/** Whether the keys are sealed with the keychain of this system, and what that means (`charon.md` §2). */
const keySealingSchema = z.strictObject({
  sealed: z.boolean(),
  /** Whether they can be sealed and unsealed through this door, now. */
  available: z.boolean(),
  /** Why not; null when they can. */
  reason: z.string().nullable(),
  /** What works no more while they are sealed, a sentence each. */
  stops_working: z.array(z.string()),
});
export type KeySealing = z.infer<typeof keySealingSchema>;

/** Whether the keys can be got back by a passphrase (`charon.md` §7). */
const keyRecoverySchema = z.strictObject({
  set: z.boolean(),
  set_at: timestampSchema.nullable(),
});
export type KeyRecovery = z.infer<typeof keyRecoverySchema>;

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
    name: 'key.list',
    title: 'Keys',
    description:
      'The keys of this home: where each comes from, since when, how many before it still verify. Never a key.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ keys: z.array(keyFactsSchema) }),
  }),
  ownerCommand({
    name: 'key.rotate',
    title: 'Replace a key',
    description:
      'Makes a new key, in use from the next start on. What the one before made stays good for as long as it must; drop_earlier ends at that start every token that was minted before.',
    mutates: true,
    power: true,
    input: z.strictObject({ key: z.enum(keyNames), drop_earlier: z.boolean().optional() }),
    output: keyFactsSchema,
  }),
  ownerCommand({
    name: 'key.sealing',
    title: 'Whether the keys are sealed',
    description:
      'Whether the keys of this home are sealed with the keychain of this system, whether they can be, and what stops working while they are.',
    mutates: false,
    input: z.strictObject({}),
    output: keySealingSchema,
  }),
  ownerCommand({
    name: 'key.seal',
    title: 'Seal the keys',
    description:
      'Seals the keys with the keychain of this system, after a trial that it opens them again; no plain copy stays in the home. In the window of the desk only.',
    mutates: true,
    power: true,
    input: z.strictObject({}),
    output: keySealingSchema,
  }),
  ownerCommand({
    name: 'key.unseal',
    title: 'Unseal the keys',
    description: 'Stores the keys as a file again that only this user can read. In the window of the desk only.',
    mutates: true,
    power: true,
    input: z.strictObject({}),
    output: keySealingSchema,
  }),
  ownerCommand({
    name: 'key.recovery',
    title: 'Recovery of the keys',
    description: 'Whether a recovery passphrase was set, under which backups and exports seal the keys, and when.',
    mutates: false,
    input: z.strictObject({}),
    output: keyRecoverySchema,
  }),
  ownerCommand({
    name: 'key.set_recovery',
    title: 'Set the recovery passphrase',
    description:
      'Sets the passphrase, of 12 characters or more, under which backups and exports seal the keys from now on; it is kept nowhere. Those of before keep the passphrase of their time.',
    mutates: true,
    power: true,
    secrets: ['passphrase'],
    input: z.strictObject({ passphrase: z.string().min(1).max(1_024) }),
    output: keyRecoverySchema,
  }),
  ownerCommand({
    name: 'key.export',
    title: 'Export the keys',
    description: 'The keys of this home, sealed so that the recovery passphrase alone opens them.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ envelope: recoveryEnvelopeSchema }),
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
