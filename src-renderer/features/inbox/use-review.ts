import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import type { ProposalDetail, Verdict } from '../../../src-preload/contract/proposal.ts';
import { useEngineCommand } from '../../bridge/queries.tsx';
import { type Refusal, refusalOf } from '../../bridge/refusal.ts';
import { shortId } from '../../ui/words.ts';
import { summariseProposal } from './decide.ts';

const noticeByVerdict: Readonly<Record<Verdict, string>> = {
  approve: 'Approved. It can be merged while nothing changes.',
  request_changes: 'Changes requested. The author sees your comment.',
  reject: 'Rejected. Its branch keeps everything.',
};

interface ReviewCommands {
  /** Sends a verdict on exactly what is shown; true when it was taken. */
  readonly review: (verdict: Verdict, comment: string) => Promise<boolean>;
  /** Merges, after approving what is shown when asked to; true when it was done. */
  readonly merge: (approveFirst: boolean) => Promise<boolean>;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly clear: () => void;
}

/** The owner's decisions about one proposal, each bound to the digest and the target head that were on screen. */
export function useReview(proposal: ProposalDetail): ReviewCommands {
  const reviewCommand = useEngineCommand('memory.merge_review');
  const mergeCommand = useEngineCommand('memory.merge');
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<boolean> => {
    setRefusal(null);
    try {
      await act();
      return true;
    } catch (error) {
      setRefusal(refusalOf(error));
      return false;
    }
  };
  const sendVerdict = async (verdict: Verdict, comment: string): Promise<void> => {
    await reviewCommand.mutateAsync({
      proposal_id: proposal.proposal_id,
      verdict,
      comment,
      proposal_digest: proposal.proposal_digest,
      target_head: proposal.preview?.target_head ?? proposal.target_head,
    });
  };
  return {
    review: (verdict, comment) =>
      attempt(async () => {
        await sendVerdict(verdict, comment);
        notifications.show({ message: noticeByVerdict[verdict] });
      }),
    merge: (approveFirst) =>
      attempt(async () => {
        if (approveFirst) await sendVerdict('approve', '');
        const result = await mergeCommand.mutateAsync({
          proposal_id: proposal.proposal_id,
          idempotency_key: crypto.randomUUID(),
        });
        notifications.show({
          title: 'Merged into shared memory',
          message: `${summariseProposal(proposal)}. ${result.ref.ref_name} is at ${shortId(result.resulting_changeset_id)} now.`,
          color: 'leaf',
          autoClose: 9_000,
        });
      }),
    busy: reviewCommand.isPending || mergeCommand.isPending,
    refusal,
    clear: () => setRefusal(null),
  };
}
