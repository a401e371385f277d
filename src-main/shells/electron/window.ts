import type { BrowserWindowConstructorOptions } from 'electron';
import { deskAddress } from './app-files.ts';
import type { DeskElectron, DeskWindow } from './electron-api.ts';

export interface WindowOptions {
  /** Absolute path of the built preload. */
  readonly preload: string;
  readonly icon: string;
  readonly devTools: boolean;
  /** The page could not be loaded: the built files are missing. */
  readonly onFailed: () => void;
}

/** How often a page that crashed is loaded again before it is left as it is, so that a page that always crashes ends. */
const reloadsMax = 3;

/** The options of the desk's window: isolated, sandboxed, without Node, and with nothing that asks the network. */
export function windowOptions(options: Omit<WindowOptions, 'onFailed'>): BrowserWindowConstructorOptions {
  return {
    title: 'Memory Git',
    width: 1280,
    height: 820,
    minWidth: 720,
    minHeight: 480,
    show: false,
    icon: options.icon,
    webPreferences: {
      preload: options.preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      // Dictionaries would be fetched from a server.
      spellcheck: false,
      devTools: options.devTools,
    },
  };
}

/** Opens the desk's window and shows it when it has something to show. */
export function openWindow(electron: Pick<DeskElectron, 'BrowserWindow'>, options: WindowOptions): DeskWindow {
  const window = new electron.BrowserWindow(windowOptions(options));
  let reloads = 0;
  window.once('ready-to-show', () => window.show());
  window.webContents.on('render-process-gone', (_event, details) => {
    if (details.reason === 'clean-exit' || reloads >= reloadsMax || window.isDestroyed()) return;
    reloads += 1;
    window.webContents.reload();
  });
  window.loadURL(deskAddress).catch(() => {
    if (!window.isDestroyed()) options.onFailed();
  });
  return window;
}

/** Brings a window to the front. */
export function bringToFront(window: DeskWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
