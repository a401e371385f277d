import type { MenuItemConstructorOptions } from 'electron';

export interface MenuOptions {
  readonly platform: NodeJS.Platform;
  readonly devTools: boolean;
  /** Goes to a place of the desk, like `/inbox`. */
  readonly onOpen: (place: string) => void;
  readonly onQuit: () => void;
}

/** The places of the desk, in the order of its rail. */
const places: readonly { readonly label: string; readonly place: string }[] = [
  { label: 'Inbox', place: '/inbox' },
  { label: 'Memory', place: '/memory' },
  { label: 'History', place: '/history' },
  { label: 'Agents', place: '/agents' },
];

/** The menu of the window. Copy and paste need the edit roles on macOS; the tools are there only while developing. */
export function menuTemplate(options: MenuOptions): MenuItemConstructorOptions[] {
  const quit: MenuItemConstructorOptions = {
    label: 'Quit Memory Git',
    accelerator: 'CommandOrControl+Q',
    click: options.onQuit,
  };
  const go = places.map(
    ({ label, place }, index): MenuItemConstructorOptions => ({
      label,
      accelerator: `CommandOrControl+${index + 1}`,
      click: () => options.onOpen(place),
    }),
  );
  const tools: MenuItemConstructorOptions[] = options.devTools
    ? [{ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' }]
    : [];
  const first: MenuItemConstructorOptions =
    options.platform === 'darwin'
      ? {
          label: 'Memory Git',
          submenu: [
            { role: 'about' },
            { type: 'separator' },
            { role: 'hide' },
            { role: 'hideOthers' },
            { type: 'separator' },
            quit,
          ],
        }
      : { label: 'File', submenu: [{ role: 'close' }, quit] };
  return [
    first,
    { role: 'editMenu' },
    { label: 'Go', submenu: go },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...tools,
      ],
    },
    { role: 'windowMenu' },
  ];
}
