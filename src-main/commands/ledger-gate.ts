import { z } from 'zod';
import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import type { Custody, LedgerAgentId } from '../../src-preload/contract/ledger.ts';
import { type Passport, type PassportChallenge, registerRequestSchema } from '../../src-preload/contract/ltx.ts';
import { Fault, toFault } from '../base/fault.ts';
import type { AuditSubject } from '../charon/api.ts';
import type { Polled, Registered } from '../charon/ltx-api.ts';
import { agentIdOf } from '../charon/rules/agent-id.ts';
import { signInMessage } from '../charon/rules/passport-challenge.ts';
import type { CommandDeps } from './deps.ts';
import { inputDigest } from './digest.ts';
import { openFirstCustody } from './ledger-custody.ts';
import { parseFields } from './ledger-fields.ts';

/** A sign-in as a stranger sends it. */
const challengeRequestSchema = z.strictObject({ agent_id: z.string().max(128) });
const signInRequestSchema = z.strictObject({
  agent_id: z.string().max(128),
  challenge_id: z.string().max(128),
  signature: z.string().max(256),
});

/** What may be asked of the memory ledger without a credential (`ledger.md` §1, §5). Inputs are as they came. */
export interface LedgerGate {
  /** Throws INPUT_INVALID, AGENT_ALREADY_EXISTS, QUOTA, READ_ONLY. */
  register(body: unknown): Promise<Registered>;
  /** Throws UNAUTHENTICATED, READ_ONLY when a key would have to be made. */
  poll(registrationId: string, pollToken: string): Promise<Polled>;
  /** Throws INPUT_INVALID, PASSPORT_NOT_FOUND, PASSPORT_REVOKED, READ_ONLY. */
  challenge(body: unknown): Promise<{ readonly challenge: PassportChallenge; readonly signPayload: string }>;
  /** Throws INPUT_INVALID, PASSPORT_NOT_FOUND, PASSPORT_REVOKED, PASSPORT_SIGNATURE_INVALID, READ_ONLY. */
  signIn(body: unknown): Promise<{
    readonly agentId: LedgerAgentId;
    readonly token: string;
    readonly expiresInSeconds: number;
  }>;
  /** Throws PASSPORT_NOT_FOUND. */
  passport(agent: string): { readonly passport: Passport; readonly custody: Custody | undefined };
  /** Throws CONSOLIDATION_POLICY_NOT_FOUND. */
  policyTemplate(agent: string): string;
  /** The key is one of this home, whole, that was revoked. */
  wasRevoked(token: string): boolean;
}

/** Builds the gate: as in the pipeline, what changes anything has a durable intent, and an outcome (`charon.md` §6). */
export function createLedgerGate(deps: CommandDeps): LedgerGate {
  const { charon, ledger } = deps;
  const { ltx } = charon;
  return {
    register: async (body) => {
      const request = parseFields(registerRequestSchema, body);
      const done = await audited(deps, 'ledger.register', request, () => ltx.register(request), registeredObjects);
      if (done.kind === 'registered') await openFirstCustody(deps, done.agent, request.owner_identifier);
      return done;
    },
    poll: async (registrationId, pollToken) => {
      const looked = ltx.lookAtRegistration(registrationId, pollToken);
      if (looked.kind !== 'decided') return looked;
      const input = { registration_id: registrationId };
      const claim = (): Promise<Polled> => ltx.claimRegistration(registrationId, pollToken);
      const polled = await audited(deps, 'ledger.claim', input, claim, (done) =>
        done.kind === 'registered' ? [registrationId, done.agent] : [registrationId],
      );
      if (polled.kind === 'registered') await openFirstCustody(deps, polled.agent, polled.owner);
      return polled;
    },
    challenge: async (body) => {
      const { agent_id: agent } = parseFields(challengeRequestSchema, body);
      const principalId = requireHolder(deps, agent);
      const make = (): Promise<PassportChallenge> => ltx.challenge(principalId);
      const challenge = await audited(deps, 'ledger.challenge', { agent }, make, (made) => [
        made.agent_id,
        made.challenge_id,
      ]);
      return { challenge, signPayload: signInMessage(challenge) };
    },
    signIn: async (body) => {
      const { agent_id: agent, challenge_id: challengeId, signature } = parseFields(signInRequestSchema, body);
      const principalId = requireHolder(deps, agent);
      const agentId = agentIdOf(principalId);
      const signIn = () => ltx.signIn(principalId, { challengeId, signature });
      const done = await audited(deps, 'ledger.sign_in', { agent, challengeId }, signIn, () => [agentId]);
      return { agentId, ...done };
    },
    passport: (agent) => {
      const principalId = requireHolder(deps, agent);
      const passport = ltx.findPassport(principalId);
      if (passport === undefined) throw passportNotFound();
      return { passport, custody: ledger.findCustody(agentIdOf(principalId)) };
    },
    policyTemplate: (agent) => {
      const principal = ltx.findAgent(agent);
      if (principal === undefined)
        throw new Fault('CONSOLIDATION_POLICY_NOT_FOUND', 'There is no consolidation policy of that agent.');
      return ledger.getPolicy(agentIdOf(principal.principal_id)).template_id;
    },
    wasRevoked: (token) => ltx.wasRevoked(token),
  };
}

/** One text for an agent that does not exist and for one without a passport. */
function requireHolder({ charon }: CommandDeps, agent: string): PrincipalId {
  const principal = charon.ltx.findAgent(agent);
  if (principal !== undefined && charon.ltx.findPassport(principal.principal_id) !== undefined)
    return principal.principal_id;
  throw passportNotFound();
}

function passportNotFound(): Fault {
  return new Fault(
    'PASSPORT_NOT_FOUND',
    'There is no passport of that agent. An agent brings its passport_public_key when it registers.',
  );
}

function registeredObjects(done: Registered): readonly string[] {
  const { registration_id: id } = done.registration;
  return done.kind === 'registered' ? [id, done.agent] : [id];
}

/** Runs what a stranger asks for between its intent and its outcome. Throws READ_ONLY, AUDIT_UNAVAILABLE and what it throws. */
async function audited<Result>(
  deps: CommandDeps,
  command: string,
  input: unknown,
  run: () => Promise<Result>,
  objectsOf: (result: Result) => readonly string[],
): Promise<Result> {
  if (deps.recoveryReadonly)
    throw new Fault(
      'READ_ONLY',
      'Memory Git was started read-only for recovery. Reading works; nothing can be changed.',
    );
  const subject: AuditSubject = {
    principal: '',
    credentialKind: 'none',
    credentialId: '',
    door: 'agent',
    command,
    project: '',
    objectIds: [],
    requestDigest: inputDigest(input) ?? '',
    correlationId: deps.ids.uuidv7(),
  };
  const leave = await deps.backups?.stillness.enter();
  try {
    await deps.charon.audit.intent(subject);
  } catch (thrown) {
    leave?.();
    throw thrown;
  }
  try {
    const result = await run();
    deps.charon.audit.outcome({ ...subject, objectIds: objectsOf(result) }, 'ok');
    return result;
  } catch (thrown) {
    const fault = toFault(thrown);
    deps.charon.audit.outcome(subject, `${fault.kind} ${fault.code}`);
    throw fault;
  } finally {
    leave?.();
  }
}
