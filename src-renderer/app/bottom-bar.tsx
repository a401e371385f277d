import { DoorOpen } from 'lucide-react';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { ConnectionState } from '../bridge/connection.ts';
import { Id } from '../ui/id.tsx';
import { plainLine } from '../ui/visible-text.ts';
import { When } from '../ui/when.tsx';

const connectionWords: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  stopped: 'Engine stopped',
  signed_out: 'Signed out',
};

interface BottomBarProps {
  readonly status: CommandOutput<'engine.status'>;
  readonly connection: ConnectionState;
}

/** State of the engine in one line: door, last call of an agent, connection. */
export function BottomBar({ status, connection }: BottomBarProps) {
  const call = status.last_agent_call;
  return (
    <footer className="mg-bottom">
      <span className="mg-bottom-item">
        <DoorOpen size={13} aria-hidden />
        {status.mcp_url === null ? (
          'Agent door is shut'
        ) : (
          <Id id={status.mcp_url} of="address of the agent door" label={status.mcp_url} />
        )}
      </span>
      <span className="mg-bottom-item mg-grow">
        {call === null ? (
          'No agent has called yet'
        ) : (
          <span>
            <strong>{plainLine(call.name, 40)}</strong> called{' '}
            <span className="mg-mono">{plainLine(call.tool, 60)}</span> <When at={call.at} />
          </span>
        )}
      </span>
      <span className="mg-bottom-item mg-wide-only">{status.version}</span>
      <span className="mg-bottom-item" role="status">
        <span className="mg-dot" data-state={connection} aria-hidden />
        {connectionWords[connection]}
      </span>
    </footer>
  );
}
