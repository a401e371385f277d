import './backups.css';
import { Button } from '@mantine/core';
import { Archive } from 'lucide-react';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused, RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count, sizeWords } from '../../ui/words.ts';
import { BackupDetail } from './backup-detail.tsx';
import { BackupJobCard } from './backup-job.tsx';
import { type ListedBackup, stateOf } from './backup-words.ts';
import { Restored } from './restored.tsx';

interface BackupsScreenProps {
  readonly name: string | undefined;
  readonly homeId: string;
}

/** Backups of this home: the state of each, making one, looking into one, going back to one. */
export function BackupsScreen({ name, homeId }: BackupsScreenProps) {
  const answer = useEngineQuery('backup.list', {});
  const create = useAct('backup.create', () => undefined);
  const backups = answer.data?.backups ?? [];
  const backup = backups.find((row) => row.name === name);
  const backUp = (
    <Button leftSection={<Archive size={14} aria-hidden />} loading={create.busy} onClick={() => create.send({})}>
      Back up now
    </Button>
  );
  return (
    <div className="mg-screen">
      <div>
        <ScreenHead
          title="Backups"
          note={answer.data === undefined ? undefined : `the newest ${answer.data.keep} are kept`}
        >
          {backUp}
        </ScreenHead>
        {create.refusal !== null && <RefusedNotice refusal={create.refusal} />}
        <Restored homeId={homeId} />
        <BackupJobCard />
      </div>
      {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
      {answer.isPending && <Loading what="backups" />}
      {answer.data !== undefined && backups.length === 0 && (
        <Empty icon={Archive} title="No backup yet">
          <p>
            A backup holds both databases as they were at one instant, and is verified on its own before it is called
            one. Agents keep working meanwhile. Keep a copy of the folder on another disk.
          </p>
        </Empty>
      )}
      {backups.length > 0 && (
        <div className="mg-panes" data-open={backup !== undefined}>
          <div className="mg-pane mg-pane-list">
            <ul className="mg-list" aria-label="Backups">
              {backups.map((row) => (
                <li key={row.name}>
                  <BackupLink backup={row} current={row === backup} />
                </li>
              ))}
            </ul>
          </div>
          <div className="mg-pane">
            {backup === undefined ? (
              <Empty icon={Archive} title="No backup is open">
                <p>Choose one to look into it, to rehearse going back to it, or to go back.</p>
              </Empty>
            ) : (
              <BackupDetail
                key={backup.name}
                backup={backup}
                homeId={homeId}
                close={() => goTo({ screen: 'backups' })}
              />
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function BackupLink({ backup, current }: { readonly backup: ListedBackup; readonly current: boolean }) {
  const state = stateOf(backup);
  return (
    <a
      className="mg-row"
      href={formatRoute({ screen: 'backups', name: backup.name })}
      aria-current={current ? 'true' : undefined}
    >
      <span className="mg-row-title">
        {backup.created_at === null ? plainLine(backup.name, 80) : <When at={backup.created_at} />}
      </span>
      <span className="mg-row-meta">
        <span className="mg-chip" data-tone={state.tone}>
          {state.words}
        </span>
        {backup.kind === 'safety' && <span className="mg-chip">before a restore</span>}
        <span>{sizeWords(backup.bytes)}</span>
        {backup.changesets !== null && <span>{count(backup.changesets, 'changeset')}</span>}
      </span>
    </a>
  );
}
