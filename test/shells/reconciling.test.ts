import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import { openHome } from '../../src-main/home/open.ts';
import { type Ran, runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

/** As a process leaves it that died between an intent and its outcome. */
async function leaveIntent(root: string): Promise<void> {
  const [clock, ids] = [systemClock, systemIds()];
  const home = await openHome({ root, env: {}, clock, ids });
  const { charon, close } = await openStores({ home, clock, ids, log: silentLog, onEvents: () => {} });
  await charon.audit.intent({
    principal: charon.owner().principal_id,
    credentialKind: 'owner',
    credentialId: 'files',
    door: 'files',
    command: 'principal.reconcile',
    project: 'demo',
    objectIds: [],
    requestDigest: 'ab'.repeat(32),
    correlationId: 'left behind',
  });
  await close();
  home.release();
}

const reportSchema = z.looseObject({ ok: z.boolean(), ambiguous: z.array(z.unknown()) });

test('X20 charon reconcile ends with 0 or 1 through the running host and on closed files, and settles only when told to', async () => {
  const home = join(tempFolder(), 'home');
  const charon = (...args: string[]): Promise<Ran> => runProgram('charon', [...args, '--home', home]);
  await charon('principal', 'reconcile', 'one', 'propose', 'demo');
  const clean = await charon('reconcile');
  expect([clean.code, clean.stderr]).toEqual([0, '']);
  expect(clean.stdout).toMatch(/^ok {4}tables of the database files: \d+$/m);
  expect(clean.stdout).toMatch(/\nEverything agrees\.\n$/);
  expect((await charon('ledger', 'ambiguous')).stdout).toBe('Nothing is undecided.\n');

  await leaveIntent(home);
  const found = await charon('reconcile', '--json');
  expect(found.code).toBe(1);
  expect(reportSchema.parse(JSON.parse(found.stdout)).ambiguous).toMatchObject([{ command: 'principal.reconcile' }]);
  const served = await serveCharon(home);
  expect((await charon('ledger', 'ambiguous')).stdout).toMatch(/ files +principa\S+ +principal\.reconcile/);
  const text = await charon('reconcile');
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^FAIL {2}requests that nobody can decide: 1\n {6}seq \d+: .*principal\.reconcile/m);
  const settled = await charon('reconcile', '--settle');
  expect(settled.stderr).toBe('charon: 0 settled from records, 1 closed by hand.\n');
  expect(settled.stdout).toMatch(/^ok {4}requests that nobody can decide: 0$/m);
  await served.stop('SIGTERM');
});
