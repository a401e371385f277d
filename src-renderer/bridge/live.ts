import type { CommandName } from '../../src-preload/contract/commands/table.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';

const always: readonly CommandName[] = ['project.list', 'audit.tail'];

/** Which answers an event may have made old, by command. Pure; complete over every kind of event. */
const staleByKind: Readonly<Record<EngineEvent['kind'], readonly CommandName[]>> = {
  project_created: [...always, 'history.graph', 'memory.ref_list', 'memory.status'],
  changeset_created: [...always, 'history.graph', 'memory.log', 'memory.proposal_show', 'ref.overview'],
  ref_moved: [
    ...always,
    'history.graph',
    'memory.ref_list',
    'memory.log',
    'memory.context_at',
    'memory.search',
    'memory.get',
    'memory.proposal_list',
    'memory.proposal_show',
    'ref.overview',
    'conflict.list',
  ],
  conflicts_changed: [
    'conflict.list',
    'memory.context_at',
    'memory.search',
    'memory.get',
    'memory.proposal_list',
    'memory.proposal_show',
    'memory.status',
  ],
  proposal_changed: [
    ...always,
    'memory.proposal_list',
    'memory.proposal_show',
    'memory.status',
    'conflict.list',
    'ref.overview',
  ],
  registration_changed: ['registration.list', 'audit.tail'],
  ledger_changed: [
    'ledger.agents',
    'ledger.keys',
    'ledger.history',
    'ledger.value_at',
    'ledger.policies',
    'audit.tail',
  ],
  oauth_changed: ['oauth.status', 'oauth.pending', 'oauth.grants', 'audit.tail'],
  owner_requests_changed: ['owner_request.list', 'audit.acts_of_power', 'owner.confirmation', 'audit.tail'],
  backup_progress: ['backup.status'],
  backups_changed: ['backup.status', 'backup.list', 'audit.tail'],
  principal_changed: ['principal.list', 'ltx.list', 'ledger.agents', 'obol.list', 'audit.tail', 'engine.status'],
  agent_called: ['engine.status', 'principal.list', 'obol.list', 'ltx.list'],
};

/** The commands whose answers are to be asked for again after this event. */
export function staleAfter(event: EngineEvent): readonly CommandName[] {
  return staleByKind[event.kind];
}
