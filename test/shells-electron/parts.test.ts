import { describe, expect, test } from 'vitest';
import { parseDeskArguments } from '../../src-main/shells/electron/arguments.ts';
import { menuTemplate } from '../../src-main/shells/electron/menu.ts';
import { claimInstance } from '../../src-main/shells/electron/single-instance.ts';
import { findForbiddenSwitch } from '../../src-main/shells/electron/switches.ts';
import { openTray, waitingText } from '../../src-main/shells/electron/tray.ts';
import { changesWaiting, countWaiting } from '../../src-main/shells/electron/waiting.ts';
import { principalIdSchema } from '../../src-preload/contract/ids.ts';
import { menuItem, press, StandInApp, standInElectron } from '../support/electron-stand-in.ts';

const id = '0198c0de-0000-7000-8000-000000000001';

describe('one window a home', () => {
  test('E17 a second start hands its link to the first', () => {
    const app = new StandInApp();
    const places: (string | undefined)[] = [];
    expect(claimInstance(app, { namedHome: undefined, onSecond: (place) => places.push(place) })).toBe(true);
    app.emit('second-instance', {}, ['electron', '.']);
    app.emit('second-instance', {}, ['electron', '.', `memorygit://proposal/${id}`]);
    expect(places).toEqual([undefined, `/inbox/${id}`]);
  });

  test('E17 without the lock nothing is listened to', () => {
    const app = new StandInApp();
    app.isFirstInstance = false;
    expect(claimInstance(app, { namedHome: undefined, onSecond: () => undefined })).toBe(false);
    expect(app.listenerCount('second-instance')).toBe(0);
  });

  test('E17 each named home has a lock of its own, the same home the same', () => {
    const lockOf = (namedHome: string | undefined) => {
      const app = new StandInApp();
      claimInstance(app, { namedHome, onSecond: () => undefined });
      return app.calls[0];
    };
    expect(lockOf(undefined)).toBe('lock /data/memory-git');
    expect(lockOf('/a')).toMatch(/^lock \/data\/memory-git\/homes\/[0-9a-f]{16}$/);
    expect(lockOf('/a')).toBe(lockOf('/a'));
    expect(lockOf('/a')).not.toBe(lockOf('/b'));
  });
});

describe('switches of the packaged app', () => {
  test.each([
    ['--remote-debugging-port=9222', 'remote-debugging-port'],
    ['--remote-debugging-pipe', 'remote-debugging-pipe'],
    ['--Remote-Debugging-Port=1', 'remote-debugging-port'],
    ['-remote-debugging-port=1', 'remote-debugging-port'],
    ['--inspect', 'inspect'],
    ['--inspect=0', 'inspect'],
    ['--inspect-brk', 'inspect-brk'],
    ['--inspect-publish-uid=http', 'inspect-publish-uid'],
    ['--js-flags=--expose-gc', 'js-flags'],
    ['--load-extension=/x', 'load-extension'],
  ])('E18 %s is found', (argument, name) => {
    expect(findForbiddenSwitch(['--home', '/h', argument], 'linux')).toBe(name);
  });

  test('E18 on Windows a slash begins a switch too', () => {
    expect(findForbiddenSwitch(['/remote-debugging-port=1'], 'win32')).toBe('remote-debugging-port');
    expect(findForbiddenSwitch(['/inspect'], 'linux')).toBeUndefined();
  });

  test('E18 other switches and links pass', () => {
    expect(
      findForbiddenSwitch(['--home', '/inspect', '--no-sandbox', `memorygit://proposal/${id}`, 'inspect'], 'linux'),
    ).toBeUndefined();
  });
});

describe('the tray', () => {
  const options = { icon: '/app/resources/tray.png', onOpen: () => undefined, onQuit: () => undefined };

  test('E19 tells how many proposals wait', () => {
    const { electron, trays } = standInElectron();
    const tray = openTray(electron, options);
    expect(trays[0]).toMatchObject({ toolTip: 'Memory Git: nothing waits', title: '' });
    tray?.setWaiting(2);
    expect(trays[0]).toMatchObject({ toolTip: 'Memory Git: 2 proposals wait', title: '2' });
    expect(waitingText(1)).toBe('Memory Git: 1 proposal waits');
  });

  test('E19 its entries and its click do what they say', () => {
    const { electron, trays } = standInElectron();
    const done: string[] = [];
    openTray(electron, { ...options, onOpen: (place) => done.push(place), onQuit: () => done.push('quit') });
    trays[0]?.emit('click');
    press(trays[0]?.menu ?? [], 'Review');
    press(trays[0]?.menu ?? [], 'Quit Memory Git');
    expect(done).toEqual(['/inbox', '/inbox', 'quit']);
  });

  test('E19 a desktop without a tray is no failure', () => {
    const { electron, state } = standInElectron();
    state.hasTray = false;
    expect(openTray(electron, options)).toBeUndefined();
  });

  test('E19 waiting proposals are summed over projects; an answer that has none is no zero', () => {
    const output = { projects: [{ pending_proposals: 2, name: 'x' }, { pending_proposals: 3 }] };
    expect(countWaiting({ ok: true, output })).toBe(5);
    expect(countWaiting({ ok: true, output: { projects: [] } })).toBe(0);
    expect(countWaiting({ ok: true, output: { projects: [{}] } })).toBeUndefined();
    const fault = { code: 'CLOSED', kind: 'unavailable', message: '', data: {} } as const;
    expect(countWaiting({ ok: false, fault })).toBeUndefined();
    expect(
      changesWaiting({
        kind: 'principal_changed',
        principal_id: principalIdSchema.parse('principal_0123456789abcdef'),
      }),
    ).toBe(false);
  });
});

describe('the menu', () => {
  const template = (devTools: boolean, onOpen: (place: string) => void = () => undefined) =>
    menuTemplate({ platform: 'linux', devTools, onOpen, onQuit: () => undefined });

  test('E20 leads to every place of the desk', () => {
    const places: string[] = [];
    const menu = template(false, (place) => places.push(place));
    for (const label of ['Inbox', 'Memory', 'History', 'Agents']) press(menu, label);
    expect(places).toEqual(['/inbox', '/memory', '/history', '/agents']);
  });

  test('E20 reload and developer tools are there only while developing', () => {
    expect(JSON.stringify(template(true))).toContain('toggleDevTools');
    expect(JSON.stringify(template(false))).not.toMatch(/toggleDevTools|reload/);
  });

  test('E20 on macOS the app’s own menu comes first, and quitting is everywhere', () => {
    const mac = menuTemplate({ platform: 'darwin', devTools: false, onOpen: () => undefined, onQuit: () => undefined });
    expect(mac[0]?.label).toBe('Memory Git');
    expect(menuItem(mac, 'Quit Memory Git')).toBeDefined();
    expect(menuItem(template(false), 'Quit Memory Git')).toBeDefined();
  });
});

describe('arguments', () => {
  test('E21 home and port in both forms', () => {
    expect(parseDeskArguments(['.', '--home', '/h', '--port', '0'])).toEqual({ home: '/h', port: 0 });
    expect(parseDeskArguments(['.', '--home=/h', '--port=18484'])).toEqual({ home: '/h', port: 18_484 });
    expect(parseDeskArguments(['.', '--no-sandbox'])).toEqual({ home: undefined, port: null });
  });

  test.each(['', 'x', '-1', '65536', '1.5', '99999999'])('E21 %j is no port', (port) => {
    expect(() => parseDeskArguments([`--port=${port}`])).toThrow(/--port takes a number/);
  });
});
