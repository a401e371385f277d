import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { Fault } from '../../base/fault.ts';

/** Whom a keyless door serves: this machine only, or private networks too (`lethe.md` §1.5). */
export type Trust = 'loopback' | 'private';

/** Where the door listens; an empty host is every address. */
export interface Bind {
  readonly host: string;
  readonly port: number;
}

export const bindDefault: Bind = { host: '127.0.0.1', port: 18_485 };

/** Reads `HOST:PORT`, `[::1]:PORT` or `:PORT`. Throws INPUT_INVALID for anything else. */
export function parseBind(text: string): Bind {
  const parts = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text.trim());
  const host = parts?.[1] ?? parts?.[2] ?? '';
  const port = Number(parts?.[3]);
  const fits = parts !== null && port <= 65_535 && (parts[1] === undefined || isIP(host) === 6) && !/[\s/@]/.test(host);
  if (fits) return { host, port };
  throw new Fault('INPUT_INVALID', '--http: write HOST:PORT, such as 127.0.0.1:18485.', { field: '--http' });
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const privateNetworks = new BlockList();
privateNetworks.addSubnet('10.0.0.0', 8);
privateNetworks.addSubnet('172.16.0.0', 12);
privateNetworks.addSubnet('192.168.0.0', 16);
privateNetworks.addSubnet('169.254.0.0', 16);
privateNetworks.addSubnet('fc00::', 7, 'ipv6');
privateNetworks.addSubnet('fe80::', 10, 'ipv6');

function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a host of a bind is this machine alone: localhost or a loopback address. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isIn(loopback, host);
}

/**
 * Refuses to listen beyond this machine without a key (`lethe.md` §1.5), unless that is allowed outright. True: the door
 * is open to others without a key, which deserves a loud warning. Throws HOME_INVALID.
 */
export function decideBind(bind: Bind, hasKey: boolean, insecureAllowed: boolean): boolean {
  if (isLoopbackHost(bind.host) || hasKey) return false;
  if (insecureAllowed) return true;
  throw new Fault(
    'HOME_INVALID',
    'Listening beyond this machine needs a key. Set LETHE_API_KEY, or listen on 127.0.0.1.',
    { variable: 'LETHE_API_KEY' },
  );
}

/** Whether a peer without a key is served. Only the address of the connection counts, never a header. */
export function isTrustedPeer(address: string | undefined, trust: Trust): boolean {
  if (address === undefined) return false;
  return isIn(loopback, address) || (trust === 'private' && isIn(privateNetworks, address));
}

/** Whether the header is `Bearer <key>`: two fields, the scheme in any case, the key compared in constant time. */
export function bearsKey(authorization: string | undefined, key: string): boolean {
  const [scheme, credential, ...rest] = (authorization ?? '').trim().split(/\s+/);
  if (scheme?.toLowerCase() !== 'bearer' || credential === undefined || rest.length > 0) return false;
  return timingSafeEqual(digestOf(credential), digestOf(key));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
