import { Button, Group, Modal, Select } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type LtxKey, ltxKeyKinds } from '../../../src-preload/contract/ltx.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';

const kindWords = {
  root: 'root: everything of the ledger, the policy too',
  full: 'full: all but what needs the root key',
  memory: 'memory: keys and values',
  read: 'read: keys and values, reading only',
} as const;

/** Keys of one agent: never the secret; what each may do, its last use, the way to make one and to revoke one. */
export function LtxKeys({ agentId }: { readonly agentId: string }) {
  const answer = useEngineQuery('ltx.list', { agent: agentId });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<LtxKey | null>(null);
  const revoke = useAct('ltx.revoke', () => setRevoking(null));
  const reapprove = useAct('ltx.reapprove', () => undefined);
  const keys = answer.data?.keys ?? [];
  return (
    <section className="mg-section" aria-label="Ledger keys">
      <h2>
        Ledger keys
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Plus size={13} aria-hidden />}
          onClick={() => setMaking(true)}
        >
          Make a key
        </Button>
      </h2>
      {answer.error !== null && <RefusedNotice refusal={answer.error} />}
      {reapprove.refusal !== null && <RefusedNotice refusal={reapprove.refusal} />}
      {answer.data !== undefined && keys.length === 0 && (
        <p className="mg-quiet">None. A token of the agent door works at the ledger as well.</p>
      )}
      {keys.length > 0 && (
        <ul className="mg-list mg-card">
          {keys.map((key) => (
            <li key={key.key_id} className="mg-row mg-waiting-row">
              <div>
                <span className="mg-mono">{key.key_id}</span> <span className="mg-chip">{key.kind}</span>
                {key.revoked_at !== null && (
                  <span className="mg-chip" data-tone="removed">
                    revoked
                  </span>
                )}
                {key.needs_reapproval === true && key.revoked_at === null && (
                  <span className="mg-chip" data-tone="changed">
                    from before a restore
                  </span>
                )}
                <p className="mg-quiet">
                  made <When at={key.created_at} />
                  {key.last_used_at === null ? (
                    ', never used'
                  ) : (
                    <>
                      , last used <When at={key.last_used_at} />
                    </>
                  )}
                  {key.last_client !== null && <> by {plainLine(key.last_client, 80)}</>}
                </p>
              </div>
              <div className="mg-waiting-acts">
                {key.needs_reapproval === true && key.revoked_at === null && (
                  <Button
                    variant="default"
                    disabled={reapprove.busy}
                    onClick={() => reapprove.send({ key_id: key.key_id })}
                  >
                    Approve again
                  </Button>
                )}
                {key.revoked_at === null && (
                  <Button variant="default" onClick={() => setRevoking(key)}>
                    Revoke…
                  </Button>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {making && <MakeKey agentId={agentId} close={() => setMaking(false)} />}
      <ConfirmDialog
        opened={revoking !== null}
        title="Revoke this key"
        confirm="Revoke key"
        busy={revoke.busy}
        refusal={revoke.refusal}
        onClose={() => setRevoking(null)}
        onConfirm={() => revoking !== null && revoke.send({ key_id: revoking.key_id })}
      >
        The key <span className="mg-mono">{revoking?.key_id}</span> is refused from its next call on. This cannot be
        undone; you can make another. What the agent wrote stays.
      </ConfirmDialog>
    </section>
  );
}

function MakeKey({ agentId, close }: { readonly agentId: string; readonly close: () => void }) {
  const [kind, setKind] = useState<(typeof ltxKeyKinds)[number]>('memory');
  const [token, setToken] = useState<string | null>(null);
  const mint = useAct('ltx.mint', (made) => setToken(made.token));
  return (
    <Modal opened onClose={close} title="Make a ledger key">
      <div className="mg-form">
        {token === null ? (
          <>
            <Select
              label="What it may do"
              allowDeselect={false}
              data={ltxKeyKinds.map((value) => ({ value, label: kindWords[value] }))}
              value={kind}
              onChange={(value) => setKind(ltxKeyKinds.find((one) => one === value) ?? 'memory')}
            />
            {mint.refusal !== null && <RefusedNotice refusal={mint.refusal} />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button loading={mint.busy} onClick={() => mint.send({ agent: agentId, kind })}>
                Make the key
              </Button>
            </Group>
          </>
        ) : (
          <>
            <p className="mg-notice" data-tone="changed">
              This is the only time that the key is shown. Only a keyed digest of it is kept here.
            </p>
            <Snippet label="Ledger key" text={token} />
            <Button onClick={close}>Done</Button>
          </>
        )}
      </div>
    </Modal>
  );
}
