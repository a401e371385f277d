import type { BackupInspection, BackupJob, ListedBackup } from '../../../src-preload/contract/commands/backup.ts';

export type { BackupInspection, BackupJob, ListedBackup };

/** How a backup stands, as one says it, and the tone that goes with it. */
export function stateOf({ state, verified_at: verifiedAt }: ListedBackup): {
  readonly words: string;
  readonly tone: 'added' | 'changed' | 'removed';
} {
  if (state === 'damaged') return { words: 'damaged', tone: 'removed' };
  if (state === 'foreign') return { words: 'of another home', tone: 'removed' };
  return verifiedAt === null ? { words: 'not verified', tone: 'changed' } : { words: 'verified', tone: 'added' };
}

/** What a running backup is doing. */
export const phaseWords: Readonly<Record<BackupJob['phase'], string>> = {
  waiting: 'Waiting for a moment between two writes',
  copying: 'Copying both databases',
  verifying: 'Verifying the copy',
  finishing: 'Finishing',
  done: 'Done',
  failed: 'Failed',
  canceled: 'Canceled',
};

/** Whether a job has come to an end. */
export function isOver({ phase }: BackupJob): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'canceled';
}

type Difference = NonNullable<BackupInspection['goes_back']>['projects'][number];

/** What going back would do to one project. */
export function differenceWords({ state, changesets_now: now, changesets_then: then }: Difference): string {
  switch (state) {
    case 'same':
      return 'as it is now';
    case 'behind':
      return `goes back: ${then.toLocaleString('en')} of ${now.toLocaleString('en')} changesets`;
    case 'unrelated':
      return 'another history than the one here';
    case 'only_here':
      return 'is not in the backup: it would be gone';
    case 'only_in_backup':
      return 'comes back';
  }
}
