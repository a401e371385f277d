import { EventEmitter } from 'node:events';
import { resolve } from 'node:path';
import { build } from 'vite';
import { beforeEach, expect, test, vi } from 'vitest';
import { eventChannel, requestChannel } from '../../src-preload/contract/bridge.ts';

/** What Electron gives a sandboxed preload: its own two modules, and a world to put things into. */
class StandInRenderer extends EventEmitter {
  readonly invoked: unknown[][] = [];
  readonly sent: string[] = [];
  async invoke(...args: unknown[]): Promise<unknown> {
    this.invoked.push(args);
    return { ok: true, output: 'done' };
  }
  send(channel: string): void {
    this.sent.push(channel);
  }
}

const root = resolve(import.meta.dirname, '../..');
let ipcRenderer: StandInRenderer;
let world: Record<string, Record<string, (...args: unknown[]) => unknown>>;
let required: string[];

/** Builds the preload into one CommonJS text, as the app's build does, and runs it as the sandbox does. */
const built = build({
  root,
  configFile: false,
  logLevel: 'silent',
  build: {
    write: false,
    minify: false,
    rolldownOptions: {
      input: resolve(root, 'src-preload/bridge.ts'),
      external: ['electron'],
      output: { format: 'cjs', codeSplitting: false },
    },
  },
});

beforeEach(async () => {
  ipcRenderer = new StandInRenderer();
  world = {};
  required = [];
  const result = await built;
  const output = 'output' in result ? result.output : [];
  const chunks = output.flatMap((part) => (part.type === 'chunk' ? [part.code] : []));
  expect(chunks).toHaveLength(1);
  const require = (name: string): unknown => {
    required.push(name);
    return {
      ipcRenderer,
      contextBridge: { exposeInMainWorld: (key: string, api: (typeof world)[string]) => (world[key] = api) },
    };
  };
  const run = new Function('require', 'exports', 'module', chunks[0] ?? '');
  Reflect.apply(run, undefined, [require, {}, { exports: {} }]);
});

test('E12 the built preload is one file that requires electron and nothing else', () => {
  expect(required).toEqual(['electron']);
});

test('E12 the page gets request and subscribe, and nothing else', () => {
  expect(Object.keys(world)).toEqual(['memoryGit']);
  expect(Object.keys(world.memoryGit ?? {}).sort()).toEqual(['request', 'subscribe']);
});

test('E12 a request goes out on the one channel', async () => {
  expect(await world.memoryGit?.request?.('project.list', { a: 1 })).toEqual({ ok: true, output: 'done' });
  expect(ipcRenderer.invoked).toEqual([[requestChannel, 'project.list', { a: 1 }]]);
});

test('E12 a listener gets the payload alone, and no more after it stopped', () => {
  const listener = vi.fn();
  const stop = world.memoryGit?.subscribe?.('engine', listener);
  ipcRenderer.emit(eventChannel('engine'), { sender: ipcRenderer }, { kind: 'project_created' });
  expect(listener.mock.calls).toEqual([[{ kind: 'project_created' }]]);
  if (typeof stop !== 'function') throw new Error('subscribe gives the way to stop');
  stop();
  ipcRenderer.emit(eventChannel('engine'), {}, { kind: 'project_created' });
  expect(listener).toHaveBeenCalledTimes(1);
});

test('E12 listening to the state or to places asks for what was missed; listening to the engine does not', () => {
  for (const event of ['state', 'open', 'engine']) world.memoryGit?.subscribe?.(event, () => undefined);
  expect(ipcRenderer.sent).toEqual([eventChannel('state'), eventChannel('open')]);
});

test.each(['', 'other', 'constructor', 'engine '])('E12 there is no event %j', (name) => {
  expect(() => world.memoryGit?.subscribe?.(name, () => undefined)).toThrow(/no event of that name/);
  expect(ipcRenderer.eventNames()).toEqual([]);
});
