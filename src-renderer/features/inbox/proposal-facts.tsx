import { Button } from '@mantine/core';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import type { ProposalDetail } from '../../../src-preload/contract/proposal.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { Id } from '../../ui/id.tsx';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count } from '../../ui/words.ts';
import { UndoDialog } from './undo-dialog.tsx';

interface ProposalFactsProps {
  readonly proposal: ProposalDetail;
  readonly nameOf: (principalId: string) => string;
}

/** Who proposed it with which agent and model, when, between which changesets, until when. */
export function ProposalFacts({ proposal, nameOf }: ProposalFactsProps) {
  const head = useEngineQuery('memory.show', { id: proposal.head_changeset_id });
  const { preview } = proposal;
  const how = [head.data?.model, head.data?.surface].filter((word) => word !== undefined && word !== '');
  return (
    <dl className="mg-pairs">
      <dt>Proposed by</dt>
      <dd>
        <strong>{plainLine(proposal.originator_name, 60)}</strong>
        {how.length > 0 && <> with {plainLine(how.join(', '), 80)}</>}, <When at={proposal.created_at} />
      </dd>
      <dt>Into</dt>
      <dd>
        <span className="mg-mono">{proposal.target_ref}</span>
        {preview !== null && (
          <>
            {' at '}
            <Id id={preview.target_head} of="target head" />
            {preview.target_ahead > 0 && <> ({count(preview.target_ahead, 'changeset')} past the base)</>}
          </>
        )}
      </dd>
      <dt>Base and head</dt>
      <dd>
        <Id id={proposal.base_changeset_id} of="base changeset id" /> →{' '}
        <Id id={proposal.head_changeset_id} of="head changeset id" />{' '}
        <a
          href={formatRoute({
            screen: 'compare',
            base: proposal.base_changeset_id,
            target: proposal.head_changeset_id,
          })}
        >
          compare
        </a>
      </dd>
      {proposal.selected_ops !== null && (
        <>
          <dt>Cherry-pick</dt>
          <dd>{count(proposal.selected_ops.length, 'operation')} of that head, and nothing else of it</dd>
        </>
      )}
      <Ending proposal={proposal} nameOf={nameOf} />
    </dl>
  );
}

function Ending({ proposal, nameOf }: ProposalFactsProps) {
  const [undoing, setUndoing] = useState(false);
  if (proposal.status === 'pending') {
    return (
      <>
        <dt>Expires</dt>
        <dd>
          <When at={proposal.expires_at} />
        </dd>
      </>
    );
  }
  return (
    <>
      {proposal.decided_at !== undefined && (
        <>
          <dt>Decided</dt>
          <dd>
            <When at={proposal.decided_at} />
            {proposal.decided_by !== undefined && <> by {plainLine(nameOf(proposal.decided_by), 60)}</>}
          </dd>
        </>
      )}
      {proposal.resulting_changeset_id !== undefined && (
        <>
          <dt>Result</dt>
          <dd>
            <Id id={proposal.resulting_changeset_id} of="resulting changeset id" />{' '}
            <a href={formatRoute({ screen: 'history', changesetId: proposal.resulting_changeset_id })}>
              show in history
            </a>{' '}
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<Undo2 size={13} aria-hidden />}
              onClick={() => setUndoing(true)}
            >
              Undo this merge…
            </Button>
            {undoing && (
              <UndoDialog
                proposal={proposal}
                result={proposal.resulting_changeset_id}
                close={() => setUndoing(false)}
              />
            )}
          </dd>
        </>
      )}
    </>
  );
}
