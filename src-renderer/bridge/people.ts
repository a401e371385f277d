import { useEngineQuery } from './queries.tsx';

/** Names for principal ids, as far as they are known; unknown ids stay as they are. */
export function usePeople(): (principalId: string) => string {
  const answer = useEngineQuery('principal.list', {});
  const status = useEngineQuery('engine.status', {});
  const names = new Map(answer.data?.principals.map((principal) => [String(principal.principal_id), principal.name]));
  const owner = status.data?.owner;
  if (owner !== undefined) names.set(owner.principal_id, owner.name);
  return (principalId) => names.get(principalId) ?? principalId;
}
