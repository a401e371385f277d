import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { fromTimestamp, toTimestamp } from '../base/clock.ts';
import type { Charon } from '../charon/api.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

type Status = CommandOutput<'engine.status'>;

/** What the engine says about itself. For the owner alone. */
export function engineCommands(deps: CommandDeps): readonly BoundCommand[] {
  let lastCall: LastCall | undefined;
  deps.events.subscribe((event) => {
    if (event.kind === 'agent_called') lastCall = { principalId: event.principal_id, tool: event.tool, at: event.at };
  });
  return [
    bind(rowOf('engine.status'), {
      run: () => {
        const { version, home, mcpUrl, startedAt } = deps.facts();
        return {
          version,
          home_id: deps.charon.homeId,
          home,
          owner: deps.charon.owner(),
          mcp_url: mcpUrl,
          recovery_readonly: deps.recoveryReadonly,
          started_at: startedAt,
          now: toTimestamp(deps.clock.nowMs()),
          last_agent_call: lastAgentCall(deps.charon, lastCall ?? lastUse(deps.charon)),
        };
      },
    }),
  ];
}

type LastCall = { readonly principalId: string; readonly tool: string; readonly at: Status['now'] };

/** From before this start: the last use that the tokens themselves remember. */
function lastUse(charon: Charon): LastCall | undefined {
  let newest: LastCall | undefined;
  for (const { principal_id: principalId, last_used_at: at, last_tool: tool } of charon.listObols()) {
    if (at === null || (newest !== undefined && fromTimestamp(at) <= fromTimestamp(newest.at))) continue;
    newest = { principalId, tool: tool ?? '', at };
  }
  return newest;
}

function lastAgentCall(charon: Charon, call: LastCall | undefined): Status['last_agent_call'] {
  const principal = call === undefined ? undefined : charon.findPrincipal(call.principalId);
  if (call === undefined || principal === undefined) return null;
  return { principal_id: principal.principal_id, name: principal.name, tool: call.tool, at: call.at };
}
