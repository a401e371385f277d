import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import type { KeySealing } from '../../../src-preload/contract/commands/operations.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';

/** Whether the keys are sealed with the keychain of this system, and the way to change that. */
export function Sealing() {
  const answer = useEngineQuery('key.sealing', {});
  const [asking, setAsking] = useState(false);
  const state = answer.data;
  return (
    <section className="mg-section" aria-label="Keychain">
      <h2>Keychain</h2>
      <div className="mg-card mg-setting">
        {state !== undefined && (
          <>
            <p>
              {state.sealed
                ? 'The keys are sealed with the keychain of this system: nobody reads them from the disk.'
                : 'The keys are in a file that only you can read (0600).'}
            </p>
            {state.reason !== null && <p className="mg-quiet">{plainLine(state.reason, 300)}</p>}
            <div>
              <Button variant="default" size="xs" disabled={!state.available} onClick={() => setAsking(true)}>
                {state.sealed ? 'Unseal…' : 'Seal…'}
              </Button>
            </div>
          </>
        )}
        {answer.error !== null && <RefusedNotice refusal={answer.error} />}
      </div>
      {asking && state !== undefined && <SealingDialog state={state} onClose={() => setAsking(false)} />}
    </section>
  );
}

function SealingDialog({ state, onClose }: { readonly state: KeySealing; readonly onClose: () => void }) {
  const seal = useAct('key.seal', onClose);
  const unseal = useAct('key.unseal', onClose);
  const refusal = seal.refusal ?? unseal.refusal;
  return (
    <Modal opened onClose={onClose} title={state.sealed ? 'Unseal the keys' : 'Seal the keys'}>
      <div className="mg-form">
        {state.sealed ? (
          <p>The keys are stored as a file again that only this user of the computer can read.</p>
        ) : (
          <>
            <p>
              The keys are sealed with the keychain of this system, after a trial that it opens them again. No plain
              copy stays in the home. While they are sealed:
            </p>
            <ul>
              {state.stops_working.map((what) => (
                <li key={what}>{plainLine(what, 200)}</li>
              ))}
            </ul>
          </>
        )}
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button loading={seal.busy || unseal.busy} onClick={() => (state.sealed ? unseal : seal).send({})}>
            {state.sealed ? 'Unseal the keys' : 'Seal the keys'}
          </Button>
        </Group>
      </div>
    </Modal>
  );
}
