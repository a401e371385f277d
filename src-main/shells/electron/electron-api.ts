/**
 * The part of Electron that this shell uses, as types: real Electron fits them, and so does the stand-in of the tests.
 * Methods are picked from Electron's own types; only `on`, whose overloads return the whole emitter, is written out.
 */
import type {
  App,
  BrowserWindow,
  BrowserWindowConstructorOptions,
  Dialog,
  IpcMain,
  MenuItemConstructorOptions,
  Protocol,
  SafeStorage,
  Session,
  Shell,
  Tray,
  WebContents,
  WebFrameMain,
} from 'electron';

/** An event whose default can be prevented. */
export interface Preventable {
  preventDefault(): void;
}

export interface DeskApp
  extends Pick<
    App,
    | 'enableSandbox'
    | 'exit'
    | 'getAppPath'
    | 'getPath'
    | 'getVersion'
    | 'isPackaged'
    | 'quit'
    | 'requestSingleInstanceLock'
    | 'setAsDefaultProtocolClient'
    | 'setPath'
    | 'whenReady'
  > {
  on(event: 'second-instance', listener: (event: unknown, argv: string[]) => void): unknown;
  on(event: 'open-url', listener: (event: Preventable, url: string) => void): unknown;
  on(event: 'will-quit', listener: (event: Preventable) => void): unknown;
  on(event: 'window-all-closed' | 'activate', listener: () => void): unknown;
  on(event: 'web-contents-created', listener: (event: unknown, contents: DeskContents) => void): unknown;
}

/** The sender's frame of a message: where it is and whether it is the page itself. */
export type DeskFrame = Pick<WebFrameMain, 'origin' | 'parent'>;

export interface DeskContents extends Pick<WebContents, 'send' | 'setWindowOpenHandler' | 'reload'> {
  on(
    event: 'will-navigate' | 'will-redirect' | 'will-frame-navigate' | 'will-attach-webview',
    listener: (event: Preventable) => void,
  ): unknown;
  on(event: 'render-process-gone', listener: (event: unknown, details: { readonly reason: string }) => void): unknown;
}

export interface DeskWindow
  extends Pick<BrowserWindow, 'loadURL' | 'show' | 'focus' | 'isMinimized' | 'restore' | 'isDestroyed'> {
  readonly webContents: DeskContents;
  once(event: 'ready-to-show', listener: () => void): unknown;
  on(event: 'closed', listener: () => void): unknown;
}

/** A message from the window. */
export interface DeskMessage {
  readonly sender: unknown;
  readonly senderFrame: DeskFrame | null;
}

export interface DeskIpc extends Pick<IpcMain, 'removeHandler'> {
  handle(channel: string, listener: (event: DeskMessage, ...args: unknown[]) => Promise<unknown>): void;
  on(channel: string, listener: (event: DeskMessage) => void): unknown;
}

export interface DeskSession
  extends Pick<
    Session,
    | 'setPermissionRequestHandler'
    | 'setPermissionCheckHandler'
    | 'setDevicePermissionHandler'
    | 'setDisplayMediaRequestHandler'
  > {
  readonly webRequest: Pick<Session['webRequest'], 'onBeforeRequest'>;
  on(event: 'will-download', listener: (event: Preventable) => void): unknown;
}

export interface DeskTray<DeskMenu> extends Pick<Tray, 'setToolTip' | 'setTitle' | 'destroy'> {
  setContextMenu(menu: DeskMenu): void;
  on(event: 'click', listener: () => void): unknown;
}

export type DeskProtocol = Pick<Protocol, 'registerSchemesAsPrivileged' | 'handle'>;
export type DeskDialog = Pick<Dialog, 'showErrorBox'> & {
  showMessageBox(options: Electron.MessageBoxOptions): Promise<Pick<Electron.MessageBoxReturnValue, 'response'>>;
};
export type DeskSafeStorage = Pick<
  SafeStorage,
  'decryptString' | 'encryptString' | 'getSelectedStorageBackend' | 'isEncryptionAvailable'
>;
export type DeskShell = Pick<Shell, 'openExternal'>;

/** All of Electron that the desk touches. Menus and images are only handed from one of its parts to another. */
export interface DeskElectron<DeskMenu = unknown, DeskImage = unknown> {
  readonly app: DeskApp;
  readonly BrowserWindow: new (options: BrowserWindowConstructorOptions) => DeskWindow;
  readonly dialog: DeskDialog;
  readonly ipcMain: DeskIpc;
  readonly Menu: {
    buildFromTemplate(template: MenuItemConstructorOptions[]): DeskMenu;
    setApplicationMenu(menu: DeskMenu | null): void;
  };
  readonly nativeImage: { createFromPath(path: string): DeskImage };
  readonly protocol: DeskProtocol;
  readonly safeStorage: DeskSafeStorage;
  readonly session: { readonly defaultSession: DeskSession };
  readonly shell: DeskShell;
  readonly Tray: new (image: DeskImage) => DeskTray<DeskMenu>;
}
