import type { MemoryStorePort } from '../charon/store-port.ts';
import type { Lethe } from '../lethe/api.ts';

/**
 * The store of this process as the policy engine sees it. `lethe` is asked at every call, since the policy engine opens
 * first: it knows the owner's principal, which the store needs.
 */
export function letheAdapter(lethe: () => Lethe): MemoryStorePort {
  return {
    findRef: async (projectId, refName) => lethe().findRef(projectId, refName),
    findChangeset: async (changesetId) => lethe().findChangeset(changesetId),
    isAncestor: async (ancestor, descendant) => lethe().isAncestor(ancestor, descendant),
    mergePreview: async (input) => lethe().mergePreview(input),
    proposalDiff: async ({ base, head, limit, cursor }) =>
      lethe().diff({ baseChangesetId: base, targetChangesetId: head, side: 'target', limit, cursor }),
    originators: async (from, to) => lethe().originators(from, to),
    commitDetached: (input) => lethe().commit({ ...input, advanceRef: false }),
    advance: (input) => lethe().advance(input),
    findAdvance: async (by) => lethe().findAdvance(by),
    findChangesetByKey: async (projectId, authorPrincipal, idempotencyKey) =>
      lethe().findChangesetByKey(projectId, authorPrincipal, idempotencyKey),
  };
}
