import type { DeskElectron, DeskTray } from './electron-api.ts';

export interface TrayOptions {
  readonly icon: string;
  readonly onOpen: (place: string) => void;
  readonly onQuit: () => void;
}

export interface DeskTrayIcon {
  /** Shows how many proposals wait for a review. */
  setWaiting(count: number): void;
}

/** What the tray says about waiting proposals. */
export function waitingText(count: number): string {
  if (count === 0) return 'Memory Git: nothing waits';
  return count === 1 ? 'Memory Git: 1 proposal waits' : `Memory Git: ${count} proposals wait`;
}

/**
 * Puts the icon into the tray. Some desktops have no tray; that is no failure of the app, so undefined is returned.
 */
export function openTray<DeskMenu, DeskImage>(
  electron: Pick<DeskElectron<DeskMenu, DeskImage>, 'Menu' | 'Tray' | 'nativeImage'>,
  options: TrayOptions,
): DeskTrayIcon | undefined {
  let tray: DeskTray<DeskMenu>;
  try {
    tray = new electron.Tray(electron.nativeImage.createFromPath(options.icon));
  } catch {
    return undefined;
  }
  tray.on('click', () => options.onOpen('/inbox'));
  const setWaiting = (count: number): void => {
    tray.setToolTip(waitingText(count));
    tray.setTitle(count === 0 ? '' : String(count));
    tray.setContextMenu(
      electron.Menu.buildFromTemplate([
        { label: waitingText(count), enabled: false },
        { type: 'separator' },
        { label: 'Review', click: () => options.onOpen('/inbox') },
        { label: 'Quit Memory Git', click: options.onQuit },
      ]),
    );
  };
  setWaiting(0);
  return { setWaiting };
}
