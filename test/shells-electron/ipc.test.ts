import { beforeEach, describe, expect, test } from 'vitest';
import { publish, serveIpc } from '../../src-main/shells/electron/ipc.ts';
import { eventChannel, requestChannel } from '../../src-preload/contract/bridge.ts';
import { jsonDepthMax, requestBytesMax } from '../../src-preload/contract/limits.ts';
import { messageFrom, StandInContents, StandInIpc } from '../support/electron-stand-in.ts';

let desk: StandInContents;
let ipcMain: StandInIpc;
let asked: { name: string; input: unknown }[];
let listening: string[];
beforeEach(() => {
  desk = new StandInContents();
  ipcMain = new StandInIpc();
  asked = [];
  listening = [];
  serveIpc({
    ipcMain,
    desk: () => desk,
    request: async (name, input) => {
      asked.push({ name, input });
      return { ok: true, output: { echo: input } };
    },
    onListening: (event) => listening.push(event),
  });
});

const ask = (...args: unknown[]) => ipcMain.invoke(requestChannel, messageFrom(desk), ...args);

describe('who may ask', () => {
  test('E10 the desk’s own page is answered', async () => {
    expect(await ask('project.list', {})).toEqual({ ok: true, output: { echo: {} } });
  });

  test.each([
    ['another origin', { origin: 'https://example.org' }],
    ['a look-alike origin', { origin: 'app://desk.evil' }],
    ['no origin', { origin: 'null' }],
    ['a file', { origin: 'file://' }],
  ])('E10 %s is refused', async (_, frame) => {
    const answer = await ipcMain.invoke(requestChannel, messageFrom(desk, frame), 'project.list', {});
    expect(answer).toMatchObject({ ok: false, fault: { code: 'ORIGIN_REFUSED', kind: 'denied' } });
    expect(asked).toEqual([]);
  });

  test('E10 a frame inside the page, a destroyed frame and another window are refused', async () => {
    const inner = { sender: desk, senderFrame: { origin: 'app://desk', parent: Object.create(null) } };
    const gone = { sender: desk, senderFrame: null };
    const other = messageFrom(new StandInContents());
    for (const event of [inner, gone, other]) {
      expect(await ipcMain.invoke(requestChannel, event, 'project.list', {})).toMatchObject({
        ok: false,
        fault: { code: 'ORIGIN_REFUSED' },
      });
    }
    expect(asked).toEqual([]);
  });

  test('E10 while there is no window nobody is answered', async () => {
    const closed = new StandInIpc();
    serveIpc({
      ipcMain: closed,
      desk: () => undefined,
      request: async () => ({ ok: true, output: 1 }),
      onListening: () => undefined,
    });
    expect(await closed.invoke(requestChannel, messageFrom(desk), 'project.list', {})).toMatchObject({ ok: false });
  });

  test('E10 only the desk’s page is told what happened before it listened', () => {
    ipcMain.send(eventChannel('state'), messageFrom(desk));
    ipcMain.send(eventChannel('open'), messageFrom(desk));
    ipcMain.send(eventChannel('state'), messageFrom(new StandInContents()));
    ipcMain.send(eventChannel('state'), messageFrom(desk, { origin: 'https://example.org' }));
    expect(listening).toEqual(['state', 'open']);
  });
});

describe('what may be asked', () => {
  test.each([
    [[]],
    [['project.list']],
    [['project.list', {}, 1]],
    [[7, {}]],
    [['project', {}]],
    [['Project.List', {}]],
    [['a.b/../c', {}]],
    [['__proto__.x', {}]],
  ])('E11 %j is no request', async (args) => {
    expect(await ask(...args)).toMatchObject({ ok: false, fault: { code: 'COMMAND_UNKNOWN' } });
    expect(asked).toEqual([]);
  });

  test.each([
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(3)],
    ['a big integer', 1n],
    ['not a number', Number.NaN],
    ['nothing', undefined],
    ['nothing in a list', [undefined]],
    ['one of them deep inside', { a: [{ b: new Map() }] }],
  ])('E11 %s is no JSON', async (_, input) => {
    expect(await ask('project.list', input)).toMatchObject({
      ok: false,
      fault: { code: 'BODY_INVALID', kind: 'invalid' },
    });
    expect(asked).toEqual([]);
  });

  test('E11 an absent field is left out, as JSON leaves it out', async () => {
    expect(await ask('memory.search', { query: 'x', cursor: undefined })).toMatchObject({ ok: true });
  });

  test('E11 nesting is bounded, a circle too', async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
    expect(await ask('project.list', nested(jsonDepthMax))).toMatchObject({ ok: true });
    expect(await ask('project.list', nested(jsonDepthMax + 1))).toMatchObject({
      ok: false,
      fault: { code: 'BODY_TOO_DEEP' },
    });
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect(await ask('project.list', circle)).toMatchObject({ ok: false, fault: { code: 'BODY_TOO_DEEP' } });
  });

  test('E11 size is bounded in bytes of UTF-8', async () => {
    expect(await ask('project.list', 'x'.repeat(requestBytesMax - 2))).toMatchObject({ ok: true });
    expect(await ask('project.list', 'x'.repeat(requestBytesMax - 1))).toMatchObject({
      ok: false,
      fault: { code: 'BODY_TOO_LARGE' },
    });
    expect(await ask('project.list', 'é'.repeat(requestBytesMax / 2))).toMatchObject({
      ok: false,
      fault: { code: 'BODY_TOO_LARGE' },
    });
  });

  test('E11 no refusal repeats what was sent', async () => {
    const answer = JSON.stringify(await ask('project.list', { secret: 'token-123', map: new Map() }));
    expect(answer).not.toContain('token-123');
  });
});

test('an event goes to the page under its own channel', () => {
  publish(desk, 'open', '/inbox');
  expect(desk.sent).toEqual([{ channel: 'memory-git:open', args: ['/inbox'] }]);
});
