import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { startDesk } from '../../src-main/shells/electron/desk.ts';
import type { EngineThread } from '../../src-main/shells/electron/engine-host.ts';
import type { EngineInbound, EngineOutbound } from '../../src-main/shells/engine-protocol.ts';
import { eventChannel, requestChannel } from '../../src-preload/contract/bridge.ts';
import { projectIdSchema, proposalIdSchema } from '../../src-preload/contract/ids.ts';
import { messageFrom, press, standInElectron } from '../support/electron-stand-in.ts';

const id = proposalIdSchema.parse('0198c0de-0000-7000-8000-000000000001');
const project = projectIdSchema.parse('notes');

/** A thread that keeps what it is told and says what the test says. */
class ScriptedThread extends EventEmitter implements EngineThread {
  readonly heard: EngineInbound[] = [];
  waiting = 0;

  say(message: EngineOutbound): void {
    this.emit('message', message);
  }

  postMessage(message: EngineInbound): void {
    this.heard.push(message);
    if (message.kind === 'close') queueMicrotask(() => this.emit('exit', 0));
    else if (message.kind !== 'request') return;
    else if (message.name === 'project.list') {
      const output = { projects: [{ pending_proposals: this.waiting }] };
      this.say({ kind: 'result', id: message.id, output });
    } else this.say({ kind: 'result', id: message.id, output: message.input });
  }

  async terminate(): Promise<void> {
    this.emit('exit', 1);
  }
}

function prepare(
  options: { argv?: readonly string[]; platform?: NodeJS.Platform; isPackaged?: boolean; isFirst?: boolean } = {},
) {
  const made = standInElectron();
  made.app.isPackaged = options.isPackaged ?? false;
  made.app.isFirstInstance = options.isFirst ?? true;
  const threads: ScriptedThread[] = [];
  const started = startDesk(made.electron, {
    platform: options.platform ?? 'linux',
    argv: options.argv ?? [],
    namedHome: undefined,
    nonce: () => 'n',
    startEngine: () => {
      const thread = new ScriptedThread();
      threads.push(thread);
      return thread;
    },
  });
  /** The contents of the newest window. */
  const page = () => {
    const window = made.windows.at(-1);
    if (window === undefined) throw new Error('there is no window');
    return window.webContents;
  };
  const placesSent = () =>
    page()
      .sent.filter((sent) => sent.channel === eventChannel('open'))
      .map((sent) => sent.args[0]);
  return { ...made, threads, started, page, placesSent };
}

type Prepared = ReturnType<typeof prepare>;

async function ready(
  options: Parameters<typeof prepare>[0] = {},
): Promise<Prepared & { readonly thread: ScriptedThread }> {
  const desk = prepare(options);
  await desk.app.becomeReady();
  const thread = desk.threads[0];
  if (thread === undefined) throw new Error('there is no engine');
  return { ...desk, thread };
}

const doors = { mcp: 'http://127.0.0.1:1/mcp', ledger: null, owner: null, socket: null, home: '/h' };
const settled = () => new Promise((resolve) => setImmediate(resolve));
afterEach(settled);

