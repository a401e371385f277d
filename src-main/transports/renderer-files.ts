import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { Fault } from '../base/fault.ts';

/** One file of the built desk, as it is served. */
export interface RendererFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

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

/**
 * Every regular file of the built desk by its URL path, read once; links are not followed. What is not in this map is
 * not served, so that no path can lead out of the folder (T40). Throws STATE_NOT_FOUND when the desk was not built.
 */
export async function readRendererFiles(folder: string): Promise<ReadonlyMap<string, RendererFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, RendererFile>();
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const urlPath = `/${relative(folder, path).split(sep).join('/')}`;
    const contentType = contentTypes[extname(entry.name)] ?? 'application/octet-stream';
    files.set(urlPath, { contentType, bytes: await readFile(path) });
  }
  if (!files.has('/index.html')) {
    throw new Fault('STATE_NOT_FOUND', 'The pages of the desk are not built. Run `npm run setup`, then start again.');
  }
  return files;
}
