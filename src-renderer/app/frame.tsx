import { useEffect } from 'react';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { ConnectionState } from '../bridge/connection.ts';
import { useEngineQuery, useLiveUpdates, usePlaces } from '../bridge/queries.tsx';
import { useKeys } from '../ui/keys.tsx';
import { goTo, useRoute } from '../ui/navigation.ts';
import { formatRoute, parseRoute } from '../ui/routes.ts';
import { Loading, Refused } from '../ui/states.tsx';
import { ActsSince } from './acts-since.tsx';
import { Banners } from './banners.tsx';
import { BottomBar } from './bottom-bar.tsx';
import { Boundary } from './boundary.tsx';
import { useDesk } from './desk-store.ts';
import { NewProjectDialog } from './new-project.tsx';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { Screen } from './screen.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { TopBar } from './top-bar.tsx';

interface FrameProps {
  readonly status: CommandOutput<'engine.status'>;
  readonly connection: ConnectionState;
}

/** Everything around the screens: rail, head of main, palette, state of the engine. */
export function Frame({ status, connection }: FrameProps) {
  useLiveUpdates();
  usePlaces(showPlace);
  const route = useRoute();
  const projects = useEngineQuery('project.list', {});
  const chosen = useDesk((desk) => desk.project);
  const show = useDesk((desk) => desk.show);
  useKeys([['?', () => show('shortcuts')]]);
  const list = projects.data?.projects ?? [];
  const project = list.find((candidate) => candidate.project_id === chosen) ?? list[0];
  useTitle(project?.pending_proposals ?? 0);

  return (
    <div className="mg-frame">
      <button type="button" className="mg-skip" onClick={focusScreen}>
        Skip to the screen
      </button>
      <Banners connection={connection} recovery={status.recovery_readonly} />
      <Rail route={route} projects={list} project={project} />
      <TopBar project={project} />
      <main id="screen" className="mg-main" tabIndex={-1}>
        {projects.error !== null && <Refused refusal={projects.error} retry={() => void projects.refetch()} />}
        {projects.isPending && <Loading what="projects" />}
        {projects.data !== undefined && (
          <Boundary place={formatRoute(route)}>
            <Screen route={route} project={project} status={status} />
          </Boundary>
        )}
      </main>
      <BottomBar status={status} connection={connection} />
      <Palette project={project} projects={list} />
      <NewProjectDialog />
      <ActsSince recovery={status.recovery_readonly} />
      <ShortcutHelp />
    </div>
  );
}

/** Only addresses of the desk: what is none is the inbox. */
function showPlace(place: string): void {
  goTo(parseRoute(place));
}

function focusScreen(): void {
  document.getElementById('screen')?.focus();
}

function useTitle(waiting: number): void {
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Memory Git` : 'Memory Git';
  }, [waiting]);
}
