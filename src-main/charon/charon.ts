import type { Door } from '../../src-preload/contract/audit.ts';
import type { Principal } from '../../src-preload/contract/principal.ts';
import { assert } from '../base/assert.ts';
import { checkFile } from '../sqlite/check-file.ts';
import type { Caller, Charon } from './api.ts';
import { doAllChores } from './chores.ts';
import { ownerConfirmation } from './confirmation.ts';
import type { CharonContext } from './context.ts';
import { draftResolution, dropResolution } from './drafts.ts';
import { ltxVerbs } from './ltx.ts';
import { authenticateLtx } from './ltx-keys.ts';
import { mergeProposal } from './merge.ts';
import { settleMerges } from './merge-settle.ts';
import { oauthVerbs } from './oauth.ts';
import { authenticate, createUseKeeper, mintObol, reapproveObol, revokeObol } from './obols.ts';
import { type CharonOptions, openContext } from './open.ts';
import { getPrincipal, reconcilePrincipal, revokeGrant, setPrincipalEnabled } from './principals.ts';
import { cancelProposal, expireProposals, findFiled, findProposal, listProposals, openProposal } from './proposals.ts';
import { propose } from './propose.ts';
import { requireQuota, takeQuota } from './quotas.ts';
import { findStrayAdvances, listAmbiguousIntents, reconcileProposals } from './reconcile.ts';
import { findReplay, rememberReplay } from './replays.ts';
import { proposeRevert } from './revert.ts';
import { review } from './review.ts';
import { scopesOf } from './rules/profiles.ts';
import { ownedPrefixes, requireCreatableRef, requireOwnedRef } from './rules/ref-ownership.ts';
import { requireGrant, requireScope } from './rules/rights.ts';
import { ownerSelfMerge, setOwnerSelfMerge } from './settings.ts';
import { settle, settleByHand } from './settle.ts';
import { isAnyProjectNamed } from './tables/audit-entries.ts';
import { listObols, updateLastUse } from './tables/obols.ts';
import { listOpenIntents } from './tables/open-intents.ts';
import { findOwner, findPrincipal, listPrincipals } from './tables/principals.ts';
import { countPending } from './tables/proposals.ts';

/**
 * Opens the policy engine of a home (`charon.md`). One process owns the home; the caller holds its lock.
 * Throws `HOME_INVALID` and the store's own faults.
 */
export async function openCharon(options: CharonOptions): Promise<Charon> {
  const { context, close } = await openContext(options);
  const { db, audit } = context;
  return {
    homeId: context.homeId,
    readOnly: context.readOnly,
    audit,
    owner: () => getOwner(context),
    ownerCaller: (door) => ownerCaller(context, door),
    authenticate: (token, door) =>
      token.startsWith('ltx_') ? authenticateLtx(context, token, door) : authenticate(context, token, door),
    noteUse: createUseKeeper(context, updateLastUse),
    word: ownerConfirmation(context),
    ltx: ltxVerbs(context),
    oauth: oauthVerbs(context),
    requireScope,
    requireGrant,
    requireOwnedRef,
    requireCreatableRef,
    ownedPrefixes,
    listPrincipals: () => listPrincipals(db),
    getPrincipal: (principalId) => getPrincipal(db, principalId),
    findPrincipal: (principalId) => findPrincipal(db, principalId),
    reconcilePrincipal: (input) => reconcilePrincipal(context, input),
    setPrincipalEnabled: (principalId, enabled) => setPrincipalEnabled(context, principalId, enabled),
    revokeGrant: (principalId, grant) => revokeGrant(context, principalId, grant),
    mintObol: (input) => mintObol(context, input),
    listObols: (principalId) => listObols(db, principalId),
    revokeObol: (obolId) => revokeObol(context, obolId),
    reapproveObol: (obolId) => reapproveObol(context, obolId),
    requireQuota: (principalId, use) => requireQuota(context, principalId, use),
    takeQuota: (principalId, use) => takeQuota(context, principalId, use),
    findReplay: (key, requestDigest) => findReplay(db, { key, requestDigest }),
    rememberReplay: (key, requestDigest, answerIds) => rememberReplay(context, { key, requestDigest }, answerIds),
    propose: (caller, input, request) => propose(context, caller, input, request),
    proposeRevert: (caller, input, request) => proposeRevert(context, caller, input, request),
    draftResolution: (caller, proposalId, chosen) => draftResolution(context, caller, proposalId, chosen),
    dropResolution: (proposalId, conflictKey) => dropResolution(context, proposalId, conflictKey),
    findFiled: (proposalId) => findFiled(context, proposalId),
    findProposal: (proposalId) => findProposal(context, proposalId),
    showProposal: async (caller, proposalId, page) => (await openProposal(context, caller, proposalId))(page),
    openProposal: (caller, proposalId) => openProposal(context, caller, proposalId),
    listProposals: (input) => listProposals(context, input),
    countPending: (projectId) => countPending(db, projectId, context.clock.nowMs()),
    review: (caller, input) => review(context, caller, input),
    merge: (caller, proposalId, request) => mergeProposal(context, caller, proposalId, request),
    cancel: (caller, proposalId) => cancelProposal(context, caller, proposalId),
    knowsProjects: () => isAnyProjectNamed(db),
    ownerSelfMerge: () => ownerSelfMerge(context),
    setOwnerSelfMerge: (on) => setOwnerSelfMerge(context, on),
    expireProposals: async () => {
      await settleMerges(context);
      const expired = await expireProposals(context);
      if (!context.readOnly) await doAllChores(context);
      return expired;
    },
    settle: () => settle(context),
    settleByHand: () => settleByHand(context),
    listAmbiguousIntents: () => listAmbiguousIntents(context),
    countOpenIntents: () => listOpenIntents(db).filter(({ ambiguous }) => !ambiguous).length,
    record: audit.noteSystem,
    reconcileProposals: () => reconcileProposals(context),
    findStrayAdvances: (projectId, advances, seen) => findStrayAdvances(context, projectId, advances, seen),
    checkFile: () => checkFile((chunk) => chunk(db)),
    close: async () => {
      try {
        await audit.close();
      } finally {
        context.batch.close();
        close();
      }
    },
  };
}

function getOwner(context: CharonContext): Principal {
  const owner = findOwner(context.db);
  assert(owner !== undefined, 'a home has an owner from its first start on');
  return owner;
}

function ownerCaller(context: CharonContext, door: Door): Caller {
  assert(door !== 'agent', 'the owner never enters through the agent door');
  const principal = getOwner(context);
  return { principal, scopes: scopesOf(principal.profile), credential: { kind: 'owner', id: door }, door };
}
