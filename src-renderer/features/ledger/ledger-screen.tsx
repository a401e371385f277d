import './ledger.css';
import { Database } from 'lucide-react';
import { useEnginePages } from '../../bridge/queries.tsx';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import { AgentList } from './agent-list.tsx';
import { AgentPage } from './agent-page.tsx';
import { KeyList } from './key-list.tsx';
import { KeyPage } from './key-page.tsx';
import { Registrations } from './registrations.tsx';

interface LedgerScreenProps {
  readonly agentId: string | undefined;
  readonly keyName: string | undefined;
}

/** The memory ledger: keys of each agent with every version, and who asks to be let in. */
export function LedgerScreen({ agentId, keyName }: LedgerScreenProps) {
  const answer = useEnginePages('ledger.agents', { limit: 100 });
  const agents = answer.data?.pages.flatMap((page) => page.agents) ?? [];
  const agent = agents.find((row) => row.agent_id === agentId);
  useKeys([['Escape', () => goTo({ screen: 'ledger', agentId: keyName === undefined ? undefined : agentId })]]);
  return (
    <div className="mg-screen">
      <div>
        <ScreenHead
          title="Ledger"
          note={answer.data === undefined ? undefined : `${count(agents.length, 'agent')} with a key-value memory`}
        />
        <Registrations />
      </div>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="the ledger" />}
      {answer.data !== undefined && agents.length === 0 && (
        <Empty icon={Database} title="No agent keeps keys yet">
          <p>
            The ledger is a small key-value memory for agents that need no branches. An agent with a token of the
            profile propose can use it at once; others register at <span className="mg-mono">/v1/register</span> and
            wait here for your word.
          </p>
        </Empty>
      )}
      {agents.length > 0 && (
        <div className="mg-panes" data-open={agent !== undefined}>
          <div className="mg-pane mg-pane-list">
            {agent === undefined ? (
              <AgentList
                agents={agents}
                more={answer.hasNextPage && !answer.isFetching ? () => void answer.fetchNextPage() : undefined}
              />
            ) : (
              <KeyList agent={agent} keyName={keyName} />
            )}
          </div>
          <div className="mg-pane">
            {agent === undefined && (
              <Empty icon={Database} title="No agent is open">
                <p>Choose one to see its keys, every version of them, and the policy that it declared.</p>
              </Empty>
            )}
            {agent !== undefined && keyName === undefined && <AgentPage agent={agent} />}
            {agent !== undefined && keyName !== undefined && (
              <KeyPage key={`${agent.agent_id} ${keyName}`} agentId={agent.agent_id} keyName={keyName} />
            )}
          </div>
        </div>
      )}
    </div>
  );
}
