// How the app is shown: which of the three ways, decided from facts, and the parsing of what the engine says.

/**
 * @typedef {object} LaunchFacts
 * @property {boolean} headless whether `--headless` was given
 * @property {boolean} electron whether Electron's binary is in place
 * @property {boolean} display whether a window can be shown
 */

/**
 * The way to run the app, and the one line that says why it is not the window.
 * @param {LaunchFacts} facts
 * @returns {{ kind: 'headless' } | { kind: 'window' } | { kind: 'page', why: string, browser: boolean }}
 */
export function decideLaunch(facts) {
  if (facts.headless) return { kind: 'headless' };
  if (!facts.display) {
    return { kind: 'page', why: 'there is no display here for a window; opening the owner page.', browser: false };
  }
  if (!facts.electron) {
    return { kind: 'page', why: 'Electron’s binary is not here; opening the owner page in a browser.', browser: true };
  }
  return { kind: 'window' };
}

/**
 * The arguments of `npm start`, without the one that is ours.
 * @param {readonly string[]} args
 * @returns {{ headless: boolean, rest: readonly string[] }}
 */
export function parseStartArgs(args) {
  return { headless: args.includes('--headless'), rest: args.filter((arg) => arg !== '--headless') };
}

/**
 * The ready line of `charon serve --json` (`charon.md` §8).
 * @param {string} line
 * @returns {{ mcp: string | null, owner: string | null } | null} null when the line is something else
 */
export function parseReadyLine(line) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('ready' in value) || value.ready !== true) return null;
  const text = (/** @type {unknown} */ field) => (typeof field === 'string' ? field : null);
  return { mcp: 'mcp' in value ? text(value.mcp) : null, owner: 'owner' in value ? text(value.owner) : null };
}

/**
 * Arguments for a browser that shows one address in a window of its own, with a profile of its own, so that it is a
 * process that ends when the window is closed. Chromium's sandbox does not run as root on Linux.
 * @param {{ url: string, profile: string, platform: NodeJS.Platform, isRoot: boolean }} options
 * @returns {readonly string[]}
 */
export function browserArgs(options) {
  return [
    `--app=${options.url}`,
    `--user-data-dir=${options.profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-sync',
    '--disable-extensions',
    '--window-size=1280,820',
    ...(options.platform === 'linux' && options.isRoot ? ['--no-sandbox'] : []),
  ];
}
