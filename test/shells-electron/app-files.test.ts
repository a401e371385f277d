import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerAppRequest, registerAppScheme, serveAppFiles } from '../../src-main/shells/electron/app-files.ts';
import { StandInProtocol } from '../support/electron-stand-in.ts';

let folder = '';
let nonces = 0;
beforeEach(() => {
  nonces = 0;
  folder = mkdtempSync(join(tmpdir(), 'memory-git-files-'));
  mkdirSync(join(folder, 'renderer/assets'), { recursive: true });
  mkdirSync(join(folder, 'renderer-secret'));
  writeFileSync(
    join(folder, 'renderer/index.html'),
    '<meta name="csp-nonce" content="__CSP_NONCE__"><p>__CSP_NONCE__</p>',
  );
  writeFileSync(join(folder, 'renderer/assets/main-1.js'), 'export const nonce = "__CSP_NONCE__";');
  writeFileSync(join(folder, 'renderer/assets/icon.svg'), '<svg/>');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'renderer-secret/secret.txt'), 'secret');
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'renderer/assets/link.txt'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function ask(url: string, method = 'GET'): Promise<Response> {
  return answerAppRequest({ url, method }, { root: join(folder, 'renderer'), nonce: () => `n${++nonces}` });
}

test.each([
  ['app://desk/', 'text/html; charset=utf-8'],
  ['app://desk/index.html', 'text/html; charset=utf-8'],
  ['app://desk/index.html?x=1', 'text/html; charset=utf-8'],
  ['app://desk/assets/main-1.js', 'text/javascript; charset=utf-8'],
  ['app://desk/assets/icon.svg', 'image/svg+xml'],
])('E6 %s is served as %s', async (url, type) => {
  const response = await ask(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(type);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test.each([
  'app://desk/../secret.txt',
  'app://desk/..%2fsecret.txt',
  'app://desk/%2e%2e/secret.txt',
  'app://desk/%2e%2e%2fsecret.txt',
  'app://desk/assets/..%2f..%2fsecret.txt',
  'app://desk/..%5csecret.txt',
  'app://desk/..\\secret.txt',
  'app://desk/../renderer-secret/secret.txt',
  'app://desk/..%2frenderer-secret/secret.txt',
  'app://desk/..%2frenderer/index.html',
  'app://desk/assets%2f..%2findex.html',
  'app://desk/%2fetc%2fpasswd',
  'app://desk//etc/passwd',
  'app://desk/C:%5cWindows%5cwin.ini',
  'app://desk/index.html%00.js',
  'app://desk/%zz',
  'app://desk/assets/link.txt',
  'app://desk/assets',
  'app://desk/assets/',
  'app://desk/absent.js',
  'app://other/index.html',
  'app://desk.evil/index.html',
  'app://desk:80/index.html',
  'https://desk/index.html',
  'file:///etc/passwd',
  'no address',
])('E6 %s is not found', async (url) => {
  const response = await ask(url);
  expect(response.status).toBe(404);
  expect(await response.text()).toBe('');
});

test.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])('E6 %s is not answered', async (method) => {
  expect((await ask('app://desk/index.html', method)).status).toBe(405);
});

test('E7 every response has content rules and a nonce of its own, written into the page', async () => {
  const first = await ask('app://desk/');
  const second = await ask('app://desk/');
  expect(await first.text()).toBe('<meta name="csp-nonce" content="n1"><p>n1</p>');
  expect(await second.text()).toContain('content="n2"');
  expect(first.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-n1'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('E7 files that are no page are handed out byte for byte, under the same rules', async () => {
  const response = await ask('app://desk/assets/main-1.js');
  expect(await response.text()).toBe('export const nonce = "__CSP_NONCE__";');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('E7 a refusal carries content rules too', async () => {
  expect((await ask('app://desk/absent')).headers.get('content-security-policy')).toBe("default-src 'none'");
});

test('E6 the scheme has an origin of its own and no right to pass by the content rules', async () => {
  const protocol = new StandInProtocol();
  registerAppScheme(protocol);
  expect(protocol.privileged).toEqual([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  serveAppFiles(protocol, { root: join(folder, 'renderer'), nonce: () => 'n' });
  const answer = await protocol.handlers.get('app')?.(new Request('app://desk/'));
  expect(answer?.status).toBe(200);
});
