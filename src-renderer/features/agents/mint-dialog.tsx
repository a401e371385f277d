import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import type { AgentRow } from './agents-screen.tsx';
import { LifeSelect, lifeMs } from './life-select.tsx';
import type { lifeChoices } from './profiles.ts';
import { TokenOnce } from './token-once.tsx';

interface MintDialogProps {
  readonly agent: AgentRow;
  readonly mcpUrl: string | null;
  readonly onClose: () => void;
}

/** Another token for an agent that exists; shown once. */
export function MintDialog({ agent, mcpUrl, onClose }: MintDialogProps) {
  const [life, setLife] = useState<(typeof lifeChoices)[number]['value']>('7');
  const mint = useEngineCommand('obol.mint');
  const minted = mint.data;
  return (
    <Modal
      opened
      onClose={onClose}
      size={minted === undefined ? 'md' : 'lg'}
      title={`Mint a token for ${plainLine(agent.name, 60)}`}
      closeOnClickOutside={minted === undefined}
    >
      {minted === undefined ? (
        <div className="mg-form">
          <LifeSelect value={life} onChange={setLife} />
          {mint.error !== null && <RefusedNotice refusal={mint.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              loading={mint.isPending}
              onClick={() => mint.mutate({ principal_id: agent.principal_id, expires_ms: lifeMs(life) })}
            >
              Mint token
            </Button>
          </Group>
        </div>
      ) : (
        <TokenOnce minted={minted} mcpUrl={mcpUrl} onDone={onClose} />
      )}
    </Modal>
  );
}
