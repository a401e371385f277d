import { type Client, createClient } from './client.ts';
import { codeInHash, createPageSession } from './page-session.ts';
import { createPageTransport } from './page-transport.ts';
import { createWindowTransport } from './window-transport.ts';

/** Whether this is the Electron window, and not a page in a browser. */
export function isInWindow(): boolean {
  return window.memoryGit !== undefined;
}

/**
 * The client for where this renderer runs: the Electron window's bridge when it is there, else the owner page's own
 * server. A one-time code is taken out of the address before anything else can see it.
 */
export function chooseClient(): Client {
  if (window.memoryGit !== undefined) return createClient(createWindowTransport(window.memoryGit));
  const code = codeInHash(window.location.hash);
  if (code !== undefined) window.history.replaceState(null, '', '#/inbox');
  const fetchFn: typeof fetch = (input, init) => window.fetch(input, init);
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  return createClient(
    createPageTransport({ session: createPageSession(window.sessionStorage, fetchFn), fetchFn, wait }, code),
  );
}
