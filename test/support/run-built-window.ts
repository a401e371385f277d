/**
 * Runs the built main bundle of the window in this process, with the stand-in in the place of Electron, takes it through
 * one life (start, one command, one page, one refused sender, quit), and prints what was seen as one JSON line.
 * Arguments: the root of the tree, a home.
 */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventChannel, requestChannel } from '../../src-preload/contract/bridge.ts';
import { messageFrom, standInElectron } from './electron-stand-in.ts';

const [root = '', home = ''] = process.argv.slice(2);
const names = [
  'app',
  'BrowserWindow',
  'dialog',
  'ipcMain',
  'Menu',
  'nativeImage',
  'protocol',
  'safeStorage',
  'session',
  'shell',
  'Tray',
];
const made = standInElectron();
made.app.appPath = root;
Reflect.set(globalThis, 'standInElectron', made.electron);
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: 'stand-in:electron', format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === 'stand-in:electron'
      ? {
          format: 'module',
          source: `export const { ${names.join(', ')} } = globalThis.standInElectron;`,
          shortCircuit: true,
        }
      : next(url, context),
});

process.argv = [process.execPath, root, '--home', home, '--port', '0'];
await import(pathToFileURL(join(root, 'out/main/index.js')).href);
await made.app.becomeReady();
const page = made.windows[0]?.webContents;
if (page === undefined) throw new Error('the desk opened no window');

const ask = (sender: unknown, name: string, input: unknown) =>
  made.ipcMain.invoke(requestChannel, messageFrom(sender), name, input);
const projects = await ask(page, 'project.list', {});
const created = await ask(page, 'principal.reconcile', { name: 'Scribe', profile: 'propose', project: 'notes' });
const sealing = await ask(page, 'key.seal', {});
const foreign = await ask({}, 'project.list', {});
const served = await made.protocol.handlers.get('app')?.(new Request('app://desk/'));
const states = page.sent.filter((sent) => sent.channel === eventChannel('state')).map((sent) => sent.args[0]);
const events = page.sent.filter((sent) => sent.channel === eventChannel('engine')).map((sent) => sent.args[0]);

made.app.quit();
while (made.app.calls.at(-1) !== 'quit') await new Promise((resolve) => setTimeout(resolve, 10));
const html = (await served?.text()) ?? '';
const policy = served?.headers.get('content-security-policy');
process.stdout.write(
  `${JSON.stringify({ projects, created, sealing, foreign, states, events, html, policy, calls: made.app.calls })}\n`,
);
