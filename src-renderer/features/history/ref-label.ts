import { shortRef } from '../../ui/words.ts';

/** A branch as its owner would call it: `refs/agents/<actor>/auth` is "claude-laptop/auth"; other refs lose only `refs/`. */
export function refLabel(refName: string, nameOf: (principalId: string) => string): string {
  const [, space, actor, ...rest] = refName.split('/');
  if ((space === 'agents' || space === 'sessions') && actor !== undefined) {
    return [nameOf(actor), ...(space === 'sessions' ? ['session'] : []), ...rest].join('/');
  }
  return shortRef(refName);
}
