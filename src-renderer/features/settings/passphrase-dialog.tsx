import { Button, Group, Modal, PasswordInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Refusal } from '../../bridge/refusal.ts';
import { RefusedNotice } from '../../ui/states.tsx';

/** Shorter ones are refused here and by the engine alike. */
const charactersMin = 12;

interface PassphraseDialogProps {
  readonly title: string;
  /** The words on the button that does it. */
  readonly confirm: string;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly onClose: () => void;
  readonly onSend: (passphrase: string) => void;
  /** What it will be good for, and what happens when it is forgotten. */
  readonly children: ReactNode;
}

/** Takes a new passphrase, typed twice. */
export function PassphraseDialog(props: PassphraseDialogProps) {
  const { title, confirm, busy, refusal, onClose, onSend, children } = props;
  const [passphrase, setPassphrase] = useState('');
  const [again, setAgain] = useState('');
  const isLong = [...passphrase].length >= charactersMin;
  const isSame = passphrase === again;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isLong && isSame) onSend(passphrase);
  };
  return (
    <Modal opened onClose={onClose} title={title}>
      <form className="mg-form" onSubmit={submit}>
        <p className="mg-quiet">{children}</p>
        <PasswordInput
          label="Passphrase"
          description={`${charactersMin} characters or more`}
          autoComplete="new-password"
          value={passphrase}
          onChange={(event) => setPassphrase(event.currentTarget.value)}
          error={passphrase !== '' && !isLong ? `Still under ${charactersMin} characters` : undefined}
          data-autofocus
        />
        <PasswordInput
          label="The same again"
          autoComplete="new-password"
          value={again}
          onChange={(event) => setAgain(event.currentTarget.value)}
          error={again !== '' && isLong && !isSame ? 'Not the same' : undefined}
        />
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={!isLong || !isSame}>
            {confirm}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
