import { FolderGit2 } from 'lucide-react';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { AgentsScreen } from '../features/agents/agents-screen.tsx';
import { AuditScreen } from '../features/audit/audit-screen.tsx';
import { BackupsScreen } from '../features/backups/backups-screen.tsx';
import { BranchesScreen } from '../features/branches/branches-screen.tsx';
import { ConflictsScreen } from '../features/conflicts/conflicts-screen.tsx';
import { CompareScreen } from '../features/history/compare-screen.tsx';
import { HistoryScreen } from '../features/history/history-screen.tsx';
import { InboxScreen } from '../features/inbox/inbox-screen.tsx';
import { LedgerScreen } from '../features/ledger/ledger-screen.tsx';
import { MemoryScreen } from '../features/memory/memory-screen.tsx';
import { SettingsScreen } from '../features/settings/settings-screen.tsx';
import type { Route } from '../ui/routes.ts';
import { Empty } from '../ui/states.tsx';
import { useDesk } from './desk-store.ts';
import { NewProjectForm } from './new-project.tsx';
import type { ProjectRow } from './rail.tsx';

interface ScreenProps {
  readonly route: Route;
  readonly project: ProjectRow | undefined;
  readonly status: CommandOutput<'engine.status'>;
}

/** The screen of a place. Without a project every screen that is about one teaches how to begin one. */
export function Screen({ route, project, status }: ScreenProps) {
  const projectId = project?.project_id;
  const chooseProject = useDesk((desk) => desk.chooseProject);
  if (route.screen === 'agents') {
    return <AgentsScreen project={projectId} mcpUrl={status.mcp_url} principalId={route.principalId} />;
  }
  if (route.screen === 'ledger') return <LedgerScreen agentId={route.agentId} keyName={route.keyName} />;
  if (route.screen === 'audit') return <AuditScreen />;
  if (route.screen === 'backups') return <BackupsScreen name={route.name} homeId={status.home_id} />;
  if (route.screen === 'settings') return <SettingsScreen status={status} />;
  if (projectId === undefined) return <NoProject />;
  switch (route.screen) {
    case 'inbox':
      return (
        <InboxScreen
          key={projectId}
          project={projectId}
          proposalId={route.proposalId}
          ownerId={status.owner.principal_id}
          chooseProject={chooseProject}
        />
      );
    case 'memory':
      return <MemoryScreen key={projectId} project={projectId} memoryId={route.memoryId} moment={route.moment} />;
    case 'history':
      return <HistoryScreen key={projectId} project={projectId} changesetId={route.changesetId} />;
    case 'branches':
      return <BranchesScreen key={projectId} project={projectId} />;
    case 'conflicts':
      return <ConflictsScreen key={projectId} project={projectId} />;
    case 'compare':
      return <CompareScreen base={route.base} target={route.target} />;
  }
}

function NoProject() {
  return (
    <Empty icon={FolderGit2} title="Begin with a project">
      <p>
        A project holds one shared memory, <span className="mg-mono">refs/shared/main</span>, and the branches of the
        agents that work on it. Most people make one for each code base.
      </p>
      <NewProjectForm />
    </Empty>
  );
}
