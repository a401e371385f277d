import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { Fault } from '../base/fault.ts';
import { amendmentText } from '../canonical/consolidation.ts';
import type { Caller } from '../charon/api.ts';
import { inBase64Url } from '../charon/rules/passport-key.ts';
import { requireRootKey, requireWholeKey } from '../charon/rules/rights.ts';
import { readPolicyParams, requireTemplate } from '../ledger/rules/policy-params.ts';
import { type BoundCommand, bind, type Call, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { agentObjects, agentOf, changed } from './ledger-agent.ts';

/** Who an agent of the ledger is, its root key and its policy (`ledger.md` §1, §5). */
export function ledgerAccountCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { charon, ledger } = deps;
  return [
    bind(rowOf('ledger.me'), {
      objects: agentObjects,
      prepare: ({ caller }) => requireWholeKey(caller),
      run: ({ caller }) => describeCaller(deps, caller),
    }),
    bind(rowOf('ledger.rotate_key'), {
      objects: agentObjects,
      prepare: ({ caller }) => void requireRootKey(caller),
      run: async ({ caller }) => {
        const { key, token } = await charon.ltx.rotateKey(caller);
        return { status: 'success' as const, agent_id: key.agent_id, key_id: key.key_id, api_key: token };
      },
      effects: ({ key_id: keyId }) => [`ltx_${keyId}`],
    }),
    bind(rowOf('ledger.policy'), {
      objects: agentObjects,
      prepare: ({ caller }) => void requireRootKey(caller),
      run: ({ caller }) => {
        const { template_id, params } = ledger.getPolicy(agentOf(caller));
        return { status: 'success' as const, template_id, params };
      },
    }),
    bind(rowOf('ledger.amend_policy'), {
      objects: agentObjects,
      prepare: (call) => requireAmendable(deps, call),
      run: (call) => amend(deps, call),
      effects: ({ policy_id: policyId }) => [policyId],
    }),
  ];
}

/** What must hold before an amendment is recorded as begun, in the order of `ledger.md` §5 up to its signature. */
function requireAmendable({ charon, ledger }: CommandDeps, { input, caller }: AmendCall): void {
  requireRootKey(caller);
  requireTemplate(input.template_id);
  readPolicyParams(input.params);
  charon.ltx.requirePassport(caller.principal.principal_id);
  if (ledger.findCustody(agentOf(caller))?.state === 'open') return;
  throw new Fault(
    'CONSOLIDATION_POLICY_AMEND_FORBIDDEN',
    'No custody epoch of this agent is open, so its policy cannot be amended. Ask the owner to open one.',
  );
}

type AmendCall = Call<{
  readonly template_id: string;
  readonly params: CommandOutput<'ledger.policy'>['params'];
  readonly challenge_id?: string | undefined;
  readonly passport_signature?: string | undefined;
}>;

/** Signature, then the append; a challenge whose append fails is burnt all the same, and a new one is asked for. */
async function amend(deps: CommandDeps, { input, caller }: AmendCall): Promise<CommandOutput<'ledger.amend_policy'>> {
  const { template_id: templateId, params, passport_signature: signature } = input;
  const principalId = caller.principal.principal_id;
  const { public_key: publicKey } = deps.charon.ltx.requirePassport(principalId);
  const proof = { challengeId: input.challenge_id, signature };
  const challenge = await deps.charon.ltx.prove(principalId, proof, (asked) =>
    amendmentText({
      challengeId: asked.challenge_id,
      challengeNonce: asked.nonce,
      templateId,
      params,
      issuedAt: asked.issued_at,
      expiresAt: asked.expires_at,
    }),
  );
  const agentId = agentOf(caller);
  const policy = await deps.ledger.appendPolicy({
    agentId,
    templateId,
    params,
    challengeId: challenge.challenge_id,
    challengeNonce: challenge.nonce,
    issuedAt: challenge.issued_at,
    expiresAt: challenge.expires_at,
    signature: signature ?? '',
    publicKey: inBase64Url(publicKey),
  });
  changed(deps, agentId);
  const { digest: _digest, ...said } = policy;
  return { status: 'success', ...said };
}

function describeCaller({ charon, ledger }: CommandDeps, caller: Caller): CommandOutput<'ledger.me'> {
  const { principal, credential } = caller;
  const passport = charon.ltx.findPassport(principal.principal_id);
  const agentId = agentOf(caller);
  return {
    status: 'success',
    agent_id: agentId,
    agent_name: principal.name,
    owner_identifier: charon.ltx.findRegistrationOf(principal.principal_id)?.owner_identifier ?? null,
    created_at: principal.created_at,
    key: { kind: credential.kind === 'ltx' ? credential.key : credential.kind, id: credential.id },
    passport: passport === undefined ? null : { did: passport.did, revoked: passport.revoked_at !== null },
    usage: ledger.usage(agentId),
  };
}
