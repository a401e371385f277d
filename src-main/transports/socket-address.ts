import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../base/fault.ts';
import { sha256Hex } from '../canonical/digest.ts';

/** Systems cut a socket's path at 104 or 108 bytes; beyond this many ours moves to a shorter place. */
export const socketPathBytesMax = 100;

/** What of this machine decides where the socket is. */
export interface SocketPlace {
  readonly platform: NodeJS.Platform;
  /** A folder that ends with the user's session, or of temporary files. */
  readonly runtimeDir: string;
  /** The user's number; undefined on Windows. */
  readonly uid: number | undefined;
}

/** Where sockets of this process's user go. `env` is the process's environment, `tmpDir` the system's folder for temporary files. */
export function socketPlace(env: Readonly<Record<string, string | undefined>>, tmpDir: string): SocketPlace {
  return { platform: process.platform, runtimeDir: env.XDG_RUNTIME_DIR ?? tmpDir, uid: process.getuid?.() };
}

/**
 * The address of the socket that is wanted at `path`: that path; a 0700 runtime folder of the user when it is over
 * 100 bytes; a named pipe on Windows (`memory-git-` and the home's id when `path` is already a pipe's name, else a
 * digest of the path). The same on both sides (T55).
 */
export function socketAddress(path: string, place: SocketPlace): string {
  if (place.platform === 'win32') {
    return path.startsWith('\\\\.\\pipe\\') ? path : `\\\\.\\pipe\\memory-git-${sha256Hex(path).slice(0, 32)}`;
  }
  if (Buffer.byteLength(path) <= socketPathBytesMax) return path;
  return join(place.runtimeDir, `memory-git-${place.uid ?? 0}`, `${sha256Hex(path).slice(0, 32)}.sock`);
}

/**
 * Makes the folder of a socket, 0700, and makes sure that it is a folder of this user that nobody else may write
 * to or look into (T50, T55). Throws HOME_INVALID.
 */
export function preparePrivateFolder(address: string, place: SocketPlace): void {
  if (place.platform === 'win32') return;
  const folder = dirname(address);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = statSync(folder);
  const isOwn = found.isDirectory() && (place.uid === undefined || found.uid === place.uid);
  if (isOwn && (found.mode & 0o077) !== 0 && (found.mode & 0o022) === 0) chmodSync(folder, 0o700);
  if (!isOwn || (found.mode & 0o022) !== 0) {
    throw new Fault(
      'HOME_INVALID',
      "The folder of the owner's socket can be written by others. Set its mode to 0700, or remove it.",
    );
  }
}
