import { useState } from 'react';
import type { Proposal } from '../../../src-preload/contract/proposal.ts';
import { useAct } from '../../bridge/act.ts';
import { MessageDialog } from '../../ui/message-dialog.tsx';
import { goTo } from '../../ui/navigation.ts';
import { firstLine } from '../../ui/words.ts';

interface UndoDialogProps {
  readonly proposal: Proposal;
  readonly result: string;
  readonly close: () => void;
}

/** Proposes to take back what a merge brought in, and opens that proposal. */
export function UndoDialog({ proposal, result, close }: UndoDialogProps) {
  const [key] = useState(() => crypto.randomUUID());
  const { send, busy, refusal } = useAct('proposal.revert_advance', (undoing) => {
    close();
    goTo({ screen: 'inbox', proposalId: undoing.proposal_id });
  });
  const undo = (message: string): void =>
    send({
      project: proposal.project_id,
      expected_head: proposal.target_head,
      new_head: result,
      message,
      idempotency_key: key,
    });
  return (
    <MessageDialog
      title="Undo this merge"
      label="Message"
      initial={`Undo: ${firstLine(proposal.message, 120)}`}
      confirm="Propose the undo"
      busy={busy}
      refusal={refusal}
      onClose={close}
      onSend={undo}
    >
      A new changeset gives every memory that this merge touched the state it had before, in a proposal of yours to
      merge. The history keeps both. When memories changed since, they are named and nothing is proposed.
    </MessageDialog>
  );
}
