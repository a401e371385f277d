import { z } from 'zod';
import { ownerCommand } from '../command.ts';
import { backupPhases } from '../events.ts';
import { changesetIdSchema, digestSchema, obolIdSchema, projectIdSchema, timestampSchema } from '../ids.ts';
import { ltxKeyIdSchema, ltxKeySchema } from '../ltx.ts';
import { obolSchema } from '../principal.ts';
import { reconcileReportSchema } from './operations.ts';

const count = z.int().min(0);

/** Backups that are kept unless the settings say otherwise. */
export const backupsKeptDefault = 10;

/** The commands that change something and yet run in recovery: they lead out of it. */
export const recoveryCommands: ReadonlySet<string> = new Set([
  'restore.stage',
  'restore.withdraw',
  'restore.lift',
  'restore.put_back',
]);

/** The folder of a backup: an absolute path on the machine of the engine, or the name of one in the home's own `backups`. */
const directory = z.string().min(1).max(4_096);

/** `backup` is the owner's, `safety` is what a restore made of the state that it replaced. */
const backupKindSchema = z.enum(['backup', 'safety']);

/** A backup that is being made, or the last one that was. */
const backupJobSchema = z.strictObject({
  job_id: z.uuid(),
  /** The folder that it becomes. */
  directory: z.string(),
  name: z.string(),
  phase: z.enum(backupPhases),
  /** Of the phase `copying`: bytes. Of `verifying`: changesets. */
  done: count,
  total: count,
  started_at: timestampSchema,
  ended_at: timestampSchema.nullable(),
  /** Of a backup that is done. */
  manifest_digest: digestSchema.nullable(),
  bytes: count.nullable(),
  /** Of one that failed: what happened and what to do. */
  problem: z.string().nullable(),
  code: z.string().nullable(),
  /** Backups that were rotated out after it. */
  removed: z.array(z.string()),
});
export type BackupJob = z.infer<typeof backupJobSchema>;

/** A backup as its folder shows it. Its manifest was read and its signature verified; its files were not. */
const listedBackupSchema = z.strictObject({
  name: z.string(),
  directory: z.string(),
  /** `readable`: a manifest of this home, signed by its head key, with every file of the size that it names. */
  state: z.enum(['readable', 'damaged', 'foreign']),
  problem: z.string().nullable(),
  kind: backupKindSchema.nullable(),
  created_at: timestampSchema.nullable(),
  product_version: z.string().nullable(),
  manifest_digest: digestSchema.nullable(),
  bytes: count,
  projects: count.nullable(),
  changesets: count.nullable(),
  /** Whether the keys are in it, sealed under the recovery passphrase. */
  has_keys: z.boolean(),
  /** When it was last verified whole: as it was made, inspected or rehearsed. */
  verified_at: timestampSchema.nullable(),
  rehearsed_at: timestampSchema.nullable(),
});
export type ListedBackup = z.infer<typeof listedBackupSchema>;

const findingSchema = z.strictObject({ where: z.string(), problem: z.string() });

/** What would go back in one project. `behind`: the backup is older and its head is part of what is here now. */
const projectDifferenceSchema = z.strictObject({
  project: projectIdSchema,
  state: z.enum(['same', 'behind', 'unrelated', 'only_here', 'only_in_backup']),
  main_now: changesetIdSchema.nullable(),
  main_then: changesetIdSchema.nullable(),
  changesets_now: count,
  changesets_then: count,
});

/** A backup that was looked at whole, as a hostile folder. `ok` without findings. */
const backupInspectionSchema = z.strictObject({
  ok: z.boolean(),
  findings: z.array(findingSchema),
  notes: z.array(z.string()),
  directory: z.string(),
  kind: backupKindSchema.nullable(),
  created_at: timestampSchema.nullable(),
  product_version: z.string().nullable(),
  manifest_digest: digestSchema.nullable(),
  home_id: z.string().nullable(),
  bytes: count,
  has_keys: z.boolean(),
  counts: z.record(z.string(), count),
  /** What restoring it would change, against what is here now; null where that cannot be said. */
  goes_back: z
    .strictObject({
      projects: z.array(projectDifferenceSchema),
      /** Tokens and keys of agents that work now and would have to be approved again, or would be gone. */
      tokens_to_approve: count,
      tokens_lost: count,
      proposals_lost: count,
      audit_entries_lost: count,
    })
    .nullable(),
});
export type BackupInspection = z.infer<typeof backupInspectionSchema>;

