import { Button, Group, Modal } from '@mantine/core';
import type { ProposalDetail, ProposalPreview } from '../../../src-preload/contract/proposal.ts';
import type { Refusal } from '../../bridge/refusal.ts';
import { RefusedNotice } from '../../ui/states.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { count, shortId } from '../../ui/words.ts';
import { summariseProposal } from './decide.ts';

interface MergeDialogProps {
  readonly proposal: ProposalDetail;
  readonly approves: boolean;
  readonly opened: boolean;
  readonly busy: boolean;
  readonly refusal: Refusal | null;
  readonly onClose: () => void;
  readonly onMerge: () => void;
}

/** Says what a merge will write before it is written. */
export function MergeDialog({ proposal, approves, opened, busy, refusal, onClose, onMerge }: MergeDialogProps) {
  const { preview } = proposal;
  const label = approves ? 'Approve and merge' : 'Merge';
  return (
    <Modal opened={opened} onClose={onClose} title="Merge into shared memory">
      <div className="mg-form">
        <p>
          <strong>{summariseProposal(proposal)}</strong> from {plainLine(proposal.originator_name, 60)} become accepted
          memory of <strong>{plainLine(proposal.project_id, 60)}</strong>. Every agent that may read the project reads
          it from then on.
        </p>
        {preview !== null && (
          <p className="mg-quiet">
            {mergeWords(proposal, preview)} into <span className="mg-mono">{proposal.target_ref}</span>, now at{' '}
            <span className="mg-mono">{shortId(preview.target_head)}</span>. If it moves first, nothing is merged.
          </p>
        )}
        {refusal !== null && <RefusedNotice refusal={refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={busy} onClick={onMerge} data-autofocus>
            {label}
          </Button>
        </Group>
      </div>
    </Modal>
  );
}

function mergeWords(
  { selected_ops: picked }: ProposalDetail,
  { strategy, proposal_ahead: ahead }: ProposalPreview,
): string {
  if (picked !== null) return `A cherry-pick copies ${count(picked.length, 'operation')}`;
  return `${strategy === 'merge_commit' ? 'A merge commit joins' : 'A fast-forward brings'} ${count(ahead, 'changeset')}`;
}
