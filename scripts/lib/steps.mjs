// Which set-up steps are needed: pure decisions over facts that others gathered. Nothing here touches a disk.

/** The oldest Node that the app and its tools run on. */
export const NODE_MIN = Object.freeze({ major: 22, minor: 12 });

/**
 * @typedef {object} Facts what is known about this machine and this folder
 * @property {string} nodeVersion the version of the Node outside of node_modules, `20.19.2`
 * @property {boolean} bundledNode whether the Node that the packages bring along is in place
 * @property {boolean} packagesPresent whether there is a node_modules folder that an installer finished
 * @property {string} lockDigest digest of the lock file, platform and architecture
 * @property {string | null} installedStamp the lock digest that the packages were last installed for
 * @property {boolean} installedMatches whether the installed packages are those of the lock file
 * @property {boolean} electronInstalled whether Electron's binary is in place
 * @property {number | null} electronFailedAtMs when fetching Electron last failed; null when it never did
 * @property {number} nowMs
 * @property {string} sourcesDigest digest of everything the build reads
 * @property {string | null} builtStamp the sources digest of the last complete build
 * @property {boolean} buildPresent whether the built files are there
 */

/**
 * @typedef {object} Wants what the caller needs
 * @property {boolean} electron whether to try to have Electron's binary
 * @property {boolean} retryElectron whether to try again soon after a failure
 * @property {boolean} build
 */

/** @typedef {'install' | 'node' | 'electron' | 'build'} Step */

/** How long a failed download of Electron is remembered, so that `npm start` does not wait for it each time. */
export const ELECTRON_RETRY_MS = 60 * 60 * 1000;

/** Whether a Node version is one that the app runs on (`engines` in package.json). */
export function isNodeRecent(/** @type {string} */ version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor);
}

/**
 * The steps that are needed, in the order in which they must run.
 * @param {Facts} facts
 * @param {Wants} wants
 * @returns {readonly Step[]}
 */
export function decideSteps(facts, wants) {
  const install = !facts.packagesPresent || (facts.installedStamp !== facts.lockDigest && !facts.installedMatches);
  // Installing anew empties the folder: what was in it before counts for nothing.
  const bundledNode = facts.bundledNode && !install;
  const electron = facts.electronInstalled && !install;
  const failedLately =
    facts.electronFailedAtMs !== null && facts.nowMs - facts.electronFailedAtMs < ELECTRON_RETRY_MS && !install;
  const built = facts.buildPresent && facts.builtStamp === facts.sourcesDigest;

  /** @type {Step[]} */
  const steps = [];
  if (install) steps.push('install');
  if (!bundledNode && !isNodeRecent(facts.nodeVersion)) steps.push('node');
  if (wants.electron && !electron && (wants.retryElectron || !failedLately)) steps.push('electron');
  if (wants.build && !built) steps.push('build');
  return steps;
}

/**
 * Whether what an installer recorded as installed is what the lock file asks for: every package that is not optional
 * is there in its version, and none is there in another. Packages for other systems are optional in the lock file.
 * @param {{ packages?: Record<string, { version?: string, optional?: boolean }> }} lock
 * @param {{ packages?: Record<string, { version?: string }> }} installed
 * @returns {boolean}
 */
export function matchesLock(lock, installed) {
  const asked = Object.entries(lock.packages ?? {}).filter(([path]) => path !== '');
  const have = installed.packages ?? {};
  return (
    asked.length > 0 &&
    asked.every(([path, entry]) => {
      const found = have[path];
      return found === undefined ? entry.optional === true : found.version === entry.version;
    })
  );
}
