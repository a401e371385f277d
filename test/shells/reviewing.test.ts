import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { type Ran, runProgram, serveCharon } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';

// Every verb is a process of its own here, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const hostile = 'red \u001b[31malert\u202e';

/** A home in which the owner has proposed something of its own, as the desk would. */
async function homeWithProposal() {
  const home = join(tempFolder(), 'home');
  const app = await openApp({
    home,
    env: {},
    doors: null,
    version: '1.2.3',
    clock: systemClock,
    ids: systemIds(),
    log: silentLog,
  });
  const owner = app.ownerCaller('files');
  const { call } = app.commands;
  const { ref } = await call('memory.repo_init', { project: 'demo' }, owner);
  const root = ref.head_changeset_id;
  const branch = `refs/agents/${owner.principal.actor_id}/work`;
  await call('memory.branch_create', { project: 'demo', ref_name: branch, head_changeset_id: root }, owner);
  const ops = [{ ordinal: 0, op_type: 'add_memory' as const, payload: { content: hostile, kind: 'fact' } }];
  const commit = {
    project: 'demo',
    ref: branch,
    expected_head: root,
    parent_ids: [root],
    message: `says ${hostile}`,
    idempotency_key: 'c',
    ops,
  };
  const { changeset_id: head } = await call('memory.changeset_create', commit, owner);
  const asked = {
    project: 'demo',
    target_ref: 'refs/shared/main',
    head_changeset_id: head,
    base_changeset_id: root,
    message: 'please',
    idempotency_key: 'p',
  };
  const proposal = await call('memory.merge_propose', asked, owner);
  await app.close();
  return {
    home,
    root,
    head,
    branch,
    proposal,
    run: (program: 'charon' | 'lethe', ...args: string[]): Promise<Ran> =>
      runProgram(program, [...args, '--home', home]),
  };
}

test('X6 X1 a proposal is listed, shown and merged, through the host and on closed files', async () => {
  const { home, head, proposal, run } = await homeWithProposal();
  const listed = await run('charon', 'proposal', 'ls');
  expect(listed.stdout).toMatch(new RegExp(`^ID +PROJECT +STATUS[\\s\\S]*${proposal.proposal_id}  demo +pending`));
  const shown = await run('charon', 'proposal', 'show', proposal.proposal_id);
  expect(shown.stdout).toContain('+ red \\u{1b}[31malert\\u{202e}');
  expect(shown.stdout).toContain(`--digest ${proposal.proposal_digest} --target-head ${proposal.target_head}`);
  expect(shown.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cf}\p{Cc}]/u);

  await serveCharon(home);
  expect((await run('charon', 'proposal', 'show', proposal.proposal_id)).stdout).toBe(shown.stdout);
  const reviewed = await run(
    'charon',
    'proposal',
    'review',
    proposal.proposal_id,
    'approve',
    '--digest',
    proposal.proposal_digest,
    '--target-head',
    proposal.target_head,
  );
  expect([reviewed.code, reviewed.stderr]).toEqual([1, expect.stringMatching(/^charon: denied: self review/)]);
  const merged = await run('charon', 'proposal', 'merge', proposal.proposal_id, '--key', 'once');
  expect(merged.stdout).toBe(`Merged (fast_forward): refs/shared/main is now ${head}\n`);
  expect((await run('charon', 'proposal', 'merge', proposal.proposal_id, '--key', 'once')).stdout).toBe(merged.stdout);
  expect((await run('charon', 'proposal', 'cancel', proposal.proposal_id)).code).toBe(1);
  expect((await run('charon', 'proposal', 'ls', 'demo', '--status', 'completed', '--json')).stdout).toContain(
    proposal.proposal_id,
  );
});

test('X6 X12 the store is looked at and verified: status, log, show, diff, chain', async () => {
  const { home, root, head, branch, run } = await homeWithProposal();
  const status = await run('lethe', 'memory', 'status', 'demo');
  expect(status.stdout).toMatch(
    new RegExp(
      `Open proposals: 1\n\nREF +HEAD[\\s\\S]*${branch} +${head}[\\s\\S]*refs/shared/main +${root} +protected`,
    ),
  );
  const log = await run('lethe', 'memory', 'log', 'demo', '--ref', branch);
  expect(log.stdout).toMatch(
    new RegExp(`^changeset ${head}\n[\\s\\S]*says red \\\\u\\{1b\\}[\\s\\S]*\nchangeset ${root}\n`),
  );
  const show = await run('lethe', 'memory', 'show', head, '--json');
  expect(show.stdout.trimEnd()).not.toMatch(/[\p{Cf}\p{Cc}]/u);
  expect(JSON.parse(show.stdout)).toMatchObject({ changeset_id: head, ops: [{ payload: { content: hostile } }] });
  expect((await run('lethe', 'memory', 'show', head)).stdout).toMatch(
    /add_memory[\s\S]*Integrity: [0-9a-f]{64}\nChain: +[0-9a-f]{64}\n$/,
  );
  const diff = await run('lethe', 'memory', 'diff', root, head);
  expect(diff.stdout).toMatch(/^Added \(1\)\n[\s\S]*\+ red \\u\{1b\}/);
  const verified = await run('lethe', 'verify-chain', 'demo');
  expect([verified.code, verified.stdout]).toEqual([
    0,
    expect.stringMatching(/^project demo: \d+ verified, nothing wrong\n/),
  ]);
  const unknown = await run('lethe', 'verify-chain', 'nowhere');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/^lethe: not_found: /)]);

  const db = connect(join(home, 'lethe.db'), { readOnly: false, mustExist: true });
  const triggers = db
    .query<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'memory_changesets'",
    )
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.exec("UPDATE memory_changesets SET message = 'altered' WHERE message LIKE 'says%'");
  db.close();
  const altered = await run('lethe', 'verify-chain', 'demo');
  expect(altered.code).toBe(1);
  expect(altered.stdout).toMatch(new RegExp(`^FAIL: .*${head}`));
});

test('X7 command lines on closed files wait for each other', async () => {
  const { run } = await homeWithProposal();
  const names = ['a', 'b', 'c', 'd'];
  const ran = await Promise.all(names.map((name) => run('charon', 'principal', 'reconcile', name, 'propose', 'demo')));
  expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']));
  const listed = await run('charon', 'principal', 'list');
  for (const name of names) expect(listed.stdout).toMatch(new RegExp(`  ${name}  +propose`));
});
