import { Switch } from '@mantine/core';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';

/** Whether programs may ask to sign in with OAuth; off until the owner turns it on. */
export function SignInSwitch() {
  const status = useEngineQuery('oauth.status', {});
  const set = useAct('oauth.set_enabled', () => undefined);
  if (status.data === undefined) return null;
  return (
    <>
      <Switch
        size="xs"
        label="Programs may ask to sign in"
        checked={status.data.enabled}
        disabled={set.busy}
        onChange={(event) => set.send({ enabled: event.currentTarget.checked })}
      />
      {set.refusal !== null && <RefusedNotice refusal={set.refusal} />}
    </>
  );
}
