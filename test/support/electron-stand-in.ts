import { EventEmitter } from 'node:events';
import type {
  App,
  BrowserWindowConstructorOptions,
  CustomScheme,
  Dialog,
  MenuItemConstructorOptions,
  Protocol,
  Session,
  Shell,
  WebContents,
} from 'electron';
import type {
  DeskApp,
  DeskContents,
  DeskDialog,
  DeskElectron,
  DeskFrame,
  DeskIpc,
  DeskMessage,
  DeskProtocol,
  DeskSession,
  DeskShell,
  DeskTray,
  DeskWindow,
} from '../../src-main/shells/electron/electron-api.ts';
import { StandInKeychain } from './keychain-stand-in.ts';

/** An event that remembers whether its default was prevented. */
export class StandInEvent {
  prevented = false;
  preventDefault(): void {
    this.prevented = true;
  }
}

export class StandInContents extends EventEmitter implements DeskContents {
  readonly sent: { readonly channel: string; readonly args: readonly unknown[] }[] = [];
  reloads = 0;
  private openHandler: Parameters<WebContents['setWindowOpenHandler']>[0] | undefined;

  send(channel: string, ...args: unknown[]): void {
    this.sent.push({ channel, args });
  }

  reload(): void {
    this.reloads += 1;
  }

  setWindowOpenHandler(handler: Parameters<WebContents['setWindowOpenHandler']>[0]): void {
    this.openHandler = handler;
  }

  /** A page calls `window.open`; the answer says whether a window came of it. */
  openWindow(url: string): string | undefined {
    const details = {
      url,
      frameName: '',
      features: '',
      disposition: 'new-window',
      referrer: { url: '', policy: 'default' },
    };
    const answer: unknown =
      this.openHandler === undefined ? { action: 'allow' } : Reflect.apply(this.openHandler, undefined, [details]);
    return typeof answer === 'object' && answer !== null && 'action' in answer ? String(answer.action) : undefined;
  }

  /** Emits an event whose default may be prevented, and says whether it was. */
  isPrevented(name: string): boolean {
    const event = new StandInEvent();
    this.emit(name, event);
    return event.prevented;
  }
}

export class StandInWindow extends EventEmitter implements DeskWindow {
  readonly webContents = new StandInContents();
  readonly options: BrowserWindowConstructorOptions;
  readonly calls: string[] = [];
  minimized = false;
  destroyed = false;
  loadFails = false;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
  }

  async loadURL(url: string): Promise<void> {
    this.calls.push(`load ${url}`);
    await Promise.resolve();
    if (this.loadFails) throw new Error('ERR_FILE_NOT_FOUND');
  }

  show(): void {
    this.calls.push('show');
  }

  focus(): void {
    this.calls.push('focus');
  }

  restore(): void {
    this.calls.push('restore');
    this.minimized = false;
  }

  isMinimized(): boolean {
    return this.minimized;
  }

  isDestroyed(): boolean {
    return this.destroyed;
  }
}

export class StandInApp extends EventEmitter implements DeskApp {
  isPackaged = false;
  isFirstInstance = true;
  appPath = '/app';
  readonly calls: string[] = [];
  readonly paths: Record<string, string> = { userData: '/data/memory-git' };
  private ready: () => void = () => undefined;
  private readonly whenIsReady = new Promise<void>((resolve) => {
    this.ready = resolve;
  });

  becomeReady(): Promise<void> {
    this.ready();
    return this.whenIsReady;
  }

  whenReady(): Promise<void> {
    return this.whenIsReady;
  }

  enableSandbox(): void {
    this.calls.push('enableSandbox');
  }

  exit(code?: number): void {
    this.calls.push(`exit ${code ?? 0}`);
  }

  /** Electron asks `will-quit` before it ends; only an event that nobody prevented ends the app. */
  quit(): void {
    const event = new StandInEvent();
    this.emit('will-quit', event);
    this.calls.push(event.prevented ? 'quit prevented' : 'quit');
  }

  getAppPath(): string {
    return this.appPath;
  }

  getPath(name: Parameters<App['getPath']>[0]): string {
    return this.paths[name] ?? `/${name}`;
  }

  setPath(name: string, path: string): void {
    this.paths[name] = path;
  }

  getVersion(): string {
    return '0.1.0';
  }

  requestSingleInstanceLock(): boolean {
    this.calls.push(`lock ${this.paths.userData}`);
    return this.isFirstInstance;
  }

  setAsDefaultProtocolClient(scheme: string): boolean {
    this.calls.push(`scheme ${scheme}`);
    return true;
  }
}

export class StandInIpc implements DeskIpc {
  private readonly handlers = new Map<string, (event: DeskMessage, ...args: unknown[]) => Promise<unknown>>();
  private readonly listeners = new EventEmitter();

  handle(channel: string, listener: (event: DeskMessage, ...args: unknown[]) => Promise<unknown>): void {
    this.handlers.set(channel, listener);
  }

  removeHandler(channel: string): void {
    this.handlers.delete(channel);
  }

  on(channel: string, listener: (event: DeskMessage) => void): void {
    this.listeners.on(channel, listener);
  }

  /** What `ipcRenderer.invoke` does, from a given sender. */
  async invoke(channel: string, event: DeskMessage, ...args: unknown[]): Promise<unknown> {
    const handler = this.handlers.get(channel);
    if (handler === undefined) throw new Error(`nobody handles ${channel}`);
    return handler(event, ...args);
  }

  /** What `ipcRenderer.send` does. */
  send(channel: string, event: DeskMessage): void {
    this.listeners.emit(channel, event);
  }
}

