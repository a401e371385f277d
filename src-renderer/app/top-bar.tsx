import { spotlight } from '@mantine/spotlight';
import { Search } from 'lucide-react';
import { Id } from '../ui/id.tsx';
import { Key } from '../ui/keys.tsx';
import { count } from '../ui/words.ts';
import { ChainBadge } from './chain-badge.tsx';
import type { ProjectRow } from './rail.tsx';

/** Where shared memory stands, whether it was verified, and the way to everything else. */
export function TopBar({ project }: { readonly project: ProjectRow | undefined }) {
  const keyName = navigator.platform.startsWith('Mac') ? '⌘ K' : 'Ctrl K';
  return (
    <header className="mg-top">
      {project !== undefined && (
        <>
          <div className="mg-head-of-main">
            <span className="mg-mono mg-quiet">refs/shared/main</span>
            <Id id={project.main_head} of="head of main" />
          </div>
          <span className="mg-quiet mg-wide-only">{count(project.total_active, 'memory', 'memories')} accepted</span>
          <ChainBadge project={project} />
        </>
      )}
      <button type="button" className="mg-search" aria-label="Search or run a command" onClick={spotlight.open}>
        <Search size={14} aria-hidden />
        <span>Search or run a command</span>
        <Key name={keyName} />
      </button>
    </header>
  );
}
