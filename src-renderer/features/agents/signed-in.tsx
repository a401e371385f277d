import { Button } from '@mantine/core';
import { useState } from 'react';
import type { OauthGrant } from '../../../src-preload/contract/oauth.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';

/** Programs that signed in as one agent and may still come in, each with the way to end that; nothing when there is none. */
export function SignedIn({ principalId }: { readonly principalId: string }) {
  const answer = useEngineQuery('oauth.grants', {});
  const [ending, setEnding] = useState<OauthGrant | null>(null);
  const revoke = useAct('oauth.revoke', () => setEnding(null));
  const grants = (answer.data?.grants ?? []).filter(
    (grant) => String(grant.principal_id) === principalId && grant.revoked_at === null,
  );
  if (grants.length === 0) return null;
  return (
    <section className="mg-section" aria-label="Signed in">
      <h2>Signed in</h2>
      <ul className="mg-list mg-card">
        {grants.map((grant) => (
          <li key={grant.grant_id} className="mg-row mg-waiting-row">
            <div>
              <strong>{plainLine(grant.client_name, 80)}</strong>
              <p className="mg-quiet">
                since <When at={grant.created_at} />, ends <When at={grant.expires_at} />
              </p>
            </div>
            <Button variant="default" onClick={() => setEnding(grant)}>
              End…
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        opened={ending !== null}
        title="End this access"
        confirm="End access"
        busy={revoke.busy}
        refusal={revoke.refusal}
        onClose={() => setEnding(null)}
        onConfirm={() => ending !== null && revoke.send({ grant_id: ending.grant_id })}
      >
        {plainLine(ending?.client_name ?? '', 80)} is refused from its next call on. This cannot be undone; it may ask
        to sign in again. What it wrote stays.
      </ConfirmDialog>
    </section>
  );
}
