import { Button, Tooltip } from '@mantine/core';
import { Archive, GitCompareArrows, GitPullRequestArrow } from 'lucide-react';
import type { ReactNode } from 'react';
import { Id } from '../../ui/id.tsx';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { shortRef } from '../../ui/words.ts';
import { type BranchRow, standsWords, whyNotProposed } from './group-branches.ts';

interface BranchTableProps {
  readonly rows: readonly BranchRow[];
  readonly main: string | undefined;
  readonly nameOf: (principalId: string) => string;
  readonly propose: (branch: BranchRow) => void;
  readonly archive: (branch: BranchRow) => void;
}

/** One row a branch: name and last message, owner, where it stands, when it moved, what can be done. */
export function BranchTable({ rows, main, nameOf, propose, archive }: BranchTableProps) {
  return (
    <ul className="mg-list mg-card mg-branch-list">
      {rows.map((row) => (
        <li key={row.ref.ref_name} className="mg-branch">
          <div className="mg-branch-name">
            <span className="mg-mono">{plainLine(shortRef(row.ref.ref_name), 200)}</span>
            {row.ref.archived === true && <span className="mg-chip">archived</span>}
            {row.proposalId !== undefined && (
              <a
                className="mg-chip"
                data-tone="changed"
                href={formatRoute({ screen: 'inbox', proposalId: row.proposalId })}
              >
                proposed
              </a>
            )}
            <span className="mg-branch-message">
              <MemoryLine text={row.message} />
            </span>
          </div>
          <div className="mg-branch-meta">
            <span className="mg-branch-stands">{row.ref.ref_name === 'refs/shared/main' ? '' : standsWords(row)}</span>
            {row.ref.created_by_principal !== undefined && (
              <span>{plainLine(nameOf(row.ref.created_by_principal), 40)}</span>
            )}
            <When at={row.ref.updated_at} />
            <Id id={row.ref.head_changeset_id} of="head changeset id" />
          </div>
          {!row.ref.protected && (
            <div className="mg-branch-acts">
              <Act
                label="Compare with main"
                icon={<GitCompareArrows size={14} aria-hidden />}
                why={main === undefined ? 'Main is not known yet.' : null}
                press={() =>
                  main !== undefined && goTo({ screen: 'compare', base: main, target: row.ref.head_changeset_id })
                }
              />
              <Act
                label="Propose"
                icon={<GitPullRequestArrow size={14} aria-hidden />}
                why={whyNotProposed(row)}
                press={() => propose(row)}
              />
              <Act
                label="Archive"
                icon={<Archive size={14} aria-hidden />}
                why={row.ref.archived === true ? 'It is archived.' : null}
                press={() => archive(row)}
              />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

interface ActProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly why: string | null;
  readonly press: () => void;
}

function Act({ label, icon, why, press }: ActProps) {
  const off = why !== null;
  return (
    <Tooltip label={why ?? label}>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={icon}
        aria-disabled={off}
        {...(off ? { 'data-disabled': true, 'aria-description': why } : {})}
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
