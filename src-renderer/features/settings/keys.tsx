import { Button, Checkbox, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import type { KeyFacts } from '../../../src-preload/contract/commands/operations.ts';
import { keyEffects, keyUses } from '../../../src-preload/contract/key-words.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { When } from '../../ui/when.tsx';
import { count } from '../../ui/words.ts';

const sourceWords: Readonly<Record<KeyFacts['source'], string>> = {
  'keys.json': 'of this home',
  environment: 'from the environment',
  none: 'not made yet',
};

/** The keys of this home: what each is for, since when it is in use, and the way to replace it. Never a key. */
export function Keys() {
  const answer = useEngineQuery('key.list', {});
  const [replacing, setReplacing] = useState<KeyFacts | null>(null);
  return (
    <section className="mg-section" aria-label="Keys">
      <h2>Keys</h2>
      {answer.error !== null && <RefusedNotice refusal={answer.error} />}
      <ul className="mg-list mg-card">
        {answer.data?.keys.map((key) => (
          <li key={key.name} className="mg-row mg-waiting-row">
            <KeyLine facts={key} />
            {key.source === 'keys.json' && (
              <Button
                variant="default"
                size="xs"
                onClick={() => setReplacing(key)}
                aria-label={`Replace the key ${key.name}`}
              >
                Replace…
              </Button>
            )}
          </li>
        ))}
      </ul>
      {replacing !== null && <ReplaceDialog facts={replacing} onClose={() => setReplacing(null)} />}
    </section>
  );
}

function KeyLine({ facts: { name, source, since, earlier } }: { readonly facts: KeyFacts }) {
  return (
    <div>
      <strong className="mg-mono">{name}</strong> {keyUses[name]}
      <p className="mg-quiet">
        {sourceWords[source]}
        {since !== null && (
          <>
            , replaced <When at={since} />
          </>
        )}
        {earlier > 0 &&
          `; ${count(earlier, 'earlier key')} still ${earlier === 1 ? 'verifies' : 'verify'} what it made`}
      </p>
    </div>
  );
}

function ReplaceDialog({ facts: { name }, onClose }: { readonly facts: KeyFacts; readonly onClose: () => void }) {
  const [dropEarlier, setDropEarlier] = useState(false);
  const replace = useAct('key.rotate', onClose);
  return (
    <Modal opened onClose={onClose} title={`Replace the key ${name}`}>
      <div className="mg-form">
        <p>
          A new key is made, in use from the next start of Memory Git on. {keyEffects[name]} Back up afterwards: without
          its keys nothing of this home verifies.
        </p>
        {name === 'obol' && (
          <Checkbox
            label="End every token that was minted before, and every key of the memory ledger"
            checked={dropEarlier}
            onChange={(event) => setDropEarlier(event.currentTarget.checked)}
          />
        )}
        {replace.refusal !== null && <RefusedNotice refusal={replace.refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button
            {...(dropEarlier ? { color: 'clay' } : {})}
            loading={replace.busy}
            onClick={() => replace.send(name === 'obol' ? { key: name, drop_earlier: dropEarlier } : { key: name })}
          >
            Replace the key
          </Button>
        </Group>
      </div>
    </Modal>
  );
}
