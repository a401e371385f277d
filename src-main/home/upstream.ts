import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { Fault } from '../base/fault.ts';
import type { Environment } from './home.ts';

/** Where a store in another process is reached. */
export type UpstreamAddress =
  | { readonly kind: 'url'; readonly origin: string; readonly basePath: string }
  | { readonly kind: 'socket'; readonly path: string };

export interface Upstream {
  readonly address: UpstreamAddress;
  /** The key of that store's HTTP protocol; undefined where it needs none. */
  readonly key: string | undefined;
}

const variable = 'CHARON_UPSTREAM';
const keyFileVariable = 'CHARON_UPSTREAM_KEY_FILE';
const keyFileBytesMax = 4_096;

/**
 * `CHARON_UPSTREAM`: the store of another process that holds the memory (`charon.md` §7): `https://…`, `unix:/path`, or `http://`
 * on this machine alone. Its key is `LETHE_API_KEY`, else what the file of `CHARON_UPSTREAM_KEY_FILE`, which is 0600, holds.
 * Undefined when it is unset (H15, H16). Throws HOME_INVALID for another address, KEYS_INVALID for a key that cannot be used; neither repeats
 * what was written, since an address may hold a secret.
 */
export function readUpstream(env: Environment): Upstream | undefined {
  const text = (env[variable] ?? '').trim();
  return text === '' ? undefined : { address: parseAddress(text), key: readKey(env) };
}

function parseAddress(text: string): UpstreamAddress {
  if (text.startsWith('unix:')) return socketOf(text.slice('unix:'.length));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isPlain || !['https:', 'http:'].includes(url.protocol)) throw refused();
  if (url.protocol === 'http:' && !isThisMachine(url.hostname)) {
    throw new Fault(
      'HOME_INVALID',
      `${variable} is plain http:// to another machine, where anyone on the way could read memory and key. Use https:// there.`,
      { variable },
    );
  }
  return { kind: 'url', origin: url.origin, basePath: url.pathname.replace(/\/+$/, '').replace(/\/api$/, '') };
}

function socketOf(path: string): UpstreamAddress {
  if (isAbsolute(path) && !path.includes('\0')) return { kind: 'socket', path };
  throw refused();
}

function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function refused(): Fault {
  return new Fault(
    'HOME_INVALID',
    `${variable} must be https://…, unix:/path, or http:// on this machine, without a name, a password, a query or a fragment. Leave it unset to use the store of this home.`,
    { variable },
  );
}

function readKey(env: Environment): string | undefined {
  const given = (env.LETHE_API_KEY ?? '').trim();
  if (given !== '') return sendable(given, 'LETHE_API_KEY');
  const file = (env[keyFileVariable] ?? '').trim();
  return file === '' ? undefined : sendable(readKeyFile(file), keyFileVariable);
}

function sendable(key: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw keyFault(from, 'the key cannot be sent in a header. Use printable characters without spaces.');
}

function readKeyFile(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > keyFileBytesMax)
      throw keyFault(keyFileVariable, 'this is no file with a key in it. Name a file that holds the key alone.');
    // Windows has no such modes: there the folders of a user are closed to others.
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      throw keyFault(
        keyFileVariable,
        'others can read this file. Close it (chmod 600), and change the key if they may have.',
      );
    return readFileSync(descriptor, 'utf8').trim();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw keyFault(keyFileVariable, 'the file cannot be read. Make one of mode 0600 that holds the key alone.');
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function keyFault(from: string, problem: string): Fault {
  return new Fault('KEYS_INVALID', `${from}: ${problem}`, { variable: from });
}
