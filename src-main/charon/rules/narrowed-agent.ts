import type { AgentProfile, Profile } from '../../../src-preload/contract/principal.ts';

/** What an agent may do, in one of two states of a home. */
export interface AgentRights {
  readonly profile: Profile;
  readonly enabled: boolean;
  readonly projects: ReadonlySet<string>;
}

/** Profiles by how much is trusted to them; they are not contained in each other, so the middle two need not compare. */
const trust: Readonly<Record<AgentProfile, number>> = { readonly: 0, propose: 1, review: 2, write: 2 };

/**
 * An agent of a restored state with what was taken from it since taken away again (`charon.md` §7): disabled where either side
 * has it disabled, the lesser profile, the projects of both. Two profiles of equal trust: that of the later state.
 */
export function narrowedAgent(
  restored: AgentRights,
  later: AgentRights,
): { readonly profile: AgentProfile; readonly enabled: boolean; readonly projects: ReadonlySet<string> } | undefined {
  if (restored.profile === 'owner' || later.profile === 'owner') return undefined;
  return {
    profile: trust[later.profile] <= trust[restored.profile] ? later.profile : restored.profile,
    enabled: restored.enabled && later.enabled,
    projects: new Set([...restored.projects].filter((project) => later.projects.has(project))),
  };
}
