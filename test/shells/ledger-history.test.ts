import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { agentIdOf } from '../../src-main/charon/rules/agent-id.ts';
import { openStores } from '../../src-main/commands/open-stores.ts';
import { openHome } from '../../src-main/home/open.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { projectIdSchema } from '../../src-preload/contract/ids.ts';
import { ledgerKeySchema } from '../../src-preload/contract/ledger.ts';
import { runProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const demo = projectIdSchema.parse('demo');

/** A home with one agent, one project, and one key with three versions. */
async function homeWithKey() {
  const root = join(tempFolder(), 'home');
  const common = { clock: systemClock, ids: systemIds() };
  const home = await openHome({ root, env: {}, ...common });
  const stores = await openStores({ home, ...common, log: silentLog, onEvents: () => {} });
  const { principal } = await stores.charon.reconcilePrincipal({ name: 'agent', profile: 'propose', grant: demo });
  await stores.lethe.initProject({ projectId: demo, principal: principal.principal_id });
  const of = { agentId: agentIdOf(principal.principal_id), key: ledgerKeySchema.parse('user.prefs') };
  await stores.ledger.put({ ...of, value: { theme: 'dark', size: 1 } });
  await stores.ledger.put({ ...of, value: { theme: 'red \u001b[31malert\u202e', size: 1 }, importance: 'high' });
  await stores.ledger.delete(of);
  await stores.close();
  home.release();
  const run = (...args: string[]) => runProgram('lethe', [...args, '--home', root]);
  return { root, agent: principal.principal_id, run };
}

test('X30 the history of a key, its value at a version or a moment, and what differs', async () => {
  const { agent, run } = await homeWithKey();
  const keys = await run('ledger', 'log', agent);
  expect([keys.code, keys.stdout]).toEqual([0, expect.stringMatching(/^KEY +VERSION[^\n]*\nuser\.prefs +3 +deleted /)]);
  const log = await run('ledger', 'log', agent, 'user.prefs', '--limit', '2');
  expect(log.stdout).toMatch(/\n3 +delete [^\n]*\n2 +put [^\n]*high [^\n]*\n\nMore: --cursor \S+\n$/);
  const shown = await run('ledger', 'show', agent, 'user.prefs', '--at', '2');
  expect(shown.stdout).toMatch(/^version 2 of \S+\n\{[\s\S]*red \\u\{?/);
  expect(shown.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cf}\p{Cc}]/u);
  expect((await run('ledger', 'show', agent, 'user.prefs')).stdout).toMatch(/It had been deleted\.\n$/);
  const diff = await run('ledger', 'diff', agent, 'user.prefs', '1', '2', '--json');
  expect(JSON.parse(diff.stdout)).toMatchObject({
    from: 1,
    to: 2,
    fields: ['importance'],
    total: 1,
    changes: [{ path: '/theme' }],
  });
  expect((await run('ledger', 'diff', agent, 'user.prefs', '1', '1')).stdout).toContain('The value is the same.');
  const refusals = [
    await run('ledger', 'show', agent, 'user.prefs', '--at', 'yesterday'),
    await run('ledger', 'log', agent, 'a/b'),
    await run('ledger', 'log', 'nobody'),
  ];
  expect(refusals.map(({ code }) => code)).toEqual([2, 2, 2]);
  expect((await run('ledger', 'show', agent, 'never')).stderr).toMatch(/^lethe: not_found: /);
});

test('X31 verify-chain looks at the memory ledger too, and ends with 1 when a version was altered', async () => {
  const { root, run } = await homeWithKey();
  const sound = await run('verify-chain', 'demo', '--json');
  expect([sound.code, JSON.parse(sound.stdout)]).toMatchObject([0, { ok: true, ledger: { ok: true, checked: 3 } }]);
  const db = connect(join(root, 'lethe.db'), { readOnly: false, mustExist: true });
  db.exec("DROP TRIGGER ledger_versions_never_update; UPDATE ledger_versions SET source = 'other' WHERE seq = 2");
  db.close();
  const altered = await run('verify-chain', 'demo');
  expect(altered.code).toBe(1);
  expect(altered.stdout).toMatch(
    /project demo: \d+ verified, nothing wrong[\s\S]*FAIL: version 2 of user\.prefs of agent/,
  );
});
