import { Button } from '@mantine/core';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { Id } from '../../ui/id.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count, sizeWords } from '../../ui/words.ts';
import { type BackupInspection, type ListedBackup, stateOf } from './backup-words.ts';
import { Inspection } from './inspection.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

interface BackupDetailProps {
  readonly backup: ListedBackup;
  readonly homeId: string;
  readonly close: () => void;
}

/** One backup: what it holds, whether it verifies now, a rehearsal, and going back to it. */
export function BackupDetail({ backup, homeId, close }: BackupDetailProps) {
  const [inspection, setInspection] = useState<BackupInspection | null>(null);
  const [restoring, setRestoring] = useState(false);
  const inspect = useAct('backup.inspect', setInspection);
  const rehearse = useAct('backup.rehearse', () => undefined);
  const state = stateOf(backup);
  const { name: directory } = backup;
  const refusal = inspect.refusal ?? rehearse.refusal;
  return (
    <div className="mg-page">
      <Button
        className="mg-back"
        variant="subtle"
        size="compact-xs"
        leftSection={<ArrowLeft size={14} aria-hidden />}
        onClick={close}
      >
        Backups
      </Button>
      <section className="mg-section" aria-label="This backup">
        <h2>
          {plainLine(backup.name, 80)}
          <span className="mg-chip" data-tone={state.tone}>
            {state.words}
          </span>
        </h2>
        <dl className="mg-pairs">
          <dt>Folder</dt>
          <dd>
            <Id id={backup.directory} label={backup.directory} of="the folder" />
          </dd>
          {backup.created_at !== null && (
            <>
              <dt>State of</dt>
              <dd>
                <When at={backup.created_at} />
              </dd>
            </>
          )}
          <dt>Size</dt>
          <dd>{sizeWords(backup.bytes)}</dd>
          {backup.projects !== null && backup.changesets !== null && (
            <>
              <dt>Holds</dt>
              <dd>
                {count(backup.projects, 'project')}, {count(backup.changesets, 'changeset')}
              </dd>
            </>
          )}
          <dt>Keys</dt>
          <dd>{backup.has_keys ? 'in it, sealed under the recovery passphrase' : 'not in it'}</dd>
          <dt>Verified</dt>
          <dd>{backup.verified_at === null ? 'never' : <When at={backup.verified_at} />}</dd>
          <dt>Rehearsed</dt>
          <dd>{backup.rehearsed_at === null ? 'never' : <When at={backup.rehearsed_at} />}</dd>
        </dl>
        {backup.problem !== null && <p className="mg-notice">{plainLine(backup.problem, 300)}</p>}
      </section>
      <div className="mg-backup-acts">
        <Button variant="default" loading={inspect.busy} onClick={() => inspect.send({ directory })}>
          Inspect
        </Button>
        <Button
          variant="default"
          loading={rehearse.busy}
          disabled={backup.state !== 'readable'}
          onClick={() => rehearse.send({ directory })}
        >
          Rehearse
        </Button>
        <Button color="clay" disabled={backup.state !== 'readable'} onClick={() => setRestoring(true)}>
          Restore…
        </Button>
      </div>
      {refusal !== null && <RefusedNotice refusal={refusal} />}
      {inspection !== null && <Inspection inspection={inspection} />}
      {restoring && <RestoreDialog directory={directory} homeId={homeId} onClose={() => setRestoring(false)} />}
    </div>
  );
}
