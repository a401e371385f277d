import type { DeskDialog, DeskShell } from './electron-api.ts';

/** A longer address cannot be shown whole, so it cannot be judged. Characters. */
const addressLengthMax = 2_048;

/**
 * The address in the form in which it is shown and opened, when it may be opened at all: https, no user name or
 * password, at most 2 048 characters. Parsing writes foreign letters of a host as punycode, so what is shown is what is meant.
 */
export function toExternalAddress(text: string): string | undefined {
  if (text.length > addressLengthMax || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.protocol === 'https:' && url.username === '' && url.password === '' && url.hostname !== '';
  return isPlain && url.href.length <= addressLengthMax ? url.href : undefined;
}

/**
 * Opens an address in the system's browser after the owner has seen the whole of it and said yes. Everything that is not
 * a plain https address is dropped without a word: pages ask for it, people do not.
 * @returns whether it was opened
 */
export async function openExternal(
  text: string,
  electron: { readonly dialog: DeskDialog; readonly shell: DeskShell },
): Promise<boolean> {
  const address = toExternalAddress(text);
  if (address === undefined) return false;
  const cancel = 0;
  const open = 1;
  const { response } = await electron.dialog.showMessageBox({
    type: 'question',
    title: 'Open a web page',
    message: 'Open this address in your browser?',
    detail: address,
    buttons: ['Cancel', 'Open in browser'],
    defaultId: cancel,
    cancelId: cancel,
    noLink: true,
  });
  if (response !== open) return false;
  await electron.shell.openExternal(address);
  return true;
}
