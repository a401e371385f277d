import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight } from '@mantine/spotlight';
import {
  Archive,
  Bot,
  Brain,
  Database,
  FolderGit2,
  GitBranch,
  GitGraph,
  GitPullRequest,
  Inbox,
  Keyboard,
  type LucideIcon,
  Plus,
  ScrollText,
  Search,
  Settings,
  Split,
} from 'lucide-react';
import { useState } from 'react';
import { useEngineQuery } from '../bridge/queries.tsx';
import { goTo } from '../ui/navigation.ts';
import { plainLine } from '../ui/visible-text.ts';
import { useDesk } from './desk-store.ts';
import type { ProjectRow } from './rail.tsx';

interface Entry {
  readonly id: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

interface PaletteProps {
  readonly project: ProjectRow | undefined;
  readonly projects: readonly ProjectRow[];
}

/** Ctrl/Cmd-K: every command, every proposal that waits, and the memories that match. */
export function Palette({ project, projects }: PaletteProps) {
  const [query, setQuery] = useState('');
  const [settled] = useDebouncedValue(query.trim(), 160);
  const commands = useCommands(projects).filter((entry) => matches(entry, query));
  const proposals = useProposals(project).filter((entry) => matches(entry, query));
  const memories = useMemories(project, settled);
  const nothing = commands.length + proposals.length + memories.length === 0;
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      scrollable
      maxHeight={420}
      shortcut={['mod + K']}
      overlayProps={{ backgroundOpacity: 0.35, blur: 1 }}
      attributes={{ content: { 'aria-label': 'Palette' } }}
    >
      <Spotlight.Search
        placeholder="Search memory, proposals and commands"
        aria-label="Search memory, proposals and commands"
        leftSection={<Search size={16} aria-hidden />}
      />
      <Spotlight.ActionsList>
        <Entries label="Waiting proposals" entries={proposals} />
        <Entries label="Commands" entries={commands} />
        <Entries label="Memories" entries={memories} />
        {nothing && <Spotlight.Empty>Nothing matches</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function Entries({ label, entries }: { readonly label: string; readonly entries: readonly Entry[] }) {
  if (entries.length === 0) return null;
  return (
    <Spotlight.ActionsGroup label={label}>
      {entries.map(({ icon: Icon, ...entry }) => (
        <Spotlight.Action
          key={entry.id}
          label={entry.label}
          {...(entry.note === undefined ? {} : { description: entry.note })}
          leftSection={<Icon size={16} aria-hidden />}
          onClick={entry.run}
        />
      ))}
    </Spotlight.ActionsGroup>
  );
}

function matches(entry: Entry, query: string): boolean {
  const text = `${entry.label} ${entry.note ?? ''}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function useCommands(projects: readonly ProjectRow[]): readonly Entry[] {
  const show = useDesk((desk) => desk.show);
  const chooseProject = useDesk((desk) => desk.chooseProject);
  return [
    { id: 'inbox', label: 'Go to Inbox', icon: Inbox, run: () => goTo({ screen: 'inbox' }) },
    {
      id: 'memory',
      label: 'Go to Memory',
      icon: Brain,
      run: () => goTo({ screen: 'memory', moment: { kind: 'now' } }),
    },
    { id: 'history', label: 'Go to History', icon: GitGraph, run: () => goTo({ screen: 'history' }) },
    { id: 'branches', label: 'Go to Branches', icon: GitBranch, run: () => goTo({ screen: 'branches' }) },
    { id: 'ledger', label: 'Go to Ledger', icon: Database, run: () => goTo({ screen: 'ledger' }) },
    { id: 'audit', label: 'Go to Audit', icon: ScrollText, run: () => goTo({ screen: 'audit' }) },
    { id: 'backups', label: 'Go to Backups', icon: Archive, run: () => goTo({ screen: 'backups' }) },
    { id: 'settings', label: 'Go to Settings', icon: Settings, run: () => goTo({ screen: 'settings' }) },
    { id: 'conflicts', label: 'Go to Conflicts', icon: Split, run: () => goTo({ screen: 'conflicts' }) },
    {
      id: 'agents',
      label: 'Go to Agents',
      note: 'Connect an agent, tokens',
      icon: Bot,
      run: () => goTo({ screen: 'agents' }),
    },
    { id: 'new', label: 'New project…', icon: Plus, run: () => show('new_project') },
    { id: 'keys', label: 'All keys', icon: Keyboard, run: () => show('shortcuts') },
    ...projects.map((row) => ({
      id: `project ${row.project_id}`,
      label: `Switch to ${plainLine(row.name, 60)}`,
      icon: FolderGit2,
      run: () => chooseProject(row.project_id),
    })),
  ];
}

function useProposals(project: ProjectRow | undefined): readonly Entry[] {
  const answer = useEngineQuery(
    'memory.proposal_list',
    project === undefined ? null : { project: project.project_id, status: 'pending', limit: 50 },
  );
  return (answer.data?.proposals ?? []).map((proposal) => ({
    id: proposal.proposal_id,
    label: plainLine(proposal.message, 80),
    note: 'Proposal',
    icon: GitPullRequest,
    run: () => goTo({ screen: 'inbox', proposalId: proposal.proposal_id }),
  }));
}

function useMemories(project: ProjectRow | undefined, query: string): readonly Entry[] {
  const answer = useEngineQuery(
    'memory.search',
    project === undefined || query === '' ? null : { project: project.project_id, query, limit: 8 },
  );
  return (answer.data?.matches ?? []).map(({ memory }) => ({
    id: memory.memory_id,
    label: plainLine(memory.content, 90),
    note: memory.kind,
    icon: Brain,
    run: () => goTo({ screen: 'memory', memoryId: memory.memory_id, moment: { kind: 'now' } }),
  }));
}
