import { Button } from '@mantine/core';
import { useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Id } from '../../ui/id.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count, sizeWords } from '../../ui/words.ts';
import { type LedgerAgent, nameOfAgent } from './ledger-words.ts';
import { LtxKeys } from './ltx-keys.tsx';
import { Policies } from './policies.tsx';

/** One agent: what its memory amounts to, who it is, its keys, and the policy that it declared. */
export function AgentPage({ agent }: { readonly agent: LedgerAgent }) {
  const { usage } = agent;
  return (
    <article className="mg-page" aria-label="Agent">
      <h2 className="mg-ledger-key">{plainLine(nameOfAgent(agent), 120)}</h2>
      <dl className="mg-pairs">
        <dt>Agent id</dt>
        <dd>
          <Id id={agent.agent_id} of="agent id" label={agent.agent_id} />
        </dd>
        <dt>Holds</dt>
        <dd>
          {count(usage.live_keys, 'key')}, {sizeWords(usage.bytes)}
        </dd>
        <dt>History</dt>
        <dd>
          {count(usage.ledger_rows, 'version')}, {sizeWords(usage.ledger_bytes)}; nothing of it is ever changed
        </dd>
        <Passport agent={agent} />
        <Custody agent={agent} />
      </dl>
      <LtxKeys agentId={agent.agent_id} />
      <Policies agentId={agent.agent_id} />
    </article>
  );
}

function Passport({ agent }: { readonly agent: LedgerAgent }) {
  const [asking, setAsking] = useState(false);
  const revoke = useAct('passport.revoke', () => setAsking(false));
  const { passport } = agent;
  if (passport === null) return null;
  return (
    <>
      <dt>Passport</dt>
      <dd>
        <Id id={passport.did} of="passport" />{' '}
        {passport.revoked_at === null ? (
          <Button size="compact-xs" variant="default" onClick={() => setAsking(true)}>
            Revoke…
          </Button>
        ) : (
          <span className="mg-chip" data-tone="removed">
            revoked
          </span>
        )}
        <ConfirmDialog
          opened={asking}
          title="Revoke this passport"
          confirm="Revoke passport"
          busy={revoke.busy}
          refusal={revoke.refusal}
          onClose={() => setAsking(false)}
          onConfirm={() => revoke.send({ agent: agent.agent_id })}
        >
          Nothing that it signs counts from now on, and its sessions end. This cannot be undone.
        </ConfirmDialog>
      </dd>
    </>
  );
}

function Custody({ agent }: { readonly agent: LedgerAgent }) {
  const open = useAct('custody.open', () => undefined);
  const close = useAct('custody.close', () => undefined);
  const { custody } = agent;
  const isOpen = custody?.state === 'open';
  const refusal = open.refusal ?? close.refusal;
  return (
    <>
      <dt>Custody</dt>
      <dd>
        {custody === null ? (
          'never opened: nobody may declare a policy'
        ) : (
          <>
            epoch {custody.current_epoch}, {custody.state}, {plainLine(custody.current_custodian, 80)} since{' '}
            <When at={custody.since} />
          </>
        )}{' '}
        <Button
          size="compact-xs"
          variant="default"
          loading={open.busy || close.busy}
          onClick={() => (isOpen ? close.send({ agent: agent.agent_id }) : open.send({ agent: agent.agent_id }))}
        >
          {isOpen ? 'Close' : 'Open the next epoch'}
        </Button>
        {refusal !== null && <RefusedNotice refusal={refusal} />}
      </dd>
    </>
  );
}
