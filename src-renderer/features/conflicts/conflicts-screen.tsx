import './conflicts.css';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { KeptConflicts } from './kept-conflicts.tsx';
import { OpenConflicts } from './open-conflicts.tsx';

const tabs = [
  { value: 'open', label: 'Open' },
  { value: 'resolved', label: 'Settled' },
  { value: 'all', label: 'All kept' },
] as const;
type Tab = (typeof tabs)[number]['value'];

/** Conflicts by severity and type: those that stand between waiting proposals and main now, and those that were kept. */
export function ConflictsScreen({ project }: { readonly project: string }) {
  const [tab, setTab] = useState<Tab>('open');
  return (
    <div className="mg-screen">
      <ScreenHead title="Conflicts">
        <SegmentedControl
          size="xs"
          aria-label="Which conflicts"
          data={[...tabs]}
          value={tab}
          onChange={(value) => setTab(tabs.find((candidate) => candidate.value === value)?.value ?? 'open')}
        />
      </ScreenHead>
      <div className="mg-conflicts-body">
        {tab === 'open' ? (
          <OpenConflicts project={project} />
        ) : (
          <KeptConflicts key={tab} project={project} status={tab === 'all' ? undefined : tab} />
        )}
      </div>
    </div>
  );
}