/** What became of a rehearsal. */
const rehearsalSchema = z.strictObject({
  ok: z.boolean(),
  findings: z.array(findingSchema),
  notes: z.array(z.string()),
  rehearsed_at: timestampSchema,
  projects: count,
  refs: count,
  changesets: count,
  audit_entries: count,
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;

/** What waits for the next start, and whether this home was restored. */
const restoreStatusSchema = z.strictObject({
  waiting: z
    .strictObject({ act: z.enum(['restore', 'put_back']), directory: z.string().nullable(), asked_at: timestampSchema })
    .nullable(),
  restored: z
    .strictObject({
      restored_at: timestampSchema,
      manifest_digest: digestSchema,
      created_at: timestampSchema,
      /** The backup that was made of the state before; null where that did not verify and only its files were kept. */
      safety: z.string().nullable(),
      notes: z.array(z.string()),
    })
    .nullable(),
  /** Why what waited was not carried out at the last start; null when there was nothing, or it was. */
  problem: z.string().nullable(),
});
export type RestoreStatus = z.infer<typeof restoreStatusSchema>;

/** Backups of a home, and restoring them (`charon.md` §7). The owner's doors only. */
export const backupCommands = [
  ownerCommand({
    name: 'backup.create',
    title: 'Back up now',
    description:
      'Begins a backup of this home, in a new folder: both databases at one instant, while agents go on. Answers at once; backup.status and the event backup_progress say how far it is.',
    mutates: true,
    input: z.strictObject({ out: z.string().min(1).max(4_096).optional() }),
    output: backupJobSchema,
  }),
  ownerCommand({
    name: 'backup.status',
    title: 'The backup that is being made',
    description: 'How far the backup is that is being made, or what became of the last one since the start.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ job: backupJobSchema.nullable() }),
  }),
  ownerCommand({
    name: 'backup.cancel',
    title: 'Cancel the backup',
    description: 'Stops the backup that is being made; nothing of it is left.',
    mutates: true,
    input: z.strictObject({ job_id: z.uuid() }),
    output: backupJobSchema,
  }),
  ownerCommand({
    name: 'backup.list',
    title: 'Backups',
    description: 'Backups in the folder of this home, the newest first, and how many are kept.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ backups: z.array(listedBackupSchema), keep: z.int().min(1) }),
  }),
  ownerCommand({
    name: 'backup.inspect',
    title: 'Inspect a backup',
    description:
      'Verifies everything of a backup as a hostile folder, and says what would go back if it were restored. Changes nothing.',
    mutates: false,
    input: z.strictObject({ directory }),
    output: backupInspectionSchema,
  }),
  ownerCommand({
    name: 'backup.rehearse',
    title: 'Rehearse a restore',
    description:
      'Restores a backup into a scratch folder, opens it, verifies every history there and compares heads, counts and chains with its manifest. Leaves a dated tick and nothing else.',
    mutates: false,
    input: z.strictObject({ directory }),
    output: rehearsalSchema,
  }),
  ownerCommand({
    name: 'backup.prune',
    title: 'Remove old backups',
    description:
      'Removes the oldest backups of this home beyond the number that is kept, never the newest that verifies. What a restore put aside is not touched.',
    mutates: true,
    power: true,
    input: z.strictObject({ keep: z.int().min(1).max(1_000).optional() }),
    output: z.strictObject({ removed: z.array(z.string()), kept: z.array(z.string()) }),
  }),
  ownerCommand({
    name: 'obol.reapprove',
    title: 'Approve a token again',
    description: 'Lets a token in again that was minted before a restore. Revoked and expired ones stay refused.',
    mutates: true,
    power: true,
    input: z.strictObject({ obol_id: obolIdSchema }),
    output: obolSchema,
  }),
  ownerCommand({
    name: 'ltx.reapprove',
    title: 'Approve a key of the memory ledger again',
    description: 'Lets a key in again that was made before a restore. A revoked one stays refused.',
    mutates: true,
    power: true,
    input: z.strictObject({ key_id: ltxKeyIdSchema }),
    output: ltxKeySchema,
  }),
] as const;

/** Restoring a backup, and what leads out of recovery after it. */
export const restoreCommands = [
  ownerCommand({
    name: 'restore.status',
    title: 'State of a restore',
    description:
      'What waits for the next start, and whether this home was restored and waits for the check of its owner.',
    mutates: false,
    input: z.strictObject({}),
    output: restoreStatusSchema,
  }),
  ownerCommand({
    name: 'restore.stage',
    title: 'Restore a backup at the next start',
    description:
      'Verifies a backup whole and, when it is clean, has the next start of Memory Git restore it. `confirm` is the first 8 characters of the home id.',
    mutates: true,
    power: true,
    input: z.strictObject({ directory, confirm: z.string().length(8) }),
    output: backupInspectionSchema,
  }),
  ownerCommand({
    name: 'restore.withdraw',
    title: 'Do not restore at the next start',
    description: 'Takes back what waits for the next start: a restore, or putting back what was there.',
    mutates: true,
    input: z.strictObject({}),
    output: z.strictObject({ withdrawn: z.boolean() }),
  }),
  ownerCommand({
    name: 'restore.lift',
    title: 'Lift recovery',
    description:
      'Reconciles a restored home and, when everything agrees, lets it be written to from the next start on. Findings are answered and nothing is lifted.',
    mutates: true,
    power: true,
    input: z.strictObject({}),
    output: z.strictObject({ lifted: z.boolean(), report: reconcileReportSchema }),
  }),
  ownerCommand({
    name: 'restore.put_back',
    title: 'Put back what was there',
    description:
      'Has the next start put back the home as it was before the restore that waits for its check. `confirm` is the first 8 characters of the home id.',
    mutates: true,
    power: true,
    input: z.strictObject({ confirm: z.string().length(8) }),
    output: z.strictObject({ waiting: z.literal(true) }),
  }),
] as const;
