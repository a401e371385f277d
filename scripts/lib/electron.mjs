// Electron's binary: where it is, and whether this machine can show a window.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './place.mjs';

/**
 * The path of Electron's binary, as its own installer left it.
 * @returns {string | null} null when it is not installed
 */
export function electronPath() {
  const folder = join(ROOT, 'node_modules/electron');
  const pointer = join(folder, 'path.txt');
  if (!existsSync(pointer)) return null;
  const override = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  const path = join(override ?? join(folder, 'dist'), readFileSync(pointer, 'utf8').trim());
  return existsSync(path) ? path : null;
}

/**
 * Whether a window can be shown: everywhere but on a Unix without a display.
 * @param {NodeJS.Platform} platform
 * @param {NodeJS.ProcessEnv} env
 * @returns {boolean}
 */
export function hasDisplay(platform, env) {
  if (platform === 'win32' || platform === 'darwin') return true;
  return Boolean(env.DISPLAY) || Boolean(env.WAYLAND_DISPLAY);
}

/**
 * Arguments for Electron. Its sandbox does not run as root on Linux; the caller says so when it is left out.
 * @param {{ platform: NodeJS.Platform, isRoot: boolean, rest: readonly string[] }} options
 * @returns {readonly string[]}
 */
export function electronArgs(options) {
  return [...(options.platform === 'linux' && options.isRoot ? ['--no-sandbox'] : []), '.', ...options.rest];
}
