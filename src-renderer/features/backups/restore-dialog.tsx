import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import type { BackupInspection } from './backup-words.ts';
import { Inspection } from './inspection.tsx';

interface RestoreDialogProps {
  readonly directory: string;
  readonly homeId: string;
  readonly onClose: () => void;
}

/** Asks for the beginning of the home id; then verifies the backup and has the next start restore it. */
export function RestoreDialog({ directory, homeId, onClose }: RestoreDialogProps) {
  const [typed, setTyped] = useState('');
  const [answer, setAnswer] = useState<BackupInspection | null>(null);
  const stage = useAct('restore.stage', (found) => (found.ok ? onClose() : setAnswer(found)));
  const wanted = homeId.slice(0, 8);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === wanted) stage.send({ directory, confirm: typed });
  };
  return (
    <Modal opened onClose={onClose} title="Restore this backup" size="lg">
      <form className="mg-form" onSubmit={submit}>
        <p>
          Everything in it is verified first; while anything does not hold, nothing is touched. Then the next start of
          Memory Git puts it in the place of what is here now, which is kept aside. It comes up read-only until you have
          looked at it. Tokens from before must be approved again.
        </p>
        <TextInput
          label={`Type the first 8 characters of the home id, ${wanted}`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value.trim())}
          autoComplete="off"
          data-autofocus
        />
        {stage.refusal !== null && <RefusedNotice refusal={stage.refusal} />}
        {answer !== null && <Inspection inspection={answer} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="clay" loading={stage.busy} disabled={typed !== wanted}>
            Restore at the next start
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
