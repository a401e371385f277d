import { Button, Group, Modal, Textarea } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Refusal } from '../bridge/refusal.ts';
import { RefusedNotice } from './states.tsx';

interface MessageDialogProps {
  readonly title: string;
  readonly label: string;
  readonly initial: string;
  /** The words on the button that does it. */
  readonly confirm: string;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly onClose: () => void;
  readonly onSend: (message: string) => void;
  /** What will happen. */
  readonly children: ReactNode;
}

/** Asks for the message that an act needs. */
export function MessageDialog(props: MessageDialogProps) {
  const { title, label, initial, confirm, busy, refusal, onClose, onSend, children } = props;
  const [message, setMessage] = useState(initial);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (message.trim() !== '') onSend(message.trim());
  };
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="mg-form" onSubmit={submit}>
        <p className="mg-quiet">{children}</p>
        <Textarea
          label={label}
          autosize
          minRows={2}
          maxRows={10}
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
          data-autofocus
        />
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={message.trim() === ''}>
            {confirm}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
