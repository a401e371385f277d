import type { Principal } from '../../src-preload/contract/principal.ts';
import { Fault } from '../base/fault.ts';
import type { CharonContext } from './context.ts';
import type { Ltx } from './ltx-api.ts';
import { mintKey, reapproveKey, revokeKey, rotateKey, wasRevoked } from './ltx-keys.ts';
import { createUseKeeper } from './obols.ts';
import { makeChallenge, prove, requirePassport, revokePassport, signIn } from './passports.ts';
import {
  approveRegistration,
  claim,
  lookAtRegistration,
  pageOfRegistrations,
  refuseRegistration,
  register,
  registrationOf,
} from './registrations.ts';
import { principalIdOf } from './rules/agent-id.ts';
import { openRegistration, setOpenRegistration } from './settings.ts';
import { listKeys, updateKeyUse } from './tables/ltx-keys.ts';
import { findPassport } from './tables/passports.ts';
import { findPrincipal } from './tables/principals.ts';

/** Who may come in to the memory ledger, over an open policy engine. */
export function ltxVerbs(context: CharonContext): Ltx {
  const { db } = context;
  const findAgent = (text: string): Principal | undefined => findPrincipal(db, principalIdOf(text) ?? '');
  return {
    findAgent,
    getAgent: (text) => {
      const found = findAgent(text);
      if (found !== undefined) return found;
      throw new Fault('PRINCIPAL_NOT_FOUND', 'agent names no agent. `principal list` shows them all.', {
        field: 'agent',
      });
    },
    findRegistrationOf: (principalId) => registrationOf(context, principalId),
    mintKey: (input) => mintKey(context, input),
    listKeys: (principalId) => listKeys(db, principalId),
    revokeKey: (keyId) => revokeKey(context, keyId),
    reapproveKey: (keyId) => reapproveKey(context, keyId),
    rotateKey: (caller) => rotateKey(context, caller),
    wasRevoked: (token) => wasRevoked(context, token),
    noteKeyUse: createUseKeeper(context, updateKeyUse),
    register: async (request) => register(context, request),
    lookAtRegistration: (registrationId, pollToken) => lookAtRegistration(context, registrationId, pollToken),
    claimRegistration: (registrationId, pollToken) => claim(context, registrationId, pollToken),
    listRegistrations: (page) => pageOfRegistrations(context, page),
    approveRegistration: (registrationId) => approveRegistration(context, registrationId),
    refuseRegistration: (registrationId) => refuseRegistration(context, registrationId),
    openRegistration: () => openRegistration(context),
    setOpenRegistration: (on) => setOpenRegistration(context, on),
    findPassport: (principalId) => findPassport(db, principalId),
    revokePassport: (principalId) => revokePassport(context, principalId),
    challenge: (principalId) => makeChallenge(context, principalId),
    requirePassport: (principalId) => requirePassport(context, principalId),
    prove: (principalId, proof, messageOf) => prove(context, principalId, proof, messageOf),
    signIn: (principalId, proof) => signIn(context, principalId, proof),
  };
}
