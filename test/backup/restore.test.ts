import { expect, test } from 'vitest';
import { backedUp, commitMore, livedInHome } from './backup-world.ts';

test('R30 a restore', async () => {
  const { engine, writer } = await livedInHome();
  const job = await backedUp(engine);
  await commitMore(engine, writer, 'later', 3);
  const homeId = engine.charon.homeId;
  const staged = await engine.run(engine.owner, 'restore.stage', { directory: job.name, confirm: homeId.slice(0, 8) });
  const next = await engine.reopen();
  expect((await next.run(next.owner, 'engine.status', {})).recovery_readonly).toBe(true);
  const lift = await next.run(next.owner, 'restore.lift', {});
  expect(lift.lifted).toBe(true);
  const normal = await next.reopen();
  expect((await normal.run(normal.owner, 'engine.status', {})).recovery_readonly).toBe(false);
  expect((await normal.run(normal.owner, 'engine.reconcile', {})).checks.flatMap((c) => c.findings)).toEqual([]);
});
