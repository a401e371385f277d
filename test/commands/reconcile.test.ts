import { expect, test } from 'vitest';
import { type Connection, connect } from '../../src-main/sqlite/driver.ts';
import { approveAndMerge, commitOps, proposeHead } from '../support/conflict-in-engine.ts';
import { newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

/** A home in which everything a proposal can come to has happened. */
async function stage() {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  await startProject(engine, 'other');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const add = (id: string) => ({ op_type: 'add_memory', resulting_event_id: id, payload: { content: id } });
  const [one, two] = [
    await commitOps(engine, writer, root, [add('a')]),
    await commitOps(engine, writer, root, [add('b')]),
  ];
  const forward = (await proposeHead(engine, writer, root, one)).proposal_id;
  const joined = (await proposeHead(engine, writer, root, two)).proposal_id;
  await approveAndMerge(engine, forward);
  await approveAndMerge(engine, joined);
  const own = await proposal(engine, engine.owner, 'demo', 'own', 'what the owner wrote');
  await engine.run(engine.owner, 'memory.merge', { proposal_id: own.proposal_id, idempotency_key: newKey() });
  const canceled = await proposal(engine, writer, 'demo', 'canceled', 'never mind');
  await engine.run(writer, 'memory.merge_cancel', { proposal_id: canceled.proposal_id });
  const pending = await proposal(engine, writer, 'demo', 'pending', 'still waiting');
  return { engine, writer, forward, joined, own: own.proposal_id, pending: pending.proposal_id };
}

const reconcile = (engine: TempEngine) => engine.run(engine.owner, 'engine.reconcile', {});

/** Everything that was found, as `check: where: problem`. */
async function found(engine: TempEngine): Promise<readonly string[]> {
  const { ok, checks } = await reconcile(engine);
  const all = checks.flatMap(({ name, findings }) =>
    findings.map(({ where, problem }) => `${name}: ${where}: ${problem}`),
  );
  expect(ok).toBe(all.length === 0);
  return all;
}

/** Somebody with the file in hand, whom no trigger and no foreign key stops. */
function tamper(path: string, work: (db: Connection) => void): void {
  const db = connect(path, { readOnly: false, mustExist: true });
  try {
    db.pragma('foreign_keys = OFF');
    for (const { name } of db
      .query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      .all())
      db.exec(`DROP TRIGGER ${name}`);
    work(db);
  } finally {
    db.close();
  }
}

test('P54 a home in which everything agrees is clean, after every way to merge, and looking changes nothing', async () => {
  const { engine } = await stage();
  const before = await engine.entries();
  const { ok, checks, ambiguous } = await reconcile(engine);
  expect([ok, ambiguous]).toEqual([true, []]);
  expect(checks.map(({ name, findings, notes }) => [name, findings, notes])).toEqual(
    ['database_files', 'audit_ledger', 'projects', 'proposals', 'advances', 'open_intents'].map((name) => [
      name,
      [],
      [],
    ]),
  );
  expect(checks.map(({ checked }) => checked)).toEqual([expect.any(Number), before.length, 2, 5, 3, 0]);
  expect(checks[0]?.checked).toBeGreaterThan(30);
  expect(await engine.entries()).toEqual(before);
  expect((await (await engine.reopen({ recovery: true })).run(engine.owner, 'engine.reconcile', {})).ok).toBe(true);
});

test('P54 a merge that the policy engine does not know, and a proposal whose merge the store does not know, are findings', async () => {
  const { engine, forward, joined } = await stage();
  tamper(engine.paths.charonDb, (db) => db.exec(`DELETE FROM proposals WHERE proposal_id = '${joined}'`));
  tamper(engine.paths.letheDb, (db) =>
    db.exec(`DELETE FROM memory_protected_ref_advances WHERE merge_proposal_id = '${forward}'`),
  );
  const all = await found(engine);
  expect(all).toContainEqual(expect.stringMatching(/^advances: advance \S+: no proposal of this home led to it$/));
  expect(all).toContain(`proposals: proposal ${forward}: it is completed, and no advance record of its target says so`);
  expect(all).toContain(
    'advances: project demo, ref refs/shared/main: its advance records do not begin where the ref began',
  );
});

test.each([
  ['decided_by', (writer: string) => writer, 'its merger is not that of its advance record'],
  ['decided_digest', () => 'a'.repeat(64), 'its digest is not that of its advance record'],
  ['strategy', () => 'merge_commit', 'its strategy is not that of its advance record'],
  ['target_ref', () => 'refs/shared/else', 'its target ref is not that of its advance record'],
])('P54 a completed proposal whose %s was edited is a finding', async (column, value, problem) => {
  const { engine, forward, writer } = await stage();
  tamper(engine.paths.charonDb, (db) =>
    db
      .command<[string, string]>(`UPDATE proposals SET ${column} = ? WHERE proposal_id = ?`)
      .run(value(writer.principal.principal_id), forward),
  );
  expect(await found(engine)).toEqual([`proposals: proposal ${forward}: ${problem}`]);
});

test('P54 a self-merge that is not recorded as one, and one that was none, are findings', async () => {
  const { engine, own, forward } = await stage();
  tamper(engine.paths.charonDb, (db) => {
    db.exec(`UPDATE proposals SET self_merge = 0 WHERE proposal_id = '${own}'`);
    db.exec(`UPDATE proposals SET self_merge = 1 WHERE proposal_id = '${forward}'`);
  });
  expect(await found(engine)).toEqual([
    `proposals: proposal ${forward}: it is recorded as a self-merge and was none`,
    `proposals: proposal ${own}: a party to it reviewed or merged it, which is not recorded as a self-merge`,
  ]);
});

test('P54 an originator who turns out to be the reviewer is a finding', async () => {
  const { engine, forward } = await stage();
  const owner = engine.owner.principal.principal_id;
  tamper(engine.paths.charonDb, (db) =>
    db.exec(`UPDATE proposals SET originator = '${owner}' WHERE proposal_id = '${forward}'`),
  );
  expect(await found(engine)).toEqual([
    `proposals: proposal ${forward}: a party to it reviewed or merged it, which is not recorded as a self-merge`,
  ]);
});

test('P54 an open proposal whose changeset is gone, and one that was left inside its merge, are findings', async () => {
  const { engine, pending } = await stage();
  const gone = '00000000-0000-7000-8000-000000000000';
  tamper(engine.paths.charonDb, (db) =>
    db.exec(`UPDATE proposals SET base_changeset_id = '${gone}', status = 'merging' WHERE proposal_id = '${pending}'`),
  );
  expect(await found(engine)).toEqual([
    `proposals: proposal ${pending}: changeset ${gone} does not exist`,
    expect.stringMatching(/: a crash left it inside its merge: .* Settle it\.$/),
  ]);
});

test('P54 a row that refers to nothing is a finding, with its file and table', async () => {
  const { engine } = await stage();
  tamper(engine.paths.letheDb, (db) =>
    db.exec("UPDATE memory_refs SET project_id = 'nowhere' WHERE ref_name LIKE '%canceled%'"),
  );
  expect(await found(engine)).toContainEqual(
    expect.stringMatching(
      /^database_files: lethe\.db, table memory_refs: a row refers to a row that memory_projects does not have$/,
    ),
  );
});

test('P55 a request that nobody can decide is listed and a finding until the owner closes it', async () => {
  const { engine } = await stage();
  const subject = {
    principal: engine.owner.principal.principal_id,
    credentialKind: 'owner',
    credentialId: 'window',
    door: 'window',
    command: 'principal.set_enabled',
    project: '',
    objectIds: ['principal_0000000000000001'],
    requestDigest: 'ab'.repeat(32),
    correlationId: 'left behind',
  } as const;
  await engine.charon.audit.intent(subject);
  const next = await engine.reopen();
  expect(await next.charon.settle()).toEqual({ settled: 0, ambiguous: 1 });
  const { intents } = await next.run(next.owner, 'audit.ambiguous', {});
  expect(intents).toMatchObject([
    { command: 'principal.set_enabled', door: 'window', object_ids: subject.objectIds, correlation_id: 'left behind' },
  ]);
  const report = await reconcile(next);
  expect([report.ok, report.ambiguous]).toEqual([false, intents]);
  expect(report.checks.at(-1)?.findings).toMatchObject([{ where: `seq ${intents[0]?.seq}` }]);
  const agent = await next.agent('agent', 'write', 'demo');
  expect((await next.refusal(agent, 'engine.settle', {})).code).toBe('OWNER_ONLY');
  const recovered = await next.reopen({ recovery: true });
  expect((await recovered.refusal(recovered.owner, 'engine.settle', {})).code).toBe('READ_ONLY');
  const again = await recovered.reopen();
  expect(await again.run(again.owner, 'engine.settle', {})).toEqual({ settled: 0, closed: 1, left: 0 });
  expect(await found(again)).toEqual([]);
  expect((await again.entries()).filter((entry) => entry.correlation_id === 'left behind')).toMatchObject([
    { phase: 'intent' },
    { outcome: 'ambiguous' },
    { outcome: 'settled: by_hand', credential_kind: 'system' },
  ]);
});
