import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { tempFolder } from '../support/temp-home.ts';

test('T89 the counters of commands are shown to the owner, and to nobody else', async () => {
  const folder = tempFolder();
  const ownerPageDir = join(folder, 'renderer');
  mkdirSync(ownerPageDir);
  writeFileSync(join(ownerPageDir, 'index.html'), '<!doctype html><title>desk</title>');
  const app = await openApp({
    ...{ home: join(folder, 'home'), env: {}, doors: { agentPort: 0, ownerPageDir }, version: '1.2.3' },
    ...{ clock: systemClock, ids: systemIds(), log: silentLog },
  });
  onTestFinished(() => app.close());
  await app.commands.call('memory.repo_init', { project: 'demo' }, app.ownerCaller('window'));

  const login = new URL((await app.commands.call('owner_page.open', {}, app.ownerCaller('window'))).url);
  const code = login.hash.replace('#code=', '');
  const session = await fetch(new URL('/owner/session', login), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: login.origin },
    body: JSON.stringify({ code }),
  });
  const { token } = z.object({ token: z.string() }).parse(await session.json());
  const metrics = new URL('/owner/metrics', login);
  expect((await fetch(metrics)).status).toBe(401);
  expect((await fetch(metrics, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  const shown = await fetch(metrics, { headers: { authorization: `Bearer ${token}` } });
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4']);
  expect(await shown.text()).toMatch(/charon_command_duration_seconds_count\{command="memory\.repo_init"\} 1/);
});
