import type { LedgerAgentId } from '../../src-preload/contract/ledger.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import { agentIdOf } from '../charon/rules/agent-id.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { openFirstCustody } from './ledger-custody.ts';
import { fitPage, nextCursor } from './page.ts';

/** The memory ledger at the owner's doors: every agent's history, custody, and who may come in. For the owner alone. */
export function ledgerOwnerCommands(deps: CommandDeps): readonly BoundCommand[] {
  return [
    ...historyCommands(deps),
    ...verifyCommands(deps),
    ...policyCommands(deps),
    ...registrationCommands(deps),
    ...keyCommands(deps),
  ];
}

function historyCommands({ charon, ledger }: CommandDeps): readonly BoundCommand[] {
  const idOf = (agent: string): LedgerAgentId => agentIdOf(charon.ltx.getAgent(agent).principal_id);
  return [
    bind(rowOf('ledger.agents'), {
      run: ({ input: { limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => {
            const page = ledger.listAgents({ limit: count, cursor });
            const agents = page.agents.map(({ agent_id: agentId, usage }) => {
              const principal = charon.ltx.findAgent(agentId);
              const passport = principal && charon.ltx.findPassport(principal.principal_id);
              return {
                agent_id: agentId,
                principal_id: principal?.principal_id ?? null,
                name: principal?.name ?? null,
                usage,
                passport: passport ?? null,
                custody: ledger.findCustody(agentId) ?? null,
              };
            });
            return { agents, ...nextCursor(page.nextCursor) };
          },
          ({ agents }) => agents.length,
        ),
    }),
    bind(rowOf('ledger.keys'), {
      run: ({ input: { agent, prefix, limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => {
            const page = ledger.listKeys({ agentId: idOf(agent), prefix, limit: count, cursor });
            return { keys: [...page.keys], ...nextCursor(page.nextCursor) };
          },
          ({ keys }) => keys.length,
        ),
    }),
    bind(rowOf('ledger.history'), {
      run: ({ input: { agent, key, limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => ledger.history({ agentId: idOf(agent), key, limit: count, cursor }),
          ({ versions }) => versions.length,
        ),
    }),
    bind(rowOf('ledger.value_at'), {
      run: ({ input: { agent, key, point } }) => ledger.valueAt({ agentId: idOf(agent), key, point }),
    }),
    bind(rowOf('ledger.diff'), {
      run: ({ input: { agent, key, from, to, limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => ledger.diff({ agentId: idOf(agent), key, from, to, limit: count, cursor }),
          ({ changes }) => changes.length,
        ),
    }),
  ];
}

function verifyCommands({ ledger, onProgress }: CommandDeps): readonly BoundCommand[] {
  return [bind(rowOf('ledger.verify'), { run: () => ledger.verify(onProgress) })];
}

function policyCommands({ charon, ledger, events }: CommandDeps): readonly BoundCommand[] {
  const changed = (agentId: LedgerAgentId): void => events.publish([{ kind: 'ledger_changed', agent_id: agentId }]);
  return [
    bind(rowOf('ledger.policies'), {
      run: ({ input: { agent, limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => {
            const agentId = agentIdOf(charon.ltx.getAgent(agent).principal_id);
            const page = ledger.listPolicies({ agentId, limit: count, cursor });
            return { policies: [...page.policies], ...nextCursor(page.nextCursor) };
          },
          ({ policies }) => policies.length,
        ),
    }),
    bind(rowOf('custody.open'), {
      objects: ({ agent }) => [agent],
      prepare: ({ input }) => void charon.ltx.getAgent(input.agent),
      run: async ({ input }) => {
        const { principal_id: principalId, name } = charon.ltx.getAgent(input.agent);
        const registered = charon.ltx.findRegistrationOf(principalId)?.owner_identifier;
        const agentId = agentIdOf(principalId);
        const custody = await ledger.openCustody(agentId, input.custodian ?? registered ?? name);
        changed(agentId);
        return custody;
      },
      effects: ({ current_epoch: epoch }) => [`epoch:${epoch}`],
    }),
    bind(rowOf('custody.close'), {
      objects: ({ agent }) => [agent],
      prepare: ({ input }) => void charon.ltx.getAgent(input.agent),
      run: async ({ input }) => {
        const agentId = agentIdOf(charon.ltx.getAgent(input.agent).principal_id);
        const custody = await ledger.closeCustody(agentId);
        changed(agentId);
        return custody;
      },
      effects: ({ current_epoch: epoch }) => [`epoch:${epoch}`],
    }),
  ];
}

function registrationCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { ltx } = deps.charon;
  return [
    bind(rowOf('registration.list'), {
      run: ({ input: { waiting = false, limit = listLimitDefault, cursor } }) =>
        fitPage(
          limit,
          (count) => {
            const page = ltx.listRegistrations({ waiting, limit: count, cursor });
            const open = ltx.openRegistration();
            return { registrations: [...page.registrations], open, ...nextCursor(page.nextCursor) };
          },
          ({ registrations }) => registrations.length,
        ),
    }),
    bind(rowOf('registration.approve'), {
      objects: ({ registration_id: id }) => [id],
      run: async ({ input }) => {
        const registration = await ltx.approveRegistration(input.registration_id);
        if (registration.principal_id !== null)
          await openFirstCustody(deps, registration.principal_id, registration.owner_identifier);
        return registration;
      },
      effects: ({ principal_id: id }) => (id === null ? [] : [id]),
    }),
    bind(rowOf('registration.refuse'), {
      objects: ({ registration_id: id }) => [id],
      run: ({ input }) => ltx.refuseRegistration(input.registration_id),
    }),
    bind(rowOf('registration.set_open'), {
      objects: ({ open }) => [open ? 'open' : 'asked'],
      run: async ({ input: { open } }) => {
        await ltx.setOpenRegistration(open);
        return { open: ltx.openRegistration() };
      },
    }),
  ];
}

function keyCommands({ charon: { ltx } }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('ltx.mint'), {
      objects: ({ agent, kind }) => [agent, kind],
      prepare: ({ input }) => void ltx.getAgent(input.agent),
      run: ({ input: { agent, kind } }) => ltx.mintKey({ principalId: ltx.getAgent(agent).principal_id, kind }),
      effects: ({ key }) => [`ltx_${key.key_id}`],
    }),
    bind(rowOf('ltx.list'), {
      run: ({ input: { agent } }) => ({
        keys: [...ltx.listKeys(agent === undefined ? undefined : ltx.getAgent(agent).principal_id)],
      }),
    }),
    bind(rowOf('ltx.revoke'), {
      objects: ({ key_id: id }) => [`ltx_${id}`],
      run: ({ input }) => ltx.revokeKey(input.key_id),
    }),
    bind(rowOf('passport.revoke'), {
      objects: ({ agent }) => [agent],
      prepare: ({ input }) => void ltx.getAgent(input.agent),
      run: ({ input }) => ltx.revokePassport(ltx.getAgent(input.agent).principal_id),
    }),
  ];
}
