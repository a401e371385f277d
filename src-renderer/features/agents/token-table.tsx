import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Obol } from '../../../src-preload/contract/principal.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { useNow } from '../../ui/now.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { obolState } from './profiles.ts';

const stateTones = { active: 'added', revoked: 'removed', expired: 'noted', waiting: 'changed' } as const;
const stateWords = {
  active: 'active',
  revoked: 'revoked',
  expired: 'expired',
  waiting: 'from before a restore',
} as const;

interface TokenTableProps {
  readonly agentName: string;
  readonly obols: readonly Obol[];
}

/** The tokens of one agent: never the secret; last use, client, end, and the way to revoke each. */
export function TokenTable({ agentName, obols }: TokenTableProps) {
  const [revoking, setRevoking] = useState<Obol | null>(null);
  const revoke = useEngineCommand('obol.revoke');
  const now = useNow();
  if (obols.length === 0) return <p className="mg-quiet">No token yet: without one this agent cannot come in.</p>;
  const close = (): void => {
    revoke.reset();
    setRevoking(null);
  };
  return (
    <div className="mg-card mg-tokens">
      <table>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">State</th>
            <th scope="col">Last use</th>
            <th scope="col">Expires</th>
            <th scope="col">
              <span className="mg-hidden-label">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {obols.map((obol) => (
            <TokenRow key={obol.obol_id} obol={obol} nowMs={now} revoke={() => setRevoking(obol)} />
          ))}
        </tbody>
      </table>
      <ConfirmDialog
        opened={revoking !== null}
        title="Revoke token"
        confirm="Revoke token"
        busy={revoke.isPending}
        refusal={revoke.error}
        onClose={close}
        onConfirm={() => revoking !== null && revoke.mutate({ obol_id: revoking.obol_id }, { onSuccess: close })}
      >
        The token <span className="mg-mono">{revoking?.obol_id}</span> of {agentName} is destroyed: its next call is
        refused. This cannot be undone; you can mint another. What the agent wrote stays.
      </ConfirmDialog>
    </div>
  );
}

interface TokenRowProps {
  readonly obol: Obol;
  readonly nowMs: number;
  readonly revoke: () => void;
}

function TokenRow({ obol, nowMs, revoke }: TokenRowProps) {
  const state = obolState(obol, nowMs);
  const reapprove = useAct('obol.reapprove', () => undefined);
  return (
    <tr>
      <td className="mg-mono">{obol.obol_id}</td>
      <td>
        <span className="mg-chip" data-tone={stateTones[state]}>
          {stateWords[state]}
        </span>
      </td>
      <td>
        {obol.last_used_at === null ? (
          <span className="mg-quiet">never</span>
        ) : (
          <>
            <When at={obol.last_used_at} />
            <span className="mg-token-client">
              {plainLine(
                [obol.last_client, obol.last_tool].filter((word) => word !== null && word !== '').join(', '),
                80,
              )}
            </span>
          </>
        )}
      </td>
      <td>{obol.expires_at === null ? 'never' : <When at={obol.expires_at} />}</td>
      <td>
        {state === 'waiting' && (
          <Button
            size="compact-xs"
            variant="subtle"
            loading={reapprove.busy}
            onClick={() => reapprove.send({ obol_id: obol.obol_id })}
            aria-label={`Approve token ${obol.obol_id} again`}
          >
            Approve again
          </Button>
        )}
        {reapprove.refusal !== null && <RefusedNotice refusal={reapprove.refusal} />}
        {(state === 'active' || state === 'waiting') && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="clay"
            onClick={revoke}
            aria-label={`Revoke token ${obol.obol_id}`}
          >
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}
