import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { UserPlus } from 'lucide-react';
import type { Registration } from '../../../src-preload/contract/ltx.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';

/** Agents that ask to be let in, each with its two answers; nothing while nobody asks. */
export function Registrations() {
  const answer = useEngineQuery('registration.list', { waiting: true, limit: 50 });
  const waiting = answer.data?.registrations ?? [];
  if (answer.error !== null) return <RefusedNotice refusal={answer.error} />;
  if (waiting.length === 0) return null;
  return (
    <section className="mg-waiting" aria-label="Waiting for your word">
      <h2>
        <UserPlus size={15} aria-hidden /> Waiting for your word
      </h2>
      <ul className="mg-list mg-card">
        {waiting.map((registration) => (
          <li key={registration.registration_id}>
            <RegistrationRow registration={registration} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RegistrationRow({ registration }: { readonly registration: Registration }) {
  const { registration_id: id, agent_name: name } = registration;
  const approve = useAct('registration.approve', () => {
    notifications.show({ message: `${name} is let in. It fetches its key by itself.` });
  });
  const refuse = useAct('registration.refuse', () => {
    notifications.show({ message: `${name} is refused, and told so when it asks again.` });
  });
  const refusal = approve.refusal ?? refuse.refusal;
  return (
    <div className="mg-row mg-waiting-row">
      <div>
        <strong>{plainLine(name, 100)}</strong> for {plainLine(registration.owner_identifier, 120)}
        <p className="mg-quiet">
          asked <When at={registration.created_at} />; it may use the ledger and nothing else.
          {registration.did !== null && ' It brings a passport.'}
        </p>
        {refusal !== null && <RefusedNotice refusal={refusal} />}
      </div>
      <div className="mg-waiting-acts">
        <Button variant="default" loading={refuse.busy} onClick={() => refuse.send({ registration_id: id })}>
          Refuse
        </Button>
        <Button loading={approve.busy} onClick={() => approve.send({ registration_id: id })}>
          Let it in
        </Button>
      </div>
    </div>
  );
}
