import { readFile, realpath } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { contentSecurityPolicy, withNonce } from '../../transports/content-security.ts';
import type { DeskProtocol } from './electron-api.ts';

/** The address of the desk: its own scheme, never `file://`. */
export const deskAddress = 'app://desk/index.html';
const scheme = 'app';
const host = 'desk';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export interface AppFiles {
  /** Folder of the built renderer; nothing outside of it is ever served. */
  readonly root: string;
  /** A fresh random text in base64url for every response. */
  readonly nonce: () => string;
}

/** Makes `app://` a scheme with an origin of its own. Must run before Electron is ready. */
export function registerAppScheme(protocol: Pick<DeskProtocol, 'registerSchemesAsPrivileged'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** Serves the built renderer under `app://desk/`. */
export function serveAppFiles(protocol: Pick<DeskProtocol, 'handle'>, files: AppFiles): void {
  protocol.handle(scheme, (request) => answerAppRequest(request, files));
}

/** Answers one request of the window: a file of the renderer, 405 for anything but GET, 404 for all else. */
export async function answerAppRequest(request: Pick<Request, 'method' | 'url'>, files: AppFiles): Promise<Response> {
  if (request.method !== 'GET') return refuse(405);
  const path = await findFile(request.url, files.root);
  if (path === undefined) return refuse(404);
  const content = await readFile(path).catch(() => undefined);
  if (content === undefined) return refuse(404);
  const nonce = files.nonce();
  const body = extname(path) === '.html' ? withNonce(content.toString('utf8'), nonce) : new Uint8Array(content);
  return new Response(body, {
    headers: {
      'content-type': contentTypes[extname(path)] ?? 'application/octet-stream',
      'content-security-policy': contentSecurityPolicy(nonce),
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  });
}

/**
 * The file an address names, when it lies in the folder, links followed; undefined otherwise. The URL parser has already
 * taken plain `..` away; here the encoded ones, backslashes, zero bytes, drive letters and links out of the folder go.
 */
async function findFile(address: string, root: string): Promise<string | undefined> {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== `${scheme}:` || url.host !== host) return undefined;
  const segments = decodeSegments(url.pathname);
  if (segments === undefined) return undefined;
  const wanted = join(root, ...(segments.length === 0 ? ['index.html'] : segments));
  const [real, realRoot] = await Promise.all([
    realpath(wanted).catch(() => undefined),
    realpath(root).catch(() => undefined),
  ]);
  if (real === undefined || realRoot === undefined) return undefined;
  const inside = relative(realRoot, real);
  return inside === '' || inside.startsWith('..') || inside.startsWith(sep) ? undefined : real;
}

function decodeSegments(pathname: string): readonly string[] | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  const segments = decoded.split('/').filter((segment) => segment !== '');
  const isPlain = segments.every((segment) => /^[A-Za-z0-9._-]+$/.test(segment) && !/^\.{1,2}$/.test(segment));
  return isPlain ? segments : undefined;
}

function refuse(status: number): Response {
  return new Response(null, { status, headers: { 'content-security-policy': "default-src 'none'" } });
}
