import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** Who may do what: agents, their profiles and grants. For the owner alone. */
export function principalCommands({ charon }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('principal.list'), {
      run: () => ({
        principals: charon.listPrincipals().map((principal) => ({
          ...principal,
          obols: [...charon.listObols(principal.principal_id)],
          owned_prefixes: [...charon.ownedPrefixes(principal)],
        })),
      }),
    }),
    bind(rowOf('principal.reconcile'), {
      objects: (input) => [input.profile, input.project],
      run: ({ input }) =>
        charon.reconcilePrincipal({
          name: input.name,
          profile: input.profile,
          grant: input.project,
          actorId: input.actor_id,
        }),
      effects: ({ principal }) => [principal.principal_id],
    }),
    bind(rowOf('principal.set_enabled'), {
      objects: (input) => [input.principal_id, input.enabled ? 'enabled' : 'disabled'],
      prepare: ({ input }) => void charon.getPrincipal(input.principal_id),
      run: ({ input }) => charon.setPrincipalEnabled(input.principal_id, input.enabled),
    }),
    bind(rowOf('principal.revoke_grant'), {
      objects: (input) => [input.principal_id, input.project],
      prepare: ({ input }) => void charon.getPrincipal(input.principal_id),
      run: ({ input }) => charon.revokeGrant(input.principal_id, input.project),
    }),
  ];
}
