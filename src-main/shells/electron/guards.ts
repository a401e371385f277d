import type { DeskContents, DeskSession } from './electron-api.ts';

/** The addresses a request of the window may have: the app's own, and the developer tools of an unpackaged one. */
function isOwnAddress(address: string, devTools: boolean): boolean {
  return address.startsWith('app://desk/') || (devTools && address.startsWith('devtools://'));
}

/**
 * Shuts a session: every permission and device is denied, every request but those for the app's own files is canceled
 * (the window has no network), every download too.
 */
export function sealSession(session: DeskSession, options: { readonly devTools: boolean }): void {
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler(null);
  session.webRequest.onBeforeRequest((details, decide) =>
    decide({ cancel: !isOwnAddress(details.url, options.devTools) }),
  );
  session.on('will-download', (event) => event.preventDefault());
}

/**
 * Keeps contents where they are: no navigation, no redirect, no webview, no new window. What a page wants to open
 * elsewhere goes to `onExternal`, which asks the owner.
 */
export function sealContents(contents: DeskContents, onExternal: (address: string) => void): void {
  const deny = (event: { preventDefault(): void }): void => event.preventDefault();
  contents.on('will-navigate', deny);
  contents.on('will-frame-navigate', deny);
  contents.on('will-redirect', deny);
  contents.on('will-attach-webview', deny);
  contents.setWindowOpenHandler(({ url }) => {
    onExternal(url);
    return { action: 'deny' };
  });
}
