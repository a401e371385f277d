import { expect, test } from 'vitest';
import { sealContents, sealSession } from '../../src-main/shells/electron/guards.ts';
import { bringToFront, openWindow, windowOptions } from '../../src-main/shells/electron/window.ts';
import { StandInContents, StandInSession, StandInWindow } from '../support/electron-stand-in.ts';

const options = {
  preload: '/app/out/preload/bridge.cjs',
  icon: '/app/resources/icon.png',
  devTools: false,
  onFailed: () => undefined,
};

test('E1 the window is isolated, sandboxed, without Node and without anything that asks the network', () => {
  expect(windowOptions(options).webPreferences).toEqual({
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
    spellcheck: false,
    devTools: false,
  });
});

test('E1 the page is the app’s own address, and the window shows when it has something to show', () => {
  const window = openWindow({ BrowserWindow: StandInWindow }, options);
  if (!(window instanceof StandInWindow)) throw new Error('the stand-in makes the window');
  expect(window.calls).toEqual(['load app://desk/index.html']);
  window.emit('ready-to-show');
  expect(window.calls).toContain('show');
});

test.each(['will-navigate', 'will-frame-navigate', 'will-redirect', 'will-attach-webview'])(
  'E2 %s is denied',
  (name) => {
    const contents = new StandInContents();
    expect(contents.isPrevented(name)).toBe(false);
    sealContents(contents, () => undefined);
    expect(contents.isPrevented(name)).toBe(true);
  },
);

test('E2 a new window is denied, and its address goes to whoever asks the owner', () => {
  const contents = new StandInContents();
  const asked: string[] = [];
  expect(contents.openWindow('https://example.org/')).toBe('allow');
  sealContents(contents, (address) => asked.push(address));
  expect(contents.openWindow('https://example.org/')).toBe('deny');
  expect(asked).toEqual(['https://example.org/']);
});

test('E3 permissions, devices and downloads are denied', () => {
  const session = new StandInSession();
  expect(session.allows('media')).toBe(true);
  expect(session.allowsDevice()).toBe(true);
  sealSession(session, { devTools: false });
  for (const permission of ['media', 'geolocation', 'notifications', 'clipboard-read', 'openExternal', 'fullscreen']) {
    expect(session.allows(permission)).toBe(false);
  }
  expect(session.allowsDevice()).toBe(false);
  let prevented = false;
  session.emit('will-download', { preventDefault: () => (prevented = true) });
  expect(prevented).toBe(true);
});

test('E4 only the app’s own files are let through', () => {
  const session = new StandInSession();
  sealSession(session, { devTools: false });
  expect(session.cancels('app://desk/index.html')).toBe(false);
  const others = [
    'https://example.org/',
    'http://127.0.0.1:18484/mcp',
    'ws://127.0.0.1:1/',
    'file:///etc/passwd',
    'app://other/index.html',
    'app://desk.evil/index.html',
    'data:text/html,x',
    'devtools://devtools/x',
  ];
  for (const url of others) expect([url, session.cancels(url)]).toEqual([url, true]);
});

test('E4 the developer tools load their own files only when they are there', () => {
  const session = new StandInSession();
  sealSession(session, { devTools: true });
  expect(session.cancels('devtools://devtools/bundled/x.js')).toBe(false);
  expect(session.cancels('https://example.org/')).toBe(true);
});

test('E5 a page that crashed is loaded again, three times at most', () => {
  const window = openWindow({ BrowserWindow: StandInWindow }, options);
  if (!(window instanceof StandInWindow)) throw new Error('the stand-in makes the window');
  window.webContents.emit('render-process-gone', {}, { reason: 'clean-exit' });
  expect(window.webContents.reloads).toBe(0);
  for (let crash = 0; crash < 5; crash += 1) window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
  expect(window.webContents.reloads).toBe(3);
});

test('E5 a page that cannot be loaded is said', async () => {
  class BrokenWindow extends StandInWindow {
    override loadFails = true;
  }
  const failed = new Promise<void>((resolve) => {
    openWindow({ BrowserWindow: BrokenWindow }, { ...options, onFailed: resolve });
  });
  await expect(failed).resolves.toBeUndefined();
});

test('E17 bringing a window to the front also restores a minimized one', () => {
  const window = new StandInWindow({});
  window.minimized = true;
  bringToFront(window);
  expect(window.calls).toEqual(['restore', 'show', 'focus']);
});
