import './branches.css';
import { Button, Checkbox } from '@mantine/core';
import { GitBranch } from 'lucide-react';
import { useState } from 'react';
import { usePeople } from '../../bridge/people.ts';
import { useEnginePages, useEngineQuery } from '../../bridge/queries.tsx';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { Empty, Loading, Refused } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import { ArchiveDialog } from './archive-dialog.tsx';
import { BranchTable } from './branch-table.tsx';
import { type BranchRow, groupBranches } from './group-branches.ts';
import { ProposeDialog } from './propose-dialog.tsx';

interface Acting {
  readonly act: 'propose' | 'archive';
  readonly branch: BranchRow;
}

/** Every ref of the project by namespace: whose it is, where it stands to main, and what can be done with it. */
export function BranchesScreen({ project }: { readonly project: string }) {
  const [archived, setArchived] = useState(false);
  const [acting, setActing] = useState<Acting | null>(null);
  const answer = useEnginePages('ref.overview', { project, limit: 100, ...(archived ? { archived } : {}) });
  const nameOf = usePeople();
  const pending = useEngineQuery('memory.proposal_list', { project, status: 'pending', limit: 200 });
  const proposalOf = new Map(pending.data?.proposals.map((row) => [String(row.head_changeset_id), row.proposal_id]));
  const branches: readonly BranchRow[] =
    answer.data?.pages.flatMap(({ refs }) =>
      refs.map((row) => ({ ...row, proposalId: proposalOf.get(row.ref.head_changeset_id) })),
    ) ?? [];
  const main = answer.data?.pages[0]?.main_head;
  const close = (): void => setActing(null);
  return (
    <div className="mg-screen">
      <ScreenHead
        title="Branches"
        note={
          answer.data === undefined
            ? undefined
            : `${count(branches.length, 'branch', 'branches')}${answer.hasNextPage ? ' so far' : ''}`
        }
      >
        <Checkbox
          size="xs"
          label="Archived too"
          checked={archived}
          onChange={(event) => setArchived(event.currentTarget.checked)}
        />
      </ScreenHead>
      <div className="mg-branches">
        {answer.error !== null && <Refused refusal={answer.error} retry={() => void answer.refetch()} />}
        {answer.isPending && <Loading what="branches" />}
        {answer.data !== undefined && branches.length === 0 && (
          <Empty icon={GitBranch} title="No branches yet">
            <p>An agent commits to branches of its own; they appear here with what they hold beyond main.</p>
          </Empty>
        )}
        {groupBranches(branches).map(({ namespace, words, rows }) => (
          <section key={namespace} className="mg-section" aria-label={words}>
            <h2>
              {words} <span className="mg-quiet">{rows.length.toLocaleString('en')}</span>
            </h2>
            <BranchTable
              rows={rows}
              main={main}
              nameOf={nameOf}
              propose={(branch) => setActing({ act: 'propose', branch })}
              archive={(branch) => setActing({ act: 'archive', branch })}
            />
          </section>
        ))}
        {answer.hasNextPage && (
          <Button variant="default" loading={answer.isFetchingNextPage} onClick={() => void answer.fetchNextPage()}>
            Load more branches
          </Button>
        )}
      </div>
      {acting?.act === 'archive' && <ArchiveDialog project={project} branch={acting.branch} close={close} />}
      {acting?.act === 'propose' && main !== undefined && (
        <ProposeDialog project={project} branch={acting.branch} main={main} close={close} />
      )}
    </div>
  );
}
