import { Button, Loader, Tabs } from '@mantine/core';
import { CircleCheckBig, TriangleAlert } from 'lucide-react';
import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { claudeCodeCommand, clientConfig } from './profiles.ts';

interface TokenOnceProps {
  readonly minted: CommandOutput<'obol.mint'>;
  readonly mcpUrl: string | null;
  readonly onDone: () => void;
}

/** The token, this once, with what to paste where; then waits for the first call and says when it came. */
export function TokenOnce({ minted, mcpUrl, onDone }: TokenOnceProps) {
  const { token, obol } = minted;
  return (
    <div className="mg-form">
      <p className="mg-notice" data-tone="changed">
        <TriangleAlert size={16} aria-hidden />
        This is the only time that the token is shown. Only a keyed digest of it is kept here.
      </p>
      <Snippet label="Token" text={token} />
      {mcpUrl === null ? (
        <p className="mg-quiet">The agent door is shut at the moment; its address appears here once it is open.</p>
      ) : (
        <Tabs defaultValue="claude" keepMounted={false}>
          <Tabs.List aria-label="Client">
            <Tabs.Tab value="claude">Claude Code</Tabs.Tab>
            <Tabs.Tab value="json">Any MCP client</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="claude" pt="sm">
            <Snippet label="Command for Claude Code" text={claudeCodeCommand(mcpUrl, token)} />
          </Tabs.Panel>
          <Tabs.Panel value="json" pt="sm">
            <Snippet label="Configuration for any MCP client" text={clientConfig(mcpUrl, token)} />
          </Tabs.Panel>
        </Tabs>
      )}
      <FirstCall obolId={obol.obol_id} />
      <Button onClick={onDone}>Done</Button>
    </div>
  );
}

function FirstCall({ obolId }: { readonly obolId: string }) {
  const answer = useEngineQuery('principal.list', {});
  const obol = answer.data?.principals
    .flatMap((principal) => principal.obols)
    .find((candidate) => candidate.obol_id === obolId);
  const called = obol !== undefined && obol.last_used_at !== null;
  const client = obol?.last_client ?? '';
  return (
    <p className="mg-first-call" data-called={called} role="status">
      {called ? <CircleCheckBig size={16} aria-hidden /> : <Loader size={14} aria-hidden />}
      {called ? `Connected${client === '' ? '' : `: ${plainLine(client, 80)}`}` : 'Waiting for the first call…'}
    </p>
  );
}
