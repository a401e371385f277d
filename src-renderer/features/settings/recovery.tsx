import { Button } from '@mantine/core';
import { useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { When } from '../../ui/when.tsx';
import { PassphraseDialog } from './passphrase-dialog.tsx';

/** The passphrase under which backups and exports seal the keys. */
export function Recovery() {
  const answer = useEngineQuery('key.recovery', {});
  const [typing, setTyping] = useState(false);
  const set = useAct('key.set_recovery', () => setTyping(false));
  const state = answer.data;
  return (
    <section className="mg-section" aria-label="Recovery passphrase">
      <h2>Recovery passphrase</h2>
      <div className="mg-card mg-setting">
        <p>
          {state?.set === true ? (
            <>
              Set {state.set_at !== null && <When at={state.set_at} />}: every backup holds the keys, sealed so that
              this passphrase alone opens them.
            </>
          ) : (
            'Not set: backups hold no keys. After a lost disk history could be read and its chain verified, but tokens, seals of the audit and new merges would need new keys.'
          )}
        </p>
        <div>
          <Button variant="default" size="xs" disabled={state === undefined} onClick={() => setTyping(true)}>
            {state?.set === true ? 'Change it…' : 'Set it…'}
          </Button>
        </div>
        {answer.error !== null && <RefusedNotice refusal={answer.error} />}
      </div>
      {typing && (
        <PassphraseDialog
          title="Recovery passphrase"
          confirm="Set the passphrase"
          busy={set.busy}
          refusal={set.refusal}
          onClose={() => setTyping(false)}
          onSend={(passphrase) => set.send({ passphrase })}
        >
          It is kept nowhere, so write it down and keep it away from this computer. Backups made before keep the
          passphrase of their time.
        </PassphraseDialog>
      )}
    </section>
  );
}
