import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** Programs that sign in with OAuth. For the owner alone: nobody is let in otherwise. */
export function oauthCommands({ charon }: CommandDeps): readonly BoundCommand[] {
  const { oauth } = charon;
  return [
    bind(rowOf('oauth.status'), { run: () => ({ enabled: oauth.enabled() }) }),
    bind(rowOf('oauth.set_enabled'), {
      objects: ({ enabled }) => [enabled ? 'on' : 'off'],
      run: async ({ input: { enabled } }) => {
        await oauth.setEnabled(enabled);
        return { enabled: oauth.enabled() };
      },
    }),
    bind(rowOf('oauth.pending'), { run: () => ({ requests: [...oauth.listPending()] }) }),
    bind(rowOf('oauth.approve'), {
      objects: (input) => [input.request_id, input.principal_id],
      prepare: ({ input }) => void charon.getPrincipal(input.principal_id),
      run: ({ input }) => oauth.approve(input.request_id, input.principal_id),
    }),
    bind(rowOf('oauth.refuse'), {
      objects: (input) => [input.request_id],
      run: ({ input }) => oauth.refuse(input.request_id),
    }),
    bind(rowOf('oauth.grants'), { run: () => ({ grants: [...oauth.listGrants()] }) }),
    bind(rowOf('oauth.revoke'), {
      objects: (input) => [input.grant_id],
      run: ({ input }) => oauth.revoke(input.grant_id),
    }),
  ];
}
