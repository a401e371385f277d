import { Button } from '@mantine/core';
import { LifeBuoy } from 'lucide-react';
import { useState } from 'react';
import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count } from '../../ui/words.ts';

/** What waits for the next start, and a restored home that waits for its owner's check. */
export function Restored({ homeId }: { readonly homeId: string }) {
  const answer = useEngineQuery('restore.status', {});
  const [lifted, setLifted] = useState(false);
  const { waiting, restored, problem } = answer.data ?? { waiting: null, restored: null, problem: null };
  return (
    <>
      {problem !== null && (
        <section className="mg-waiting" aria-label="The last restore">
          <p role="alert">{plainLine(problem, 400)}</p>
        </section>
      )}
      {waiting !== null && <Waiting act={waiting.act} />}
      {waiting === null && restored !== null && (
        <Check restored={restored} homeId={homeId} onLifted={() => setLifted(true)} />
      )}
      {lifted && (
        <section className="mg-waiting" aria-label="Recovery is lifted">
          <p role="status">
            Everything agrees. It can be written to from the next start on: close Memory Git, then open it.
          </p>
        </section>
      )}
    </>
  );
}

function Waiting({ act }: { readonly act: 'restore' | 'put_back' }) {
  const withdraw = useAct('restore.withdraw', () => undefined);
  return (
    <section className="mg-waiting" aria-label="Waiting for the next start">
      <h2>
        <LifeBuoy size={15} aria-hidden /> Waiting for the next start
      </h2>
      <div className="mg-waiting-row">
        <p>
          {act === 'restore'
            ? 'The backup is restored when Memory Git is started again: close it, then open it.'
            : 'What was there before the restore is put back when Memory Git is started again: close it, then open it.'}
        </p>
        <Button variant="default" loading={withdraw.busy} onClick={() => withdraw.send({})}>
          Do not
        </Button>
      </div>
      {withdraw.refusal !== null && <RefusedNotice refusal={withdraw.refusal} />}
    </section>
  );
}

type RestoredFacts = NonNullable<CommandOutput<'restore.status'>['restored']>;

interface CheckProps {
  readonly restored: RestoredFacts;
  readonly homeId: string;
  readonly onLifted: () => void;
}

function Check({ restored, homeId, onLifted }: CheckProps) {
  const [found, setFound] = useState<CommandOutput<'restore.lift'> | null>(null);
  const [asking, setAsking] = useState(false);
  const lift = useAct('restore.lift', (answer) => (answer.lifted ? onLifted() : setFound(answer)));
  const putBack = useAct('restore.put_back', () => setAsking(false));
  const findings = found?.report.checks.flatMap((check) => check.findings) ?? [];
  return (
    <section className="mg-waiting" aria-label="Restored, waiting for your check">
      <h2>
        <LifeBuoy size={15} aria-hidden /> Restored, waiting for your check
      </h2>
      <div className="mg-waiting-row">
        <p>
          This home is as it was <When at={restored.created_at} />. Look around: everything can be read, nothing is
          written. When it is what you want, have everything compared once and lift the recovery.
        </p>
        <div className="mg-waiting-acts">
          <Button variant="default" onClick={() => setAsking(true)}>
            Put back what was there…
          </Button>
          <Button loading={lift.busy} onClick={() => lift.send({})}>
            Check everything and lift it
          </Button>
        </div>
      </div>
      {restored.notes.map((note) => (
        <p key={note} className="mg-quiet">
          {plainLine(note, 300)}
        </p>
      ))}
      {found !== null && (
        <div role="alert">
          <p>{count(findings.length, 'finding')}: nothing was lifted.</p>
          {findings.slice(0, 20).map((finding) => (
            <p key={`${finding.where} ${finding.problem}`}>
              <span className="mg-mono">{plainLine(finding.where, 120)}</span>: {plainLine(finding.problem, 300)}
            </p>
          ))}
        </div>
      )}
      {lift.refusal !== null && <RefusedNotice refusal={lift.refusal} />}
      <ConfirmDialog
        opened={asking}
        title="Put back what was there"
        confirm="Put it back at the next start"
        busy={putBack.busy}
        refusal={putBack.refusal}
        onClose={() => setAsking(false)}
        onConfirm={() => putBack.send({ confirm: homeId.slice(0, 8) })}
      >
        The next start puts the home back as it was before this restore. What was restored is kept aside.
      </ConfirmDialog>
    </section>
  );
}
