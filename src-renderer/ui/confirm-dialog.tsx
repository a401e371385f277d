import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Refusal } from '../bridge/refusal.ts';
import { RefusedNotice } from './states.tsx';

interface ConfirmDialogProps {
  readonly opened: boolean;
  readonly title: string;
  /** The words on the button that does it. */
  readonly confirm: string;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  /** What the act destroys, and whether it can be undone. */
  readonly children: ReactNode;
}

/** Asks before something is taken away. The safe button is the default. */
export function ConfirmDialog({
  opened,
  title,
  confirm,
  busy,
  refusal,
  onClose,
  onConfirm,
  children,
}: ConfirmDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <div className="mg-form">
        <p>{children}</p>
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="clay" loading={busy} onClick={onConfirm}>
            {confirm}
          </Button>
        </Group>
      </div>
    </Modal>
  );
}
