import { Button } from '@mantine/core';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { count, sizeWords } from '../../ui/words.ts';
import { type LedgerAgent, nameOfAgent } from './ledger-words.ts';

interface AgentListProps {
  readonly agents: readonly LedgerAgent[];
  readonly more: (() => void) | undefined;
}

/** Agents that keep keys, each with what its memory amounts to. */
export function AgentList({ agents, more }: AgentListProps) {
  useKeys([['j', () => goTo({ screen: 'ledger', agentId: agents[0]?.agent_id })]]);
  return (
    <>
      <ul className="mg-list" aria-label="Agents">
        {agents.map((agent) => (
          <li key={agent.agent_id}>
            <a className="mg-row" href={formatRoute({ screen: 'ledger', agentId: agent.agent_id })}>
              <span className="mg-row-title">{plainLine(nameOfAgent(agent), 80)}</span>
              <span className="mg-row-meta">
                <span>{count(agent.usage.live_keys, 'key')}</span>
                <span>{count(agent.usage.ledger_rows, 'version')}</span>
                <span>{sizeWords(agent.usage.bytes)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {more !== undefined && (
        <Button variant="subtle" fullWidth onClick={more}>
          Load more agents
        </Button>
      )}
    </>
  );
}