describe('starting', () => {
  test('E1 the sandbox, the scheme and the lock come before Electron is ready; nothing else does', () => {
    const desk = prepare();
    expect(desk.started).toBe(true);
    expect(desk.app.calls).toEqual(['enableSandbox', 'lock /data/memory-git']);
    expect(desk.protocol.privileged).toHaveLength(1);
    expect(desk.windows).toEqual([]);
    expect(desk.threads).toEqual([]);
  });

  test('E1 E2 once ready there is one sealed window with the bridge, and one engine', async () => {
    const desk = await ready();
    expect(desk.windows).toHaveLength(1);
    expect(desk.threads).toHaveLength(1);
    expect(desk.windows[0]?.options.webPreferences?.preload).toBe('/app/out/preload/bridge.cjs');
    expect(desk.page().isPrevented('will-navigate')).toBe(true);
    expect(desk.session.defaultSession.cancels('https://example.org/')).toBe(true);
    expect(desk.protocol.handlers.has('app')).toBe(true);
  });

  test('E17 the second instance starts nothing and ends', async () => {
    const desk = prepare({ isFirst: false });
    await desk.app.becomeReady();
    expect(desk.started).toBe(false);
    expect(desk.app.calls.at(-1)).toBe('quit');
    expect(desk.windows).toEqual([]);
    expect(desk.threads).toEqual([]);
  });

  test('E9 only the packaged app takes over the links of the system', async () => {
    expect((await ready()).app.calls).not.toContain('scheme memorygit');
    expect((await ready({ isPackaged: true })).app.calls).toContain('scheme memorygit');
  });

  test('E20 E4 the packaged app has no developer tools', async () => {
    const packaged = await ready({ isPackaged: true });
    expect(packaged.windows[0]?.options.webPreferences?.devTools).toBe(false);
    expect(packaged.session.defaultSession.cancels('devtools://devtools/x')).toBe(true);
    expect(JSON.stringify(packaged.state.menu)).not.toContain('toggleDevTools');
  });
});

describe('the page', () => {
  test('E13 its requests reach the engine and the answers come back', async () => {
    const desk = await ready();
    desk.thread.say({ kind: 'ready', doors });
    const answer = await desk.ipcMain.invoke(requestChannel, messageFrom(desk.page()), 'memory.search', { query: 'x' });
    expect(answer).toEqual({ ok: true, output: { query: 'x' } });
  });

  test('E10 another window of the app is not answered', async () => {
    const desk = await ready();
    desk.thread.say({ kind: 'ready', doors });
    const answer = await desk.ipcMain.invoke(requestChannel, messageFrom({}), 'memory.search', {});
    expect(answer).toMatchObject({ ok: false, fault: { code: 'ORIGIN_REFUSED' } });
  });

  test('E13 it is told the state when it begins to listen, and each change after', async () => {
    const desk = await ready();
    desk.ipcMain.send(eventChannel('state'), messageFrom(desk.page()));
    desk.thread.say({ kind: 'ready', doors });
    const states = desk.page().sent.filter((sent) => sent.channel === eventChannel('state'));
    expect(states.map((sent) => sent.args[0])).toEqual([{ kind: 'starting' }, { kind: 'running', mcpUrl: doors.mcp }]);
  });

  test('E13 it hears of every event', async () => {
    const desk = await ready();
    desk.thread.say({ kind: 'event', event: { kind: 'project_created', project_id: project } });
    expect(desk.page().sent).toContainEqual({
      channel: eventChannel('engine'),
      args: [{ kind: 'project_created', project_id: project }],
    });
  });

  test('E5 a page that cannot be loaded is said to the owner', async () => {
    const desk = prepare();
    await desk.app.becomeReady();
    const window = desk.windows[0];
    if (window === undefined) throw new Error('there is no window');
    window.loadFails = true;
    await settled();
    expect(desk.dialog.errors).toEqual(['Memory Git: The desk could not be loaded. Build or install Memory Git anew.']);
  });

  test('E8 a page that wants to open an address makes the owner be asked', async () => {
    const desk = await ready();
    desk.dialog.answer = 1;
    expect(desk.page().openWindow('https://example.org/')).toBe('deny');
    await settled();
    expect(desk.dialog.shown).toHaveLength(1);
    expect(desk.shell.opened).toEqual(['https://example.org/']);
  });
});

