import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { tempHome } from '../support/temp-home.ts';

test('P149 a store file that is gone is never replaced by an empty one', async () => {
  const { root: home } = tempHome();
  const common = { env: {}, doors: null, version: '0.0.0', clock: systemClock, ids: systemIds(), log: silentLog };
  const open = () => openApp({ ...common, home });
  const file = join(home, 'lethe.db');
  await (await open()).close();
  // Nothing was in it: as after a first start that was cut short.
  rmSync(file);
  const app = await open();
  await app.commands.call('memory.repo_init', { project: 'demo' }, app.ownerCaller('window'));
  await app.close();

  renameSync(file, `${file}.aside`);
  await expect(open()).rejects.toMatchObject({ code: 'HOME_INVALID', data: { file: 'lethe.db' } });
  expect(existsSync(file)).toBe(false);
  renameSync(`${file}.aside`, file);
  const back = await open();
  expect((await back.commands.call('project.list', {}, back.ownerCaller('window'))).projects).toHaveLength(1);
  await back.close();
});
