import { notifications } from '@mantine/notifications';
import { useAct } from '../../bridge/act.ts';
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
  const { ref } = branch;
  const name = plainLine(shortRef(ref.ref_name), 200);
  const { send, busy, refusal } = useAct('ref.archive', () => {
    notifications.show({ message: `${name} is archived. Its history stays.` });
    close();
  });
  return (
    <ConfirmDialog
      opened
      title="Archive this branch"
      confirm="Archive branch"
      busy={busy}
      refusal={refusal}
      onClose={close}
      onConfirm={() => send({ project, ref_name: ref.ref_name, expected_head: ref.head_changeset_id })}
    >
      <strong className="mg-mono">{name}</strong> leaves the lists and takes no more commits. All of its history stays,
      and its name stays taken. This cannot be undone; a new branch can start at its head.
    </ConfirmDialog>
  );
}
