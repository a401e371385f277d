import './agents.css';
import { Button } from '@mantine/core';
import { Bot, Plus } from 'lucide-react';
import { useState } from 'react';
import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { useKeys } from '../../ui/keys.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count } from '../../ui/words.ts';
import { AgentDetail } from './agent-detail.tsx';
import { ConnectDialog } from './connect-dialog.tsx';
import { SignInRequests } from './sign-in-requests.tsx';
import { SignInSwitch } from './sign-in-switch.tsx';

export type AgentRow = CommandOutput<'principal.list'>['principals'][number];

interface AgentsProps {
  readonly project: string | undefined;
  readonly mcpUrl: string | null;
  readonly principalId: string | undefined;
}

/** Who may come in, with which rights and tokens, and the way to let another one in. */
export function AgentsScreen({ project, mcpUrl, principalId }: AgentsProps) {
  const answer = useEngineQuery('principal.list', {});
  const [connecting, setConnecting] = useState(false);
  const agents = answer.data?.principals.filter((principal) => principal.profile !== 'owner') ?? [];
  const agent = agents.find((candidate) => candidate.principal_id === principalId);
  const open = (id: string | undefined): void => goTo({ screen: 'agents', principalId: id });
  const step = (by: number): void => {
    const at = agents.findIndex((candidate) => candidate.principal_id === principalId);
    open(agents[Math.max(0, Math.min(agents.length - 1, at + by))]?.principal_id);
  };
  useKeys([
    ['j', () => step(1)],
    ['k', () => step(-1)],
    ['Escape', () => open(undefined)],
  ]);
  const connect = (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setConnecting(true)}>
      Connect an agent
    </Button>
  );
  return (
    <div className="mg-screen">
      <div>
        <ScreenHead
          title="Agents"
          note={answer.data === undefined ? undefined : `${count(agents.length, 'agent')} may come in`}
        >
          <SignInSwitch />
          {agents.length > 0 && connect}
        </ScreenHead>
        <SignInRequests agents={agents} />
      </div>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="agents" />}
      {answer.data !== undefined && agents.length === 0 && (
        <Empty icon={Bot} title="No agent may come in yet">
          <p>
            Give one a name and what it may do, and it gets a token of its own. It reads what you accepted, and proposes
            what it learned.
          </p>
          {connect}
        </Empty>
      )}
      {agents.length > 0 && (
        <div className="mg-panes" data-open={agent !== undefined}>
          <div className="mg-pane mg-pane-list">
            <ul className="mg-list" aria-label="Agents">
              {agents.map((row) => (
                <li key={row.principal_id}>
                  <AgentLink agent={row} current={row === agent} />
                </li>
              ))}
            </ul>
          </div>
          <div className="mg-pane">
            {agent === undefined ? (
              <Empty icon={Bot} title="No agent is open">
                <p>Choose one to see its rights, its branches and its tokens.</p>
              </Empty>
            ) : (
              <AgentDetail key={agent.principal_id} agent={agent} project={project} mcpUrl={mcpUrl} />
            )}
          </div>
        </div>
      )}
      {connecting && <ConnectDialog project={project} mcpUrl={mcpUrl} onClose={() => setConnecting(false)} />}
    </div>
  );
}

function AgentLink({ agent, current }: { readonly agent: AgentRow; readonly current: boolean }) {
  const lastUse = agent.obols
    .map((obol) => obol.last_used_at)
    .filter((at) => at !== null)
    .toSorted()
    .at(-1);
  return (
    <a
      className="mg-row"
      href={formatRoute({ screen: 'agents', principalId: agent.principal_id })}
      aria-current={current ? 'true' : undefined}
    >
      <span className="mg-row-title">{plainLine(agent.name, 120)}</span>
      <span className="mg-row-meta">
        <span className="mg-chip" data-tone={agent.profile === 'review' ? 'changed' : 'accent'}>
          {agent.profile}
        </span>
        {!agent.enabled && (
          <span className="mg-chip" data-tone="removed">
            disabled
          </span>
        )}
        {lastUse === undefined ? (
          <span>has not called yet</span>
        ) : (
          <span>
            called <When at={lastUse} />
          </span>
        )}
      </span>
    </a>
  );
}