describe('places', () => {
  const link = `memorygit://proposal/${id}`;

  test('E9 a link that came with the start waits until the page listens, and is followed once', async () => {
    const desk = await ready({ argv: ['.', link] });
    expect(desk.placesSent()).toEqual([]);
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    expect(desk.placesSent()).toEqual([`/inbox/${id}`]);
  });

  test('E9 E17 a link from a second start brings the window to the front and is followed at once', async () => {
    const desk = await ready();
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    desk.app.emit('second-instance', {}, ['.', link]);
    expect(desk.placesSent()).toEqual([`/inbox/${id}`]);
    expect(desk.windows[0]?.calls).toContain('focus');
  });

  test('E9 a link by event, on macOS also before the window is there', async () => {
    const desk = prepare({ platform: 'darwin' });
    desk.app.emit('open-url', { preventDefault: () => undefined }, link);
    desk.app.emit('open-url', { preventDefault: () => undefined }, 'memorygit://settings/x');
    await desk.app.becomeReady();
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    expect(desk.placesSent()).toEqual([`/inbox/${id}`]);
  });

  test('E20 the menu leads there too', async () => {
    const desk = await ready();
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    press(desk.state.menu, 'History');
    expect(desk.placesSent()).toEqual(['/history']);
  });

  test('E9 a link that comes while a new window still loads waits for that one', async () => {
    const desk = await ready({ platform: 'darwin' });
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    desk.windows[0]?.emit('closed');
    desk.app.emit('open-url', { preventDefault: () => undefined }, link);
    expect(desk.windows).toHaveLength(2);
    expect(desk.placesSent()).toEqual([]);
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    expect(desk.placesSent()).toEqual([`/inbox/${id}`]);
  });

  test('E30 the engine is told when a window listens, when it is gone, and anew when it starts again', async () => {
    const desk = await ready({ platform: 'darwin' });
    const told = (thread: number) =>
      desk.threads[thread]?.heard.flatMap((message) => (message.kind === 'desk' ? [message.open] : []));
    desk.thread.say({ kind: 'ready', doors });
    expect(told(0)).toEqual([]);
    desk.ipcMain.send(eventChannel('open'), messageFrom(desk.page()));
    expect(told(0)).toEqual([true]);
    desk.thread.emit('exit', 1);
    desk.threads[1]?.say({ kind: 'ready', doors });
    expect(told(1)).toEqual([true]);
    desk.windows[0]?.emit('closed');
    expect(told(1)).toEqual([true, false]);
  });

  test('E17 after the window was closed, coming back opens a new one', async () => {
    const desk = await ready({ platform: 'darwin' });
    desk.windows[0]?.emit('closed');
    desk.app.emit('window-all-closed');
    expect(desk.app.calls).not.toContain('quit');
    desk.app.emit('activate');
    expect(desk.windows).toHaveLength(2);
    const answer = await desk.ipcMain.invoke(requestChannel, messageFrom(desk.windows[0]?.webContents), 'a.b', {});
    expect(answer).toMatchObject({ ok: false, fault: { code: 'ORIGIN_REFUSED' } });
  });
});

test('E19 the tray counts anew after each event that can change the count', async () => {
  const desk = await ready();
  desk.thread.waiting = 2;
  desk.thread.say({ kind: 'ready', doors });
  await settled();
  expect(desk.trays[0]?.title).toBe('2');
  desk.thread.waiting = 3;
  desk.thread.say({
    kind: 'event',
    event: { kind: 'proposal_changed', project_id: project, proposal_id: id, status: 'pending' },
  });
  await settled();
  expect(desk.trays[0]?.title).toBe('3');
});

describe('ending', () => {
  test('E16 the app ends only after the engine has closed', async () => {
    const desk = await ready();
    desk.thread.say({ kind: 'ready', doors });
    desk.app.emit('window-all-closed');
    expect(desk.app.calls.at(-1)).toBe('quit prevented');
    expect(desk.thread.heard.at(-1)).toEqual({ kind: 'close' });
    await settled();
    expect(desk.app.calls.at(-1)).toBe('quit');
    expect(desk.threads).toHaveLength(1);
  });

  test('E16 an app that never got ready ends at once', () => {
    const desk = prepare();
    desk.app.quit();
    expect(desk.app.calls.at(-1)).toBe('quit');
  });
});
