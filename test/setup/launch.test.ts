import { describe, expect, test } from 'vitest';
import { electronArgs, hasDisplay } from '../../scripts/lib/electron.mjs';
import { browserArgs, decideLaunch, parseReadyLine, parseStartArgs } from '../../scripts/lib/launch.mjs';

describe('how the app is shown', () => {
  test('the window, where there is a binary and a display', () => {
    expect(decideLaunch({ headless: false, electron: true, display: true })).toEqual({ kind: 'window' });
  });

  test('without the binary the owner page opens in a browser, and the reason is said', () => {
    const way = decideLaunch({ headless: false, electron: false, display: true });
    expect(way).toMatchObject({ kind: 'page', browser: true, why: expect.stringContaining('Electron') });
  });

  test('without a display no browser is opened either', () => {
    const way = decideLaunch({ headless: false, electron: true, display: false });
    expect(way).toMatchObject({ kind: 'page', browser: false, why: expect.stringContaining('display') });
  });

  test('headless wins over everything', () => {
    expect(decideLaunch({ headless: true, electron: true, display: true })).toEqual({ kind: 'headless' });
  });

  test('a display is one of X or Wayland on Linux and always there elsewhere', () => {
    expect(hasDisplay('linux', {})).toBe(false);
    expect(hasDisplay('linux', { DISPLAY: ':0' })).toBe(true);
    expect(hasDisplay('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toBe(true);
    expect(hasDisplay('darwin', {})).toBe(true);
    expect(hasDisplay('win32', {})).toBe(true);
  });
});

test('--headless is ours, the rest is the app’s', () => {
  expect(parseStartArgs(['--home', '/tmp/x', '--headless', '--port', '0'])).toEqual({
    headless: true,
    rest: ['--home', '/tmp/x', '--port', '0'],
  });
});

describe('the ready line', () => {
  test('its addresses are read', () => {
    const line =
      '{"ready":true,"mcp":"http://127.0.0.1:1/mcp","ledger":"x","owner":"http://127.0.0.1:2/#c","home":"/h","pid":3}';
    expect(parseReadyLine(line)).toEqual({ mcp: 'http://127.0.0.1:1/mcp', owner: 'http://127.0.0.1:2/#c' });
  });

  test('a shut owner page is null', () => {
    expect(parseReadyLine('{"ready":true,"mcp":"m","owner":null}')).toEqual({ mcp: 'm', owner: null });
  });

  test.each(['', 'ready', 'null', '[]', '7', '{"ready":false}', '{"level":30}'])('%j is another line', (line) => {
    expect(parseReadyLine(line)).toBeNull();
  });
});

describe('sandboxes', () => {
  test('Electron and the browser keep theirs except for root on Linux', () => {
    const page = { url: 'http://127.0.0.1:1/', profile: '/p' };
    expect(electronArgs({ platform: 'linux', isRoot: false, rest: ['--home', 'h'] })).toEqual(['.', '--home', 'h']);
    expect(electronArgs({ platform: 'darwin', isRoot: true, rest: [] })).toEqual(['.']);
    expect(electronArgs({ platform: 'linux', isRoot: true, rest: [] })).toEqual(['--no-sandbox', '.']);
    expect(browserArgs({ ...page, platform: 'linux', isRoot: false })).not.toContain('--no-sandbox');
    expect(browserArgs({ ...page, platform: 'linux', isRoot: true })).toContain('--no-sandbox');
  });
});
