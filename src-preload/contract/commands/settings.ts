import { z } from 'zod';
import { ownerCommand } from '../command.ts';

/** What the owner set that decides what may happen here (`charon.md` §6): kept under the ledger's MAC. */
export const settingCommands = [
  ownerCommand({
    name: 'setting.show',
    title: 'Settings',
    description: 'The settings that matter for security, as they count at this moment.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ owner_self_merge: z.boolean() }),
  }),
  ownerCommand({
    name: 'setting.set_owner_self_merge',
    title: 'Let the owner merge the owner’s own proposals',
    description:
      'Whether the owner, at the owner’s doors, may merge what the owner proposed. Each such merge is recorded as one.',
    mutates: true,
    power: true,
    input: z.strictObject({ on: z.boolean() }),
    output: z.strictObject({ owner_self_merge: z.boolean() }),
  }),
] as const;
