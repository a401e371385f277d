import type { LedgerAgentId } from '../../src-preload/contract/ledger.ts';
import type { Caller } from '../charon/api.ts';
import { agentIdOf } from '../charon/rules/agent-id.ts';
import type { CommandDeps } from './deps.ts';

/** The agent whose memory a caller's calls are about. */
export function agentOf(caller: Caller): LedgerAgentId {
  return agentIdOf(caller.principal.principal_id);
}

/** Tells the desk that an agent's memory is another. */
export function changed({ events }: CommandDeps, agentId: LedgerAgentId): void {
  events.publish([{ kind: 'ledger_changed', agent_id: agentId }]);
}

/** What the audit keeps of a call about all of an agent's keys. */
export function agentObjects(_input: unknown, caller: Caller): readonly string[] {
  return [agentOf(caller)];
}
