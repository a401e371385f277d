import { Button, Progress } from '@mantine/core';
import { useAct } from '../../bridge/act.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { sizeWords } from '../../ui/words.ts';
import { isOver, phaseWords } from './backup-words.ts';

/** The backup that is being made, with the way to cancel it; the last one when it failed. */
export function BackupJobCard() {
  const answer = useEngineQuery('backup.status', {});
  const cancel = useAct('backup.cancel', () => undefined);
  const job = answer.data?.job;
  if (job === undefined || job === null || job.phase === 'done' || job.phase === 'canceled') return null;
  const share = job.total === 0 ? 0 : Math.min(100, (100 * job.done) / job.total);
  return (
    <section className="mg-waiting mg-job" aria-label="The backup that is being made">
      {job.phase === 'failed' ? (
        <p role="alert">The backup failed, and nothing of it was left: {plainLine(job.problem ?? 'unknown', 300)}</p>
      ) : (
        <>
          <p role="status">
            {phaseWords[job.phase]}
            {job.phase === 'copying' && job.total > 0 && `: ${sizeWords(job.done)} of ${sizeWords(job.total)}`}
            {job.phase === 'verifying' &&
              job.total > 0 &&
              `: ${job.done.toLocaleString('en')} of ${job.total.toLocaleString('en')} changesets`}
          </p>
          <Progress value={share} aria-label="How far it is" />
        </>
      )}
      {cancel.refusal !== null && <RefusedNotice refusal={cancel.refusal} />}
      {!isOver(job) && (
        <Button variant="default" size="xs" loading={cancel.busy} onClick={() => cancel.send({ job_id: job.job_id })}>
          Cancel
        </Button>
      )}
    </section>
  );
}
