import { useState } from 'react';
import type { Changeset } from '../../../src-preload/contract/changeset.ts';
import { useAct } from '../../bridge/act.ts';
import { MessageDialog } from '../../ui/message-dialog.tsx';
import { goTo } from '../../ui/navigation.ts';
import { firstLine, shortId } from '../../ui/words.ts';

interface RevertDialogProps {
  readonly changeset: Changeset;
  readonly close: () => void;
}

/** Proposes to take back what one changeset did; nothing is deleted, and nothing happens before the proposal is merged. */
export function RevertDialog({ changeset, close }: RevertDialogProps) {
  const [key] = useState(() => crypto.randomUUID());
  const { send, busy, refusal } = useAct('memory.revert_propose', (proposal) => {
    close();
    goTo({ screen: 'inbox', proposalId: proposal.proposal_id });
  });
  const { project_id: project, changeset_id: id } = changeset;
  return (
    <MessageDialog
      title="Revert this changeset"
      label="Message"
      initial={`Revert ${shortId(id)}: ${firstLine(changeset.message, 120)}`}
      confirm="Propose the revert"
      busy={busy}
      refusal={refusal}
      onClose={close}
      onSend={(message) => send({ project, changeset_id: id, message, idempotency_key: key })}
    >
      A new changeset gives every memory that this one touched the state it had before, and is proposed to main. The
      history keeps both. When memories changed since, they are named and nothing is proposed.
    </MessageDialog>
  );
}
