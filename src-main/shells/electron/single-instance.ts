import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { DeskApp } from './electron-api.ts';
import { findLink } from './links.ts';

/**
 * Makes this the one window of its home, or returns false when there is one already, which then comes to the front.
 * Electron's lock belongs to the folder of the window's own data, so a home that was named gets a folder of its own.
 */
export function claimInstance(
  app: Pick<DeskApp, 'getPath' | 'setPath' | 'requestSingleInstanceLock'> & Pick<DeskApp, 'on'>,
  options: { readonly namedHome: string | undefined; readonly onSecond: (place: string | undefined) => void },
): boolean {
  if (options.namedHome !== undefined) {
    const name = createHash('sha256').update(options.namedHome).digest('hex').slice(0, 16);
    app.setPath('userData', join(app.getPath('userData'), 'homes', name));
  }
  if (!app.requestSingleInstanceLock()) return false;
  app.on('second-instance', (_event, argv) => options.onSecond(findLink(argv)));
  return true;
}
