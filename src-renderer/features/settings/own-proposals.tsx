import { Switch } from '@mantine/core';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';

/** Whether the owner may merge what the owner proposed, without anybody else. */
export function OwnProposals() {
  const settings = useEngineQuery('setting.show', {});
  const set = useAct('setting.set_owner_self_merge', () => undefined);
  return (
    <section className="mg-section" aria-label="Your own proposals">
      <h2>Your own proposals</h2>
      <div className="mg-card mg-setting">
        <Switch
          label="You may merge what you proposed yourself"
          description="Each such merge is recorded as one, in the proposal and in the audit ledger. While it is off, another reviewer has to approve. No token can ever do it."
          checked={settings.data?.owner_self_merge ?? false}
          disabled={settings.data === undefined || set.busy}
          onChange={(event) => set.send({ on: event.currentTarget.checked })}
        />
        {settings.error !== null && <RefusedNotice refusal={settings.error} />}
        {set.refusal !== null && <RefusedNotice refusal={set.refusal} />}
      </div>
    </section>
  );
}
