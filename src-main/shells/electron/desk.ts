import { join } from 'node:path';
import { registerAppScheme, serveAppFiles } from './app-files.ts';
import type { DeskElectron, DeskWindow } from './electron-api.ts';
import { type EngineHost, type EngineThread, hostEngine } from './engine-host.ts';
import { openExternal } from './external.ts';
import { sealContents, sealSession } from './guards.ts';
import { publish, serveIpc } from './ipc.ts';
import { findLink, linkScheme, parseLink } from './links.ts';
import { menuTemplate } from './menu.ts';
import { claimInstance } from './single-instance.ts';
import { systemKeychain } from './system-keychain.ts';
import { type DeskTrayIcon, openTray } from './tray.ts';
import { changesWaiting, countWaiting } from './waiting.ts';
import { bringToFront, openWindow } from './window.ts';

export interface DeskOptions {
  readonly platform: NodeJS.Platform;
  readonly argv: readonly string[];
  /** The home that was named by the owner; undefined for the default one. */
  readonly namedHome: string | undefined;
  /** Starts the engine's thread. Called once a start, and again after the engine died. */
  readonly startEngine: () => EngineThread;
  /** A fresh random text in base64url. */
  readonly nonce: () => string;
}

const engineRestartsMax = 3;
const engineCloseLimitMs = 10_000;

/**
 * Runs the desk on Electron: one window, one engine. Call it before Electron is ready.
 * @returns false when another instance has the home: nothing was started, that one came to the front
 */
export function startDesk<DeskMenu, DeskImage>(
  electron: DeskElectron<DeskMenu, DeskImage>,
  options: DeskOptions,
): boolean {
  const { app } = electron;
  app.enableSandbox();
  const devTools = !app.isPackaged;
  const resources = join(app.getAppPath(), 'resources');
  let window: DeskWindow | undefined;
  let engine: EngineHost | undefined;
  let tray: DeskTrayIcon | undefined;
  // Where the page shall go once it listens; a link can come before there is a window.
  let pendingPlace = findLink(options.argv);
  let isListening = false;

  const open = (place: string | undefined): void => {
    pendingPlace = place ?? pendingPlace;
    if (window !== undefined) bringToFront(window);
    else if (engine !== undefined) showWindow();
    if (isListening) goToPending();
  };

  if (!claimInstance(app, { namedHome: options.namedHome, onSecond: open })) {
    app.quit();
    return false;
  }
  registerAppScheme(electron.protocol);
  app.on('open-url', (event, url) => {
    event.preventDefault();
    const place = parseLink(url);
    if (place !== undefined) open(place);
  });
  app.on('web-contents-created', (_event, contents) =>
    sealContents(contents, (address) => void openExternal(address, electron)),
  );
  app.on('activate', () => open(undefined));
  app.on('window-all-closed', () => {
    if (options.platform !== 'darwin') app.quit();
  });
  closeEngineFirst(electron, () => engine);

  function showWindow(): void {
    const shown = openWindow(electron, {
      preload: join(app.getAppPath(), 'out/preload/bridge.cjs'),
      icon: join(resources, 'icon.png'),
      devTools,
      onFailed: () =>
        electron.dialog.showErrorBox('Memory Git', 'The desk could not be loaded. Build or install Memory Git anew.'),
    });
    shown.on('closed', () => {
      window = undefined;
      isListening = false;
      engine?.setDesk(false);
    });
    window = shown;
  }

  function goToPending(): void {
    if (window === undefined || pendingPlace === undefined) return;
    publish(window.webContents, 'open', pendingPlace);
    pendingPlace = undefined;
  }

  async function countProposals(): Promise<void> {
    const count = engine === undefined ? undefined : countWaiting(await engine.request('project.list', {}));
    if (count !== undefined) tray?.setWaiting(count);
  }

  function run(): void {
    sealSession(electron.session.defaultSession, { devTools });
    serveAppFiles(electron.protocol, { root: join(app.getAppPath(), 'out/renderer'), nonce: options.nonce });
    if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
    const menu = { platform: options.platform, devTools, onOpen: open, onQuit: () => app.quit() };
    electron.Menu.setApplicationMenu(electron.Menu.buildFromTemplate(menuTemplate(menu)));
    tray = openTray(electron, { icon: join(resources, 'tray.png'), onOpen: open, onQuit: () => app.quit() });
    const host = hostEngine({
      start: options.startEngine,
      keychain: systemKeychain(electron.safeStorage, options.platform),
      restartsMax: engineRestartsMax,
      closeLimitMs: engineCloseLimitMs,
      onEvent: (event) => {
        if (window !== undefined) publish(window.webContents, 'engine', event);
        if (changesWaiting(event)) void countProposals();
      },
      onState: (state) => {
        if (window !== undefined) publish(window.webContents, 'state', state);
        if (state.kind === 'running') void countProposals();
      },
    });
    engine = host;
    serveIpc({
      ipcMain: electron.ipcMain,
      desk: () => window?.webContents,
      request: host.request,
      onListening: (event, desk) => {
        if (event === 'state') publish(desk, 'state', host.state());
        else {
          isListening = true;
          host.setDesk(true);
          goToPending();
        }
      },
    });
    showWindow();
  }

  void app.whenReady().then(run, (error: unknown) => {
    electron.dialog.showErrorBox(
      'Memory Git cannot start',
      error instanceof Error ? error.message : 'Electron did not get ready.',
    );
    app.exit(1);
  });
  return true;
}

/** Lets the engine close its databases before the app ends. */
function closeEngineFirst(electron: Pick<DeskElectron, 'app'>, engine: () => EngineHost | undefined): void {
  let closed = false;
  electron.app.on('will-quit', (event) => {
    const host = engine();
    if (closed || host === undefined) return;
    event.preventDefault();
    void host.close().then(() => {
      closed = true;
      electron.app.quit();
    });
  });
}
