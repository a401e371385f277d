import { Button, Tooltip } from '@mantine/core';
import { Check, GitMerge, MessageSquareWarning, X } from 'lucide-react';
import { useState } from 'react';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useKeys } from '../../ui/keys.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { CommentDialog } from './comment-dialog.tsx';
import type { ReviewButtons } from './decide.ts';
import { MergeDialog } from './merge-dialog.tsx';
import { useReview } from './use-review.ts';

interface ReviewActionsProps {
  readonly proposal: ProposalDetail;
  readonly buttons: ReviewButtons;
}

type Dialog = 'none' | 'request_changes' | 'reject' | 'merge';

/** Approve, request changes, reject, merge. A button that cannot be pressed says why. */
export function ReviewActions({ proposal, buttons }: ReviewActionsProps) {
  const [dialog, setDialog] = useState<Dialog>('none');
  const { review, merge, busy, refusal, clear } = useReview(proposal);
  const approve = (): void => void review('approve', '');
  const openDialog = (next: Dialog): void => {
    clear();
    setDialog(next);
  };
  useKeys([
    ['a', () => buttons.approve === null && !busy && approve()],
    ['c', () => buttons.requestChanges === null && openDialog('request_changes')],
    ['r', () => buttons.reject === null && openDialog('reject')],
    ['m', () => buttons.merge === null && openDialog('merge')],
  ]);
  const close = (): void => setDialog('none');
  const finish = (done: boolean): void => {
    if (done) close();
  };
  return (
    <fieldset className="mg-actions" aria-label="Decide">
      <div className="mg-actions-row">
        <Action
          label="Approve"
          keyName="a"
          why={buttons.approve}
          icon={<Check size={15} />}
          busy={busy}
          press={approve}
          variant="default"
        />
        <Action
          label="Request changes"
          keyName="c"
          why={buttons.requestChanges}
          icon={<MessageSquareWarning size={15} />}
          busy={false}
          press={() => openDialog('request_changes')}
          variant="default"
        />
        <Action
          label="Reject"
          keyName="r"
          why={buttons.reject}
          icon={<X size={15} />}
          busy={false}
          press={() => openDialog('reject')}
          variant="default"
        />
        <Action
          label={buttons.mergeApproves ? 'Approve and merge' : 'Merge'}
          keyName="m"
          why={buttons.merge}
          icon={<GitMerge size={15} />}
          busy={false}
          press={() => openDialog('merge')}
          variant="filled"
        />
      </div>
      {buttons.merge !== null && proposal.status === 'pending' && <p className="mg-quiet">{buttons.merge}</p>}
      {refusal !== null && dialog === 'none' && <RefusedNotice refusal={refusal} />}
      <CommentDialog
        verdict={dialog === 'reject' ? 'reject' : 'request_changes'}
        opened={dialog === 'request_changes' || dialog === 'reject'}
        busy={busy}
        refusal={refusal}
        onClose={close}
        onSend={(comment) => void review(dialog === 'reject' ? 'reject' : 'request_changes', comment).then(finish)}
      />
      <MergeDialog
        proposal={proposal}
        approves={buttons.mergeApproves}
        opened={dialog === 'merge'}
        busy={busy}
        refusal={refusal}
        onClose={close}
        onMerge={() => void merge(buttons.mergeApproves).then(finish)}
      />
    </fieldset>
  );
}

interface ActionProps {
  readonly label: string;
  readonly keyName: string;
  readonly why: string | null;
  readonly icon: React.ReactNode;
  readonly busy: boolean;
  readonly press: () => void;
  readonly variant: 'default' | 'filled';
}

/** Stays focusable when it cannot be pressed, so that the keyboard and a screen reader get the reason too. */
function Action({ label, keyName, why, icon, busy, press, variant }: ActionProps) {
  const off = why !== null;
  return (
    <Tooltip label={why ?? `${label} (${keyName})`}>
      <Button
        size="sm"
        variant={variant}
        leftSection={icon}
        loading={busy}
        {...(off ? { 'data-disabled': true, 'aria-description': why } : {})}
        aria-disabled={off}
        aria-keyshortcuts={keyName}
        onClick={(event) => {
          event.preventDefault();
          if (!off) press();
        }}
      >
        {label}
      </Button>
    </Tooltip>
  );
}
