import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type App, type AppOptions, openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { tempFolder } from '../support/temp-home.ts';

async function open(home: string, more: Partial<AppOptions> = {}): Promise<App> {
  const app = await openApp({
    home,
    env: {},
    doors: null,
    version: '1.2.3',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
    ...more,
  });
  onTestFinished(() => app.close());
  return app;
}

const anyPort = { agentPort: 0, ownerPageDir: null };

test('X7 one home, one holder, in one process too; closing twice is closing once', async () => {
  const home = join(tempFolder(), 'home');
  const app = await open(home, { doors: anyPort });
  expect(JSON.parse(readFileSync(join(home, 'host.json'), 'utf8'))).toMatchObject({
    pid: process.pid,
    mcp: app.doors.mcp,
    socket: app.doors.socket,
  });
  await expect(open(home)).rejects.toMatchObject({ code: 'HOME_LOCKED', data: { pid: process.pid } });
  await Promise.all([app.close(), app.close()]);
  expect(existsSync(join(home, 'host.json'))).toBe(false);
  expect(() => app.ownerCaller('window')).toThrow(expect.objectContaining({ code: 'CLOSED' }));
  await open(home);
});

test('X9 when a part cannot be opened, what was opened before it is closed again', async () => {
  const home = join(tempFolder(), 'home');
  const blocker = createServer();
  await new Promise<void>((resolve) => void blocker.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void blocker.close());
  const address = blocker.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await expect(open(home, { doors: { agentPort: port, ownerPageDir: null } })).rejects.toMatchObject({
    code: 'PORT_TAKEN',
  });
  await expect(open(home, { doors: { agentPort: 0, ownerPageDir: join(home, 'no-desk') } })).rejects.toMatchObject({
    name: 'Fault',
  });
  await open(home, { doors: anyPort });
});

test('X11 recovery reads a home and changes nothing of memory; without a home there is nothing to recover', async () => {
  const home = join(tempFolder(), 'home');
  const env = { LETHE_RECOVERY_READONLY: 'on' };
  await expect(open(home, { env })).rejects.toMatchObject({ code: 'HOME_INVALID' });
  expect(existsSync(home)).toBe(false);
  const before = await open(home);
  await before.commands.call('memory.repo_init', { project: 'demo' }, before.ownerCaller('files'));
  await before.close();
  const bytes = readFileSync(join(home, 'lethe.db'));
  const app = await open(home, { env, doors: anyPort });
  const caller = app.ownerCaller('window');
  expect(await app.commands.call('memory.status', { project: 'demo' }, caller)).toMatchObject({
    recovery_readonly: true,
  });
  expect(await app.commands.call('engine.status', {}, caller)).toMatchObject({
    recovery_readonly: true,
    mcp_url: app.doors.mcp,
  });
  await expect(app.commands.call('memory.repo_init', { project: 'more' }, caller)).rejects.toMatchObject({
    code: 'READ_ONLY',
  });
  await app.close();
  expect(readFileSync(join(home, 'lethe.db')).equals(bytes)).toBe(true);
});
