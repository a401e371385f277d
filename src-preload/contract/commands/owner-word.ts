import { z } from 'zod';
import { auditEntrySchema, doorSchema } from '../audit.ts';
import { ownerCommand } from '../command.ts';
import { cursorSchema, requestIdSchema, timestampSchema } from '../ids.ts';
import { listLimitMax } from '../limits.ts';

/** What an act of power outside the desk asks for while no desk is open (`charon.md` §8). */
export const ownerConfirms = ['off', 'passphrase'] as const;
const ownerConfirmSchema = z.enum(ownerConfirms);
export type OwnerConfirm = z.infer<typeof ownerConfirmSchema>;

/** How an act of power outside the desk was confirmed: a click at the desk, a passphrase, or nothing was asked for. */
export const confirmations = ['off', 'passphrase', 'desk'] as const;
const confirmedSchema = z.enum(confirmations);
export type Confirmed = z.infer<typeof confirmedSchema>;

/**
 * An act of power that waits for the owner's click. `command_line` is the same act as somebody would type it, `input_json`
 * its input as it will run, canonical; a passphrase in it reads `(not shown)`. Both are safe to show: what does not print is
 * written out.
 */
const ownerRequestSchema = z.strictObject({
  request_id: requestIdSchema,
  command: z.string(),
  title: z.string(),
  command_line: z.string(),
  input_json: z.string(),
  door: doorSchema,
  client: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema,
});
export type OwnerRequest = z.infer<typeof ownerRequestSchema>;

/** An act of power that was done outside the desk: the outcome of it in the audit ledger, and how it was confirmed. */
const actOfPowerSchema = z.strictObject({
  ...auditEntrySchema.shape,
  title: z.string(),
  confirmed: confirmedSchema,
});
export type ActOfPower = z.infer<typeof actOfPowerSchema>;

const ownerConfirmationSchema = z.strictObject({
  owner_confirm: ownerConfirmSchema,
  passphrase_set: z.boolean(),
});

/** The owner's word over acts of power that come from outside the desk (`charon.md` §8). */
export const ownerWordCommands = [
  ownerCommand({
    name: 'owner_request.list',
    title: 'What waits for your word',
    description:
      'Acts of power asked for by a command line while the desk is open, oldest first, each exactly as it will run.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ requests: z.array(ownerRequestSchema) }),
  }),
  ownerCommand({
    name: 'owner_request.decide',
    title: 'Give or refuse your word',
    description:
      'Allows or refuses one act of power that waits. At the desk only. What was allowed runs at once, exactly as it was shown.',
    mutates: true,
    power: true,
    input: z.strictObject({ request_id: requestIdSchema, decision: z.enum(['allow', 'refuse']) }),
    output: z.strictObject({ request_id: requestIdSchema, decision: z.enum(['allow', 'refuse']) }),
  }),
  ownerCommand({
    name: 'owner.confirmation',
    title: 'Confirming acts of power',
    description:
      'What an act of power outside the desk asks for while no desk is open. A stored value that does not carry the MAC of the ledger counts as passphrase, with none set.',
    mutates: false,
    input: z.strictObject({}),
    output: ownerConfirmationSchema,
  }),
  ownerCommand({
    name: 'owner.set_confirmation',
    title: 'Change how acts of power are confirmed',
    description:
      'Asks for nothing, or for a passphrase of 12 characters or more, typed on the terminal. Only its scrypt hash is kept.',
    mutates: true,
    power: true,
    secrets: ['passphrase'],
    input: z.strictObject({ owner_confirm: ownerConfirmSchema, passphrase: z.string().min(1).max(1_024).optional() }),
    output: ownerConfirmationSchema,
  }),
  ownerCommand({
    name: 'owner_page.open',
    title: 'Open the owner page',
    description: 'The address of the desk in a browser, with a code that works once, within a minute.',
    mutates: true,
    power: true,
    input: z.strictObject({}),
    output: z.strictObject({ url: z.string() }),
  }),
  ownerCommand({
    name: 'audit.acts_of_power',
    title: 'Acts of power outside the desk',
    description:
      'What was done by command lines that gives rights or puts memory into main, newest first, with how each was confirmed; since the last one that was seen at the desk, or after an entry of the ledger (0: all).',
    mutates: false,
    input: z.strictObject({
      since: z.union([z.literal('last_seen'), z.int().min(0)]),
      limit: z.int().min(1).max(listLimitMax).optional(),
      cursor: cursorSchema.optional(),
    }),
    output: z.strictObject({
      acts: z.array(actOfPowerSchema),
      seen_through: z.int().min(0),
      next_cursor: cursorSchema.optional(),
    }),
  }),
  ownerCommand({
    name: 'audit.acts_seen',
    title: 'These acts were seen',
    description:
      'The owner has seen every act of power up to this entry of the ledger. At the desk only; it never goes back.',
    mutates: true,
    input: z.strictObject({ through_seq: z.int().min(0) }),
    output: z.strictObject({ seen_through: z.int().min(0) }),
  }),
] as const;
