import { KeyRound, PlugZap } from 'lucide-react';
import { useConnection, useEngineQuery } from '../bridge/queries.tsx';
import { Empty, Loading, Refused } from '../ui/states.tsx';
import { Frame } from './frame.tsx';
import { gateState } from './gate-state.ts';

/** Lets the frame be seen once the engine has answered; before that says what is missing and how to get it. */
export function Gate() {
  const connection = useConnection();
  const status = useEngineQuery(
    'engine.status',
    connection === 'signed_out' || connection === 'connecting' ? null : {},
  );
  const state = gateState(connection, { answered: status.data !== undefined, refusal: status.error?.code });
  if (state === 'signed_out') return <SignedOut />;
  if (status.data !== undefined) return <Frame status={status.data} connection={connection} />;
  if (state === 'stopped') return <EngineStopped />;
  if (status.error !== null) {
    return (
      <main className="mg-gate">
        <Refused refusal={status.error} retry={() => void status.refetch()} />
      </main>
    );
  }
  return (
    <main className="mg-gate">
      <Loading what="the desk" />
    </main>
  );
}

function SignedOut() {
  return (
    <main className="mg-gate">
      <Empty icon={KeyRound} title="This page is signed out">
        <p>
          The address of an owner page holds a code that works once, for one minute. This one was used already, has
          expired, or its engine was started anew.
        </p>
        <p>Get a new one in a terminal:</p>
        <pre className="mg-command">npm start</pre>
        <p>or, without the app's own window:</p>
        <pre className="mg-command">npm run -s charon -- serve --owner-page</pre>
      </Empty>
    </main>
  );
}

function EngineStopped() {
  return (
    <main className="mg-gate">
      <Empty icon={PlugZap} title="The engine does not answer">
        <p>Nothing is lost: what was acknowledged is on disk. Start it again in a terminal:</p>
        <pre className="mg-command">npm start</pre>
        <p role="status">
          This page goes on trying. A new start may serve at a new address: then open the one it prints.
        </p>
      </Empty>
    </main>
  );
}
