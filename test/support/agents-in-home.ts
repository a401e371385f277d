import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import { openHome } from '../../src-main/home/open.ts';
import { type ProjectId, refNameSchema } from '../../src-preload/contract/ids.ts';
import type { AgentProfile } from '../../src-preload/contract/principal.ts';

/** A home on disk that nobody holds, with one project, one branch at its root, and tokens for some agents. */
export interface PreparedHome {
  readonly root: string;
  readonly ref: string;
  readonly tokens: readonly string[];
}

/** Makes such a home, whatever its folder; agents are called `agent 1` and so on. */
export async function prepareAgents(
  root: string,
  projectId: ProjectId,
  agents: readonly AgentProfile[],
): Promise<PreparedHome> {
  const [clock, ids] = [systemClock, systemIds()];
  const home = await openHome({ root, env: {}, clock, ids });
  const { charon, lethe, close } = await openStores({ home, clock, ids, log: silentLog, onEvents: () => {} });
  const owner = charon.owner().principal_id;
  const { changeset } = await lethe.initProject({ projectId, principal: owner });
  const refName = refNameSchema.parse('refs/topics/together');
  await lethe.createRef({ projectId, refName, headChangesetId: changeset.changeset_id, principal: owner });
  const tokens: string[] = [];
  for (const [index, profile] of agents.entries()) {
    const { principal } = await charon.reconcilePrincipal({ name: `agent ${index + 1}`, profile, grant: projectId });
    const { token } = await charon.mintObol({ principalId: principal.principal_id, expiresMs: null });
    tokens.push(token);
  }
  await close();
  home.release();
  return { root: changeset.changeset_id, ref: refName, tokens };
}
