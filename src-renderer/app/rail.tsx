import { ActionIcon, Menu, Tooltip, useMantineColorScheme } from '@mantine/core';
import {
  Archive,
  Bot,
  Brain,
  Check,
  ChevronsUpDown,
  Database,
  GitBranch,
  GitGraph,
  Inbox,
  Keyboard,
  type LucideIcon,
  Monitor,
  Moon,
  Plus,
  ScrollText,
  Settings,
  Split,
  Sun,
} from 'lucide-react';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { useEngineQuery } from '../bridge/queries.tsx';
import icon from '../icon.svg';
import { goTo } from '../ui/navigation.ts';
import { formatRoute, type Route } from '../ui/routes.ts';
import { plainLine } from '../ui/visible-text.ts';
import { useDesk } from './desk-store.ts';

export type ProjectRow = CommandOutput<'project.list'>['projects'][number];

interface RailProps {
  readonly route: Route;
  readonly projects: readonly ProjectRow[];
  readonly project: ProjectRow | undefined;
}

interface Place {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly route: Route;
  readonly screens: readonly Route['screen'][];
}

const places: readonly Place[] = [
  { label: 'Inbox', icon: Inbox, route: { screen: 'inbox' }, screens: ['inbox'] },
  { label: 'Memory', icon: Brain, route: { screen: 'memory', moment: { kind: 'now' } }, screens: ['memory'] },
  { label: 'History', icon: GitGraph, route: { screen: 'history' }, screens: ['history', 'compare'] },
  { label: 'Branches', icon: GitBranch, route: { screen: 'branches' }, screens: ['branches'] },
  { label: 'Conflicts', icon: Split, route: { screen: 'conflicts' }, screens: ['conflicts'] },
  { label: 'Agents', icon: Bot, route: { screen: 'agents' }, screens: ['agents'] },
  { label: 'Ledger', icon: Database, route: { screen: 'ledger' }, screens: ['ledger'] },
  { label: 'Audit', icon: ScrollText, route: { screen: 'audit' }, screens: ['audit'] },
  { label: 'Backups', icon: Archive, route: { screen: 'backups' }, screens: ['backups'] },
  { label: 'Settings', icon: Settings, route: { screen: 'settings' }, screens: ['settings'] },
];

/** The left rail: which project, which screen. */
export function Rail({ route, projects, project }: RailProps) {
  const registrations = useEngineQuery('registration.list', { waiting: true, limit: 50 });
  const waiting: Readonly<Record<string, number>> = {
    Inbox: project?.pending_proposals ?? 0,
    Ledger: registrations.data?.registrations.length ?? 0,
  };
  return (
    <aside className="mg-rail">
      <div className="mg-brand">
        <img src={icon} alt="" width={22} height={22} />
        <span className="mg-rail-text">Memory Git</span>
      </div>
      <ProjectSwitcher projects={projects} project={project} />
      <nav aria-label="Screens">
        {places.map((place) => (
          <PlaceLink
            key={place.label}
            place={place}
            current={place.screens.includes(route.screen)}
            waiting={waiting[place.label] ?? 0}
          />
        ))}
      </nav>
      <RailFoot />
    </aside>
  );
}

interface PlaceLinkProps {
  readonly place: Place;
  readonly current: boolean;
  readonly waiting: number;
}

function PlaceLink({ place, current, waiting }: PlaceLinkProps) {
  const Icon = place.icon;
  return (
    <a
      className="mg-place"
      href={formatRoute(place.route)}
      aria-current={current ? 'page' : undefined}
      title={place.label}
    >
      <Icon size={17} strokeWidth={1.8} aria-hidden />
      <span className="mg-rail-text">{place.label}</span>
      {waiting > 0 && (
        <span className="mg-count">
          {waiting}
          <span className="mg-hidden-label"> waiting</span>
        </span>
      )}
    </a>
  );
}

function ProjectSwitcher({ projects, project }: Omit<RailProps, 'route'>) {
  const chooseProject = useDesk((desk) => desk.chooseProject);
  const show = useDesk((desk) => desk.show);
  const name = project === undefined ? 'No project yet' : plainLine(project.name, 60);
  const choose = (projectId: string): void => {
    chooseProject(projectId);
    goTo({ screen: 'inbox' });
  };
  return (
    <Menu position="bottom-start" width={240} shadow="md" withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button type="button" className="mg-switcher" aria-label={`Project: ${name}`} title={name}>
          <span className="mg-switcher-letter" aria-hidden>
            {[...name][0]?.toUpperCase()}
          </span>
          <span className="mg-rail-text">{name}</span>
          <ChevronsUpDown className="mg-rail-text" size={14} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {projects.map((row) => (
          <Menu.Item
            key={row.project_id}
            onClick={() => choose(row.project_id)}
            leftSection={row === project ? <Check size={14} aria-hidden /> : <span className="mg-menu-gap" />}
            rightSection={
              row.pending_proposals > 0 ? <span className="mg-count">{row.pending_proposals}</span> : undefined
            }
          >
            {plainLine(row.name, 60)}
          </Menu.Item>
        ))}
        {projects.length > 0 && <Menu.Divider />}
        <Menu.Item leftSection={<Plus size={14} aria-hidden />} onClick={() => show('new_project')}>
          New project…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const schemes = {
  auto: { next: 'light', icon: Monitor, label: 'Appearance: as the system' },
  light: { next: 'dark', icon: Sun, label: 'Appearance: light' },
  dark: { next: 'auto', icon: Moon, label: 'Appearance: dark' },
} as const;

function RailFoot() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const show = useDesk((desk) => desk.show);
  const scheme = schemes[colorScheme];
  const Icon = scheme.icon;
  return (
    <div className="mg-rail-foot">
      <Tooltip label={scheme.label}>
        <ActionIcon variant="subtle" color="gray" aria-label={scheme.label} onClick={() => setColorScheme(scheme.next)}>
          <Icon size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="All keys (?)">
        <ActionIcon variant="subtle" color="gray" aria-label="All keys" onClick={() => show('shortcuts')}>
          <Keyboard size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
