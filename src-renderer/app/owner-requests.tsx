import { Button, Group, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { OwnerRequest } from '../../src-preload/contract/commands/owner-word.ts';
import { useAct } from '../bridge/act.ts';
import { useEngineQuery } from '../bridge/queries.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Inert } from '../ui/memory-text.tsx';
import { RefusedNotice } from '../ui/states.tsx';
import { plainLine } from '../ui/visible-text.ts';
import { When } from '../ui/when.tsx';
import { count } from '../ui/words.ts';

/** A request may appear under a finger that is just coming down: its buttons take nothing before. Milliseconds. */
const armedAfterMs = 700;

/** It waits two minutes at most, whatever else is open. */
const aboveOtherDialogs = 300;

/** What command lines ask for and waits for the owner's click, exactly as it will run; a banner while it is put off. */
export function OwnerRequests() {
  const answer = useEngineQuery('owner_request.list', {});
  const [putOff, setPutOff] = useState<ReadonlySet<string>>(new Set());
  const requests = answer.data?.requests ?? [];
  const shown = requests.filter(({ request_id: id }) => !putOff.has(id));
  const later = (): void => setPutOff(new Set(requests.map(({ request_id: id }) => id)));
  return (
    <>
      {requests.length > 0 && (
        <p className="mg-banner" data-tone="changed" role="status">
          {count(requests.length, 'command')} from outside {requests.length === 1 ? 'waits' : 'wait'} for your word.
          <Button size="compact-xs" variant="default" onClick={() => setPutOff(new Set())}>
            Look
          </Button>
        </p>
      )}
      <Modal
        opened={shown.length > 0}
        onClose={later}
        title="A command line asks for your word"
        size="lg"
        zIndex={aboveOtherDialogs}
      >
        <div className="mg-form">
          <p className="mg-quiet mg-begins-here" data-autofocus tabIndex={-1}>
            Agents can have a terminal too. Allow only what you asked for yourself.
          </p>
          {shown.map((request) => (
            <Request key={request.request_id} request={request} />
          ))}
          <Group justify="flex-end">
            <Button variant="subtle" color="gray" onClick={later}>
              Later
            </Button>
          </Group>
        </div>
      </Modal>
    </>
  );
}

function Request({ request }: { readonly request: OwnerRequest }) {
  const [armed, setArmed] = useState(false);
  const decide = useAct('owner_request.decide', () => undefined);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), armedAfterMs);
    return () => clearTimeout(timer);
  }, []);
  const say = (decision: 'allow' | 'refuse'): void => decide.send({ request_id: request.request_id, decision });
  return (
    <section className="mg-card mg-request" aria-label={plainLine(request.title, 80)}>
      <h3>{plainLine(request.title, 80)}</h3>
      <pre className="mg-command">
        <Inert text={request.command_line} />
      </pre>
      <p className="mg-quiet">
        asked <When at={request.created_at} />, waits until <When at={request.expires_at} />
      </p>
      <details className="mg-raw">
        <summary>Exactly as it will run</summary>
        <pre className="mg-command">
          {request.command} <Inert text={request.input_json} />
        </pre>
        <CopyButton label="Copy the input" text={request.input_json} />
      </details>
      {decide.refusal !== null && <RefusedNotice refusal={decide.refusal} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={!armed || decide.busy} onClick={() => say('refuse')}>
          Refuse
        </Button>
        <Button disabled={!armed} loading={decide.busy} onClick={() => say('allow')}>
          Allow
        </Button>
      </Group>
    </section>
  );
}