/** A message from the page itself of some contents, at a given origin. */
export function messageFrom(sender: unknown, frame: Partial<DeskFrame> = {}): DeskMessage {
  return { sender, senderFrame: { origin: 'app://desk', parent: null, ...frame } };
}

export class StandInSession extends EventEmitter implements DeskSession {
  private readonly handlers = new Map<string, unknown>();
  readonly webRequest = {
    onBeforeRequest: (...args: readonly unknown[]): void => {
      this.handlers.set('request', args.at(-1));
    },
  };

  setPermissionRequestHandler(handler: Parameters<Session['setPermissionRequestHandler']>[0]): void {
    this.handlers.set('permission', handler);
  }

  setPermissionCheckHandler(handler: Parameters<Session['setPermissionCheckHandler']>[0]): void {
    this.handlers.set('check', handler);
  }

  setDevicePermissionHandler(handler: Parameters<Session['setDevicePermissionHandler']>[0]): void {
    this.handlers.set('device', handler);
  }

  setDisplayMediaRequestHandler(handler: Parameters<Session['setDisplayMediaRequestHandler']>[0]): void {
    this.handlers.set('media', handler);
  }

  /** Calls a handler as Electron does; a handler that was never set lets everything pass. */
  private call(name: string, args: readonly unknown[]): unknown {
    const handler = this.handlers.get(name);
    return typeof handler === 'function' ? Reflect.apply(handler, undefined, [...args]) : true;
  }

  allows(permission: string): boolean {
    let granted = true;
    this.call('permission', [null, permission, (answer: boolean) => (granted = answer), {}]);
    return granted || this.call('check', [null, permission, '', {}]) === true;
  }

  allowsDevice(): boolean {
    return this.call('device', [{ deviceType: 'hid' }]) === true;
  }

  cancels(url: string): boolean {
    let canceled = false;
    this.call('request', [{ url }, (answer: { cancel: boolean }) => (canceled = answer.cancel)]);
    return canceled;
  }
}

export class StandInProtocol implements DeskProtocol {
  readonly privileged: CustomScheme[] = [];
  readonly handlers = new Map<string, (request: Request) => Promise<Response> | Response>();

  registerSchemesAsPrivileged(schemes: CustomScheme[]): void {
    this.privileged.push(...schemes);
  }

  handle(scheme: string, handler: Parameters<Protocol['handle']>[1]): void {
    this.handlers.set(scheme, (request) => handler(request));
  }
}

export class StandInDialog implements DeskDialog {
  /** The button that the owner will press. */
  answer = 0;
  readonly shown: Electron.MessageBoxOptions[] = [];
  readonly errors: string[] = [];

  async showMessageBox(options: Electron.MessageBoxOptions): Promise<{ response: number }> {
    this.shown.push(options);
    return { response: this.answer };
  }

  showErrorBox(...[title, content]: Parameters<Dialog['showErrorBox']>): void {
    this.errors.push(`${title}: ${content}`);
  }
}

export class StandInShell implements DeskShell {
  readonly opened: string[] = [];

  async openExternal(...[url]: Parameters<Shell['openExternal']>): Promise<void> {
    this.opened.push(url);
  }
}

/** A menu is its template. */
export type StandInMenu = readonly MenuItemConstructorOptions[];

export class StandInTray extends EventEmitter implements DeskTray<StandInMenu> {
  readonly image: string;
  toolTip = '';
  title = '';
  menu: StandInMenu = [];

  constructor(image: string) {
    super();
    this.image = image;
  }

  setToolTip(text: string): void {
    this.toolTip = text;
  }

  setTitle(text: string): void {
    this.title = text;
  }

  setContextMenu(menu: StandInMenu): void {
    this.menu = menu;
  }

  destroy(): void {
    this.removeAllListeners();
  }
}

/** The entry of a menu with that label; its click is what pressing it does. */
export function menuItem(menu: StandInMenu, label: string): MenuItemConstructorOptions | undefined {
  for (const item of menu) {
    if (item.label === label) return item;
    const inner = Array.isArray(item.submenu) ? menuItem(item.submenu, label) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Presses the entry of a menu with that label. */
export function press(menu: StandInMenu, label: string): void {
  const click = menuItem(menu, label)?.click;
  if (click === undefined) throw new Error(`there is no entry ${label} to press`);
  Reflect.apply(click, undefined, []);
}

/** A stand-in for the whole of Electron that the desk touches, with everything it made in reach. */
export function standInElectron() {
  const windows: StandInWindow[] = [];
  const trays: StandInTray[] = [];
  const state: { menu: StandInMenu; hasTray: boolean } = { menu: [], hasTray: true };
  const parts = {
    app: new StandInApp(),
    dialog: new StandInDialog(),
    ipcMain: new StandInIpc(),
    protocol: new StandInProtocol(),
    safeStorage: new StandInKeychain(),
    shell: new StandInShell(),
    session: { defaultSession: new StandInSession() },
  };
  const electron: DeskElectron<StandInMenu, string> = {
    ...parts,
    BrowserWindow: class extends StandInWindow {
      constructor(options: BrowserWindowConstructorOptions) {
        super(options);
        windows.push(this);
        parts.app.emit('web-contents-created', {}, this.webContents);
      }
    },
    Tray: class extends StandInTray {
      constructor(image: string) {
        super(image);
        if (!state.hasTray) throw new Error('no tray on this desktop');
        trays.push(this);
      }
    },
    Menu: {
      buildFromTemplate: (template) => template,
      setApplicationMenu: (menu) => {
        state.menu = menu ?? [];
      },
    },
    nativeImage: { createFromPath: (path) => path },
  };
  return { electron, ...parts, windows, trays, state };
}
