import { Button, Group, Modal, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Changeset } from '../../../src-preload/contract/changeset.ts';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import { goTo } from '../../ui/navigation.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import { shortId } from '../../ui/words.ts';

interface RevertDialogProps {
  readonly changeset: Changeset;
  readonly close: () => void;
}

/** Proposes to take back what one changeset did; nothing is deleted, and nothing happens before the proposal is merged. */
export function RevertDialog({ changeset, close }: RevertDialogProps) {
  const revert = useEngineCommand('memory.revert_propose');
  const [message, setMessage] = useState(`Revert ${shortId(changeset.changeset_id)}: ${firstLine(changeset.message)}`);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [key] = useState(() => crypto.randomUUID());
  const send = async (): Promise<void> => {
    setRefusal(null);
    try {
      const proposal = await revert.mutateAsync({
        project: changeset.project_id,
        changeset_id: changeset.changeset_id,
        message: message.trim(),
        idempotency_key: key,
      });
      close();
      goTo({ screen: 'inbox', proposalId: proposal.proposal_id });
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (message.trim() !== '') void send();
  };
  return (
    <Modal opened onClose={close} title="Revert this changeset">
      <form className="mg-form" onSubmit={submit}>
        <p className="mg-quiet">
          A new changeset gives every memory that this one touched the state it had before, and is proposed to main. The
          history keeps both. Memories that changed since are named, and nothing is proposed.
        </p>
        <Textarea
          label="Message"
          autosize
          minRows={2}
          maxRows={10}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
          data-autofocus
        />
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={revert.isPending} disabled={message.trim() === ''}>
            Propose the revert
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** The first line of a message, at most 120 characters of it. */
function firstLine(message: string): string {
  const [line = ''] = message.split('\n');
  return line.length <= 120 ? line : `${[...line].slice(0, 119).join('')}…`;
}
