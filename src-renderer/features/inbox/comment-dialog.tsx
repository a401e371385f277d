import { Button, Group, Modal, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Refusal } from '../../bridge/refusal.ts';
import { RefusedNotice } from '../../ui/states.tsx';

const words = {
  request_changes: {
    title: 'Request changes',
    explain: 'The proposal stays open and cannot be merged until you approve it, or its author files a new one.',
    label: 'What has to change',
    send: 'Send request',
    color: 'river',
  },
  reject: {
    title: 'Reject this proposal',
    explain: 'It is closed for good and nothing of it reaches shared memory. Its branch and changesets stay.',
    label: 'Why',
    send: 'Reject proposal',
    color: 'clay',
  },
} as const;

interface CommentDialogProps {
  readonly verdict: 'request_changes' | 'reject';
  readonly opened: boolean;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly onClose: () => void;
  readonly onSend: (comment: string) => void;
}

/** A verdict against a proposal needs a reason for its author. */
export function CommentDialog({ verdict, opened, busy, refusal, onClose, onSend }: CommentDialogProps) {
  const [comment, setComment] = useState('');
  const text = words[verdict];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (comment.trim() !== '') onSend(comment.trim());
  };
  return (
    <Modal opened={opened} onClose={onClose} title={text.title}>
      <form className="mg-form" onSubmit={submit}>
        <p className="mg-quiet">{text.explain}</p>
        <Textarea
          label={text.label}
          autosize
          minRows={3}
          maxRows={12}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          data-autofocus
        />
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color={text.color} loading={busy} disabled={comment.trim() === ''}>
            {text.send}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
