import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { backedUp, livedInHome } from './backup-world.ts';

test('R1 a backup', async () => {
  const { engine } = await livedInHome();
  const job = await backedUp(engine);
  expect(readdirSync(job.directory).sort()).toEqual(['charon.db', 'ledger.anchor', 'lethe.db', 'manifest.json']);
  const inspected = await engine.run(engine.owner, 'backup.inspect', { directory: job.name });
  expect(inspected.ok).toBe(true);
});
