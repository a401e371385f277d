import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { PassphraseDialog } from './passphrase-dialog.tsx';

const choices = [
  { value: 'off', label: 'Ask for nothing' },
  { value: 'passphrase', label: 'Ask for a passphrase' },
];

/** What a command line must bring for an act of power while no desk is open to be asked. */
export function Confirmation() {
  const answer = useEngineQuery('owner.confirmation', {});
  const [typing, setTyping] = useState(false);
  const set = useAct('owner.set_confirmation', () => setTyping(false));
  const current = answer.data?.owner_confirm ?? 'off';
  const choose = (value: string): void => {
    if (value === 'passphrase') setTyping(true);
    else set.send({ owner_confirm: 'off' });
  };
  return (
    <section className="mg-section" aria-label="Commands from outside">
      <h2>Commands from outside</h2>
      <div className="mg-card mg-setting">
        <p>
          Agents can have a terminal too. While this desk is open, a command that gives power (a review, a merge, a
          token, a right, a key, a setting, a restore) waits here for your click. While no desk is open:
        </p>
        <SegmentedControl
          aria-label="While no desk is open"
          data={choices}
          value={current}
          onChange={choose}
          disabled={answer.data === undefined || set.busy}
        />
        {current === 'passphrase' && (
          <div>
            <Button variant="default" size="xs" onClick={() => setTyping(true)}>
              {answer.data?.passphrase_set === true ? 'Change the passphrase…' : 'Set the passphrase…'}
            </Button>
          </div>
        )}
        <p className="mg-quiet">
          It is typed on the terminal, and only its hash is kept. It is a hurdle and a record, not a wall: whoever can
          read the files of this home as you can do what you can. What was done outside is listed when you open the
          desk.
        </p>
        {answer.error !== null && <RefusedNotice refusal={answer.error} />}
        {set.refusal !== null && !typing && <RefusedNotice refusal={set.refusal} />}
      </div>
      {typing && (
        <PassphraseDialog
          title="Passphrase for commands from outside"
          confirm="Set the passphrase"
          busy={set.busy}
          refusal={set.refusal}
          onClose={() => setTyping(false)}
          onSend={(passphrase) => set.send({ owner_confirm: 'passphrase', passphrase })}
        >
          Command lines ask for it from now on, while no desk is open. Whoever forgets it sets another one here.
        </PassphraseDialog>
      )}
    </section>
  );
}
