import { useState } from 'react';
import { useAct } from '../../bridge/act.ts';
import { MessageDialog } from '../../ui/message-dialog.tsx';
import { goTo } from '../../ui/navigation.ts';
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
  const [key] = useState(() => crypto.randomUUID());
  const { send, busy, refusal } = useAct('memory.merge_propose', (proposal) => {
    close();
    goTo({ screen: 'inbox', proposalId: proposal.proposal_id });
  });
  const propose = (message: string): void =>
    send({
      project,
      target_ref: 'refs/shared/main',
      head_changeset_id: branch.ref.head_changeset_id,
      base_changeset_id: main,
      message,
      idempotency_key: key,
    });
  return (
    <MessageDialog
      title="Propose this branch"
      label="What it brings"
      initial=""
      confirm="Propose"
      busy={busy}
      refusal={refusal}
      onClose={close}
      onSend={propose}
    >
      {count(branch.ahead, 'changeset')} of{' '}
      <span className="mg-mono">{plainLine(shortRef(branch.ref.ref_name), 200)}</span> would come into main. You make
      the proposal, so you cannot review it; you may merge it.
    </MessageDialog>
  );
}
