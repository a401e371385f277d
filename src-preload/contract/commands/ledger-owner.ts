import { z } from 'zod';
import { verifyReportSchema } from '../audit.ts';
import { ownerCommand } from '../command.ts';
import { cursorSchema, principalIdSchema } from '../ids.ts';
import {
  custodySchema,
  ledgerAgentIdSchema,
  ledgerDiffSchema,
  ledgerHistorySchema,
  ledgerKeySchema,
  ledgerKeyStateSchema,
  ledgerPointSchema,
  ledgerStateSchema,
  ledgerUsageSchema,
  policySchema,
} from '../ledger.ts';
import { listLimitMax } from '../limits.ts';
import {
  ltxKeyIdSchema,
  ltxKeyKindSchema,
  ltxKeySchema,
  passportSchema,
  registrationIdSchema,
  registrationSchema,
} from '../ltx.ts';

/** An agent by the id that the ledger knows it by, or by its principal. */
const agent = z.union([ledgerAgentIdSchema, principalIdSchema]);
const page = { limit: z.int().min(1).max(listLimitMax).optional(), cursor: cursorSchema.optional() };
const nextCursor = cursorSchema.optional();
const ofKey = { agent, key: ledgerKeySchema };

/** The memory ledger at the owner's doors: every agent's history, and who may come in. */
export const ledgerOwnerCommands = [
  ownerCommand({
    name: 'ledger.agents',
    title: 'Agents with a key-value memory',
    description:
      'Every agent that has a history in the memory ledger, with what it amounts to, its passport and custody.',
    mutates: false,
    input: z.strictObject(page),
    output: z.strictObject({
      agents: z.array(
        z.strictObject({
          agent_id: ledgerAgentIdSchema,
          principal_id: principalIdSchema.nullable(),
          name: z.string().nullable(),
          usage: ledgerUsageSchema,
          passport: passportSchema.nullable(),
          custody: custodySchema.nullable(),
        }),
      ),
      next_cursor: nextCursor,
    }),
  }),
  ownerCommand({
    name: 'ledger.keys',
    title: 'Keys of an agent',
    description: 'Every key that has a history, deleted and expired ones among them, in the order of the keys.',
    mutates: false,
    input: z.strictObject({ agent, prefix: z.string().max(128).optional(), ...page }),
    output: z.strictObject({ keys: z.array(ledgerKeyStateSchema), next_cursor: nextCursor }),
  }),
  ownerCommand({
    name: 'ledger.history',
    title: 'Versions of a key',
    description: 'Versions of one key without their values, the newest first.',
    mutates: false,
    input: z.strictObject({ ...ofKey, ...page }),
    output: ledgerHistorySchema,
  }),
  ownerCommand({
    name: 'ledger.value_at',
    title: 'A key at a version or a moment',
    description: 'What a key held at one of its versions or at a moment, or why it held nothing.',
    mutates: false,
    input: z.strictObject({ ...ofKey, point: ledgerPointSchema }),
    output: ledgerStateSchema,
  }),
  ownerCommand({
    name: 'ledger.diff',
    title: 'Differences of two versions',
    description: 'What differs between two points of a key: in the value by path, and in what is known of it.',
    mutates: false,
    input: z.strictObject({ ...ofKey, from: ledgerPointSchema, to: ledgerPointSchema, ...page }),
    output: ledgerDiffSchema,
  }),
  ownerCommand({
    name: 'ledger.policies',
    title: 'Policies of an agent',
    description: 'Every consolidation policy that an agent declared, the newest first.',
    mutates: false,
    input: z.strictObject({ agent, ...page }),
    output: z.strictObject({ policies: z.array(policySchema), next_cursor: nextCursor }),
  }),
  ownerCommand({
    name: 'ledger.verify',
    title: 'Verify the memory ledger',
    description:
      'Every version of every key of every agent, its value, digest and chain; policies, custody and totals.',
    mutates: false,
    input: z.strictObject({}),
    output: verifyReportSchema,
  }),
  ownerCommand({
    name: 'custody.open',
    title: 'Open the custody of an agent',
    description: 'Begins the next epoch: from now on the agent may amend its policy.',
    mutates: true,
    power: true,
    input: z.strictObject({
      agent,
      custodian: z
        .string()
        .trim()
        .min(1)
        .max(255)
        .regex(/^\P{C}*$/u, 'printable characters only')
        .optional(),
    }),
    output: custodySchema,
  }),
  ownerCommand({
    name: 'custody.close',
    title: 'Close the custody of an agent',
    description: 'Ends the open epoch: nobody amends the policy until another one is opened.',
    mutates: true,
    power: true,
    input: z.strictObject({ agent }),
    output: custodySchema,
  }),
  ownerCommand({
    name: 'registration.list',
    title: 'Registrations',
    description:
      'Agents that asked to be let in to the memory ledger, the newest first; `waiting`: only those that wait for a decision.',
    mutates: false,
    input: z.strictObject({ waiting: z.boolean().optional(), ...page }),
    output: z.strictObject({
      registrations: z.array(registrationSchema),
      open: z.boolean(),
      next_cursor: nextCursor,
    }),
  }),
  ownerCommand({
    name: 'registration.approve',
    title: 'Let an agent in',
    description: 'Makes the agent; it fetches its key by itself. It may use the memory ledger and nothing else.',
    mutates: true,
    power: true,
    input: z.strictObject({ registration_id: registrationIdSchema }),
    output: registrationSchema,
  }),
  ownerCommand({
    name: 'registration.refuse',
    title: 'Refuse an agent',
    description: 'The agent is told so when it asks again.',
    mutates: true,
    input: z.strictObject({ registration_id: registrationIdSchema }),
    output: registrationSchema,
  }),
  ownerCommand({
    name: 'registration.set_open',
    title: 'Let agents register by themselves',
    description: 'While this is on, an agent that registers is let in at once, without being asked about.',
    mutates: true,
    power: true,
    input: z.strictObject({ open: z.boolean() }),
    output: z.strictObject({ open: z.boolean() }),
  }),
  ownerCommand({
    name: 'ltx.mint',
    title: 'Make a ledger key',
    description:
      'A key of the memory ledger for one agent, shown once. root may do everything there, full all but what needs the root key, memory only keys and values, read only read them.',
    mutates: true,
    power: true,
    input: z.strictObject({ agent, kind: ltxKeyKindSchema }),
    output: z.strictObject({ key: ltxKeySchema, token: z.string() }),
  }),
  ownerCommand({
    name: 'ltx.list',
    title: 'Ledger keys',
    description: 'Keys of the memory ledger, of one agent or of all, newest first; never the secret.',
    mutates: false,
    input: z.strictObject({ agent: agent.optional() }),
    output: z.strictObject({ keys: z.array(ltxKeySchema) }),
  }),
  ownerCommand({
    name: 'ltx.revoke',
    title: 'Revoke a ledger key',
    description: 'The key is refused from the next call on. This cannot be undone; make another.',
    mutates: true,
    power: true,
    input: z.strictObject({ key_id: ltxKeyIdSchema }),
    output: ltxKeySchema,
  }),
  ownerCommand({
    name: 'passport.revoke',
    title: 'Revoke a passport',
    description: 'Nothing that the passport signs counts from now on, and its sessions end. This cannot be undone.',
    mutates: true,
    power: true,
    input: z.strictObject({ agent }),
    output: passportSchema,
  }),
] as const;
