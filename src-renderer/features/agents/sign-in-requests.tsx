import { Button, Select } from '@mantine/core';
import { LogIn } from 'lucide-react';
import { useState } from 'react';
import type { OauthRequest } from '../../../src-preload/contract/oauth.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import type { AgentRow } from './agents-screen.tsx';

/** Programs that ask to sign in, each with the number to compare and the two answers; nothing while none asks. */
export function SignInRequests({ agents }: { readonly agents: readonly AgentRow[] }) {
  const answer = useEngineQuery('oauth.pending', {});
  const requests = answer.data?.requests ?? [];
  if (requests.length === 0) return null;
  return (
    <section className="mg-waiting" aria-label="Programs that ask to sign in">
      <h2>
        <LogIn size={15} aria-hidden /> Programs that ask to sign in
      </h2>
      <ul className="mg-list mg-card">
        {requests.map((request) => (
          <li key={request.request_id}>
            <RequestRow request={request} agents={agents.filter(({ enabled }) => enabled)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RequestRowProps {
  readonly request: OauthRequest;
  readonly agents: readonly AgentRow[];
}

function RequestRow({ request, agents }: RequestRowProps) {
  const [principal, setPrincipal] = useState<string | null>(null);
  const approve = useAct('oauth.approve', () => undefined);
  const refuse = useAct('oauth.refuse', () => undefined);
  const { request_id: id } = request;
  const refusal = approve.refusal ?? refuse.refusal;
  return (
    <div className="mg-row mg-waiting-row">
      <div>
        <strong>{plainLine(request.client_name, 80)}</strong> wants to connect. Its page shows the number{' '}
        <strong className="mg-mono">{request.match_code}</strong>; if it shows another one, refuse.
        <p className="mg-quiet">
          asked <When at={request.created_at} />, goes on at {plainLine(request.returns_to, 120)}
        </p>
        {refusal !== null && <RefusedNotice refusal={refusal} />}
      </div>
      <div className="mg-waiting-acts">
        <Select
          size="xs"
          aria-label="Connect it as"
          placeholder="Connect it as…"
          data={agents.map(({ principal_id: value, name, profile }) => ({
            value: String(value),
            label: `${plainLine(name, 60)} (${profile})`,
          }))}
          value={principal}
          onChange={setPrincipal}
        />
        <Button variant="default" loading={refuse.busy} onClick={() => refuse.send({ request_id: id })}>
          Refuse
        </Button>
        <Button
          loading={approve.busy}
          disabled={principal === null}
          onClick={() => principal !== null && approve.send({ request_id: id, principal_id: principal })}
        >
          Let it in
        </Button>
      </div>
    </div>
  );
}
