import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { shortRef } from '../../ui/words.ts';
import type { BranchRow } from './group-branches.ts';

interface ArchiveDialogProps {
  readonly project: string;
  readonly branch: BranchRow;
  readonly close: () => void;
}

/** Asks before a branch ends where it stands. */
export function ArchiveDialog({ project, branch, close }: ArchiveDialogProps) {
  const archive = useEngineCommand('ref.archive');
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const { ref } = branch;
  const run = async (): Promise<void> => {
    setRefusal(null);
    try {
      await archive.mutateAsync({ project, ref_name: ref.ref_name, expected_head: ref.head_changeset_id });
      notifications.show({ message: `${shortRef(ref.ref_name)} is archived. Its history stays.` });
      close();
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  };
  return (
    <ConfirmDialog
      opened
      title="Archive this branch"
      confirm="Archive branch"
      busy={archive.isPending}
      refusal={refusal}
      onClose={close}
      onConfirm={() => void run()}
    >
      <strong className="mg-mono">{plainLine(shortRef(ref.ref_name), 200)}</strong> leaves the lists and takes no more
      commits. All of its history stays, and its name stays taken. This cannot be undone; a new branch can start at its
      head.
    </ConfirmDialog>
  );
}
