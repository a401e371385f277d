import { z } from 'zod';
import { ownerCommand } from '../command.ts';
import { principalIdSchema } from '../ids.ts';
import { oauthGrantIdSchema, oauthGrantSchema, oauthRequestIdSchema, oauthRequestSchema } from '../oauth.ts';

const oneRequest = z.strictObject({ request_id: oauthRequestIdSchema });
const state = z.strictObject({ enabled: z.boolean() });

/** Signing in with OAuth, at the owner's doors: off until the owner turns it on, and nobody is let in without the owner. */
export const oauthCommands = [
  ownerCommand({
    name: 'oauth.status',
    title: 'Signing in with OAuth',
    description: 'Whether programs may ask to sign in.',
    mutates: false,
    input: z.strictObject({}),
    output: state,
  }),
  ownerCommand({
    name: 'oauth.set_enabled',
    title: 'Turn signing in on or off',
    description:
      'On: programs may ask to sign in, and the owner decides each time. Off: no endpoint is there, and what was let in is refused from the next call on.',
    mutates: true,
    power: true,
    input: state,
    output: state,
  }),
  ownerCommand({
    name: 'oauth.pending',
    title: 'Programs that ask to sign in',
    description: 'What waits for the owner, the newest first.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ requests: z.array(oauthRequestSchema) }),
  }),
  ownerCommand({
    name: 'oauth.approve',
    title: 'Let a program in',
    description:
      'Lets the program work as one principal for 24 hours, with what its profile allows but review, merge and trusted writes. Compare the number with that in the browser first.',
    mutates: true,
    power: true,
    input: z.strictObject({ ...oneRequest.shape, principal_id: principalIdSchema }),
    output: oauthRequestSchema,
  }),
  ownerCommand({
    name: 'oauth.refuse',
    title: 'Turn a program away',
    description: 'The program is told that it was refused; it may ask again.',
    mutates: true,
    input: oneRequest,
    output: oauthRequestSchema,
  }),
  ownerCommand({
    name: 'oauth.grants',
    title: 'Programs that were let in',
    description: 'Every access that was given by signing in and is not over, the newest first; never the token.',
    mutates: false,
    input: z.strictObject({}),
    output: z.strictObject({ grants: z.array(oauthGrantSchema) }),
  }),
  ownerCommand({
    name: 'oauth.revoke',
    title: 'End the access of a program',
    description: 'Its token is refused from the next call on. This cannot be undone; it may sign in again.',
    mutates: true,
    power: true,
    input: z.strictObject({ grant_id: oauthGrantIdSchema }),
    output: oauthGrantSchema,
  }),
] as const;
