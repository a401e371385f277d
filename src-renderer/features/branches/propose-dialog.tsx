import { Button, Group, Modal, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import { goTo } from '../../ui/navigation.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { count, shortRef } from '../../ui/words.ts';
import type { BranchRow } from './group-branches.ts';

interface ProposeDialogProps {
  readonly project: string;
  readonly branch: BranchRow;
  readonly main: string;
  readonly close: () => void;
}

/** Files a proposal of the owner's for a branch as it stands, and opens it. */
export function ProposeDialog({ project, branch, main, close }: ProposeDialogProps) {
  const propose = useEngineCommand('memory.merge_propose');
  const [message, setMessage] = useState('');
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [key] = useState(() => crypto.randomUUID());
  const send = async (): Promise<void> => {
    setRefusal(null);
    try {
      const proposal = await propose.mutateAsync({
        project,
        target_ref: 'refs/shared/main',
        head_changeset_id: branch.ref.head_changeset_id,
        base_changeset_id: main,
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
    <Modal opened onClose={close} title="Propose this branch">
      <form className="mg-form" onSubmit={submit}>
        <p className="mg-quiet">
          {count(branch.ahead, 'changeset')} of{' '}
          <span className="mg-mono">{plainLine(shortRef(branch.ref.ref_name), 200)}</span> would come into main. You
          make the proposal, so you cannot review it; you may merge it.
        </p>
        <Textarea
          label="What it brings"
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
          <Button type="submit" loading={propose.isPending} disabled={message.trim() === ''}>
            Propose
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
