import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openApp } from '../../src-main/app.ts';
import { openHomeAsAsked } from '../../src-main/backup/open-home.ts';
import { putBack, restoreBackup } from '../../src-main/backup/restore.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { connect } from '../../src-main/sqlite/driver.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { grantSchema } from '../../src-preload/contract/principal.ts';
import { fakeClock, projectId } from '../support/history-builder.ts';
import { branch, commit, newKey, proposal } from '../support/history-in-engine.ts';
import { advanceInput, authorize, mergeEnvelope } from '../support/merge-envelope.ts';
import type { TempEngine } from '../support/temp-engine.ts';
import { backedUp, commitMore, livedInHome, restored, stage, withHome } from './backup-world.ts';

// Every database is verified whole, several times, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 });

const principalOf = async (engine: TempEngine, name: string) => {
  const made = await engine.charon.reconcilePrincipal({ name, profile: 'write', grant: grantSchema.parse('demo') });
  return made.principal.principal_id;
};

test('R30 R35 a restored home is that of the backup, read only until a clean reconcile lifts it, and what was there is backed up', async () => {
  const { engine, writer } = await livedInHome();
  const { name, manifest_digest: digest } = await backedUp(engine);
  const then = await engine.run(engine.owner, 'memory.ref_list', { project: 'demo' });
  await commitMore(engine, writer, 'later', 2);
  const own = await proposal(engine, engine.owner, 'demo', 'more', 'merged later');
  await engine.run(engine.owner, 'memory.merge', { proposal_id: own.proposal_id, idempotency_key: newKey() });
  engine.clock.advance(1_000);
  const next = await restored(engine, name);
  const { owner } = next;
  expect(await next.run(owner, 'memory.ref_list', { project: 'demo' })).toEqual(then);
  expect((await next.run(owner, 'memory.proposal_list', { project: 'demo' })).proposals).toHaveLength(2);
  const prepared = (await next.entries()).filter(({ command }) => command === 'restore.prepared');
  expect(prepared).toMatchObject([
    { outcome: 'done', object_ids: [digest, expect.stringMatching(/^\d+ [0-9a-f]{64}$/)] },
  ]);
  expect(await next.run(owner, 'engine.status', {})).toMatchObject({ recovery_readonly: true });
  expect((await next.refusal(owner, 'memory.repo_init', { project: 'x' })).code).toBe('READ_ONLY');
  const { restored: mark, waiting, problem } = await next.run(owner, 'restore.status', {});
  expect([waiting, problem]).toEqual([null, null]);
  const { backups } = await next.run(owner, 'backup.list', {});
  expect(backups.map((one) => [one.name, one.kind, one.state, one.changesets])).toEqual([
    [mark?.safety, 'safety', 'readable', 6],
    [name, 'backup', 'readable', 3],
  ]);

  const still = await next.reopen();
  const db = connect(still.paths.charonDb, { readOnly: false, mustExist: true });
  db.exec('DROP TRIGGER proposals_terminal_is_final');
  db.exec("UPDATE proposals SET self_merge = 0 WHERE status = 'completed'");
  const refused = await still.run(still.owner, 'restore.lift', {});
  expect([refused.lifted, refused.report.ok]).toEqual([false, false]);
  db.exec("UPDATE proposals SET self_merge = 1 WHERE status = 'completed'");
  db.close();
  const again = await still.reopen();
  expect((await again.run(again.owner, 'restore.status', {})).restored).not.toBeNull();
  expect((await again.run(again.owner, 'restore.lift', {})).lifted).toBe(true);
  expect((await again.refusal(again.owner, 'restore.lift', {})).code).toBe('STATE_NOT_FOUND');
  const normal = await again.reopen();
  await normal.run(normal.owner, 'memory.repo_init', { project: 'x' });
  expect((await normal.run(normal.owner, 'restore.status', {})).restored).toBeNull();
});

test('R31 R32 no credential of before is good after it until the owner approves it, and what was taken away stays away', async () => {
  const { engine } = await livedInHome();
  const { charon, owner } = engine;
  const [keeper, dropped, disabled, narrowed] = await Promise.all(
    ['keeper', 'dropped', 'disabled', 'narrowed'].map((name) => principalOf(engine, name)),
  );
  if (keeper === undefined || dropped === undefined || disabled === undefined || narrowed === undefined)
    throw new Error('four agents');
  const mint = async (principalId: typeof keeper) => charon.mintObol({ principalId, expiresMs: null });
  const [kept, gone] = [await mint(keeper), await mint(dropped)];
  const ltx = await charon.ltx.mintKey({ principalId: keeper, kind: 'full' });
  const revokedKey = await charon.ltx.mintKey({ principalId: keeper, kind: 'read' });
  const registration = await charon.ltx.register({ agent_name: 'asker', owner_identifier: 'me', agree_to_terms: true });
  if (registration.kind !== 'pending') throw new Error('it waits');
  await charon.ltx.approveRegistration(registration.registration.registration_id);
  await charon.oauth.setEnabled(true);
  const access = await signIn(engine, keeper);
  expect(charon.oauth.authenticate(access.token, access.resource, 'agent')).toBeDefined();
  const { name } = await backedUp(engine);

  await engine.run(owner, 'obol.revoke', { obol_id: gone.obol.obol_id });
  await engine.run(owner, 'ltx.revoke', { key_id: revokedKey.key.key_id });
  await engine.run(owner, 'principal.set_enabled', { principal_id: disabled, enabled: false });
  await engine.run(owner, 'principal.reconcile', { name: 'narrowed', profile: 'readonly', project: '*' });
  await engine.run(owner, 'principal.revoke_grant', { principal_id: narrowed, project: 'demo' });
  await engine.run(owner, 'setting.set_owner_self_merge', { on: false });
  const recovering = await restored(engine, name);
  expect((await recovering.refusal(recovering.owner, 'obol.reapprove', { obol_id: kept.obol.obol_id })).code).toBe(
    'READ_ONLY',
  );
  expect((await recovering.run(recovering.owner, 'restore.lift', {})).lifted).toBe(true);
  const next = await recovering.reopen();

  for (const { token } of [kept, gone, ltx, revokedKey])
    expect(next.charon.authenticate(token, 'agent')).toBeUndefined();
  expect(next.charon.oauth.authenticate(access.token, access.resource, 'agent')).toBeUndefined();
  const { registration_id: asked } = registration.registration;
  expect(await next.charon.ltx.claimRegistration(asked, registration.pollToken)).toEqual({ kind: 'expired' });
  const { obols } = await next.run(next.owner, 'obol.list', {});
  expect(obols.every(({ needs_reapproval: waits }) => waits === true)).toBe(true);
  const approved = await next.run(next.owner, 'obol.reapprove', { obol_id: kept.obol.obol_id });
  expect(approved.needs_reapproval).toBeUndefined();
  await next.run(next.owner, 'ltx.reapprove', { key_id: ltx.key.key_id });
  expect(next.charon.authenticate(kept.token, 'agent')?.principal.principal_id).toBe(keeper);
  expect(next.charon.authenticate(ltx.token, 'agent')?.principal.principal_id).toBe(keeper);
  expect((await next.refusal(next.owner, 'obol.reapprove', { obol_id: gone.obol.obol_id })).code).toBe('OBOL_REVOKED');
  expect((await next.refusal(next.owner, 'ltx.reapprove', { key_id: revokedKey.key.key_id })).code).toBe('KEY_REVOKED');
  const minted = await next.charon.mintObol({ principalId: keeper, expiresMs: null });
  expect(next.charon.authenticate(minted.token, 'agent')).toBeDefined();

  expect(next.charon.getPrincipal(disabled).enabled).toBe(false);
  expect(next.charon.getPrincipal(narrowed)).toMatchObject({ profile: 'readonly', grants: [] });
  expect(next.charon.getPrincipal(keeper)).toMatchObject({ profile: 'write', enabled: true, grants: ['demo'] });
  expect(next.charon.ownerSelfMerge()).toBe(false);
});

test('R33 what was spent in the state that was replaced stays spent, and verifies; the merge key is another', async () => {
  const { engine } = await livedInHome();
  const { name } = await backedUp(engine);
  const { merges } = JSON.parse(readFileSync(engine.paths.keys, 'utf8'));
  const [head = ''] = (await engine.run(engine.owner, 'memory.log', { project: 'demo', limit: 1 })).changesets.map(
    ({ changeset_id: id }) => id,
  );
  const agent = await engine.agent('later', 'propose', 'demo');
  const { head: base, ref } = await branch(engine, agent, 'demo', 'work', head);
  const { changeset_id: wanted } = await commit(engine, agent, 'demo', { ref, head: base }, 'moved main');
  const move = {
    project: projectId('demo'),
    expected: changesetIdSchema.parse(head),
    next: changesetIdSchema.parse(wanted),
  };
  const envelope = mergeEnvelope({ clock: engine.clock, ids: systemIds() }, move, { key_id: merges[0].id });
  const authorization = authorize(envelope, Buffer.from(merges[0].secret, 'base64url'));
  await engine.lethe.advance(advanceInput(move, authorization));

  const next = await restored(engine, name);
  expect((await next.run(next.owner, 'restore.status', {})).restored?.notes).toEqual([
    '1 spent merge authorizations were carried over',
  ]);
  const db = connect(next.paths.letheDb, { readOnly: true, mustExist: true });
  const rows = db
    .query<[string], object>('SELECT outcome, refusal, key_id FROM memory_merge_authorizations WHERE nonce = ?')
    .all(envelope.nonce);
  db.close();
  expect(rows).toEqual([{ outcome: 'refused', refusal: 'NONCE_CONSUMED', key_id: merges[0].id }]);
  const lifted = await next.run(next.owner, 'restore.lift', {});
  expect([lifted.lifted, lifted.report.checks.flatMap(({ findings, notes }) => [...findings, ...notes])]).toEqual([
    true,
    [],
  ]);
  const normal = await next.reopen();
  await expect(normal.lethe.advance(advanceInput(move, authorization))).rejects.toMatchObject({
    code: 'MERGE_AUTHORIZATION_REFUSED',
  });
  expect(JSON.parse(readFileSync(normal.paths.keys, 'utf8')).merges).toHaveLength(2);
});

test('R36 what was there before can be put back, until the recovery is lifted', async () => {
  const { engine, writer } = await livedInHome();
  const { name } = await backedUp(engine);
  const confirm = await stage(engine, name);
  expect(await engine.run(engine.owner, 'restore.withdraw', {})).toEqual({ withdrawn: true });
  expect(await engine.run(engine.owner, 'restore.withdraw', {})).toEqual({ withdrawn: false });
  expect((await engine.refusal(engine.owner, 'restore.put_back', { confirm })).code).toBe('STATE_NOT_FOUND');
  await commitMore(engine, writer, 'later', 1);
  const before = await engine.run(engine.owner, 'memory.ref_list', { project: 'demo' });
  const next = await restored(engine, name);
  expect((await next.refusal(next.owner, 'restore.put_back', { confirm: '00000000' })).code).toBe('INPUT_INVALID');
  await next.run(next.owner, 'restore.put_back', { confirm });
  const back = await next.reopen();
  expect(await back.run(back.owner, 'memory.ref_list', { project: 'demo' })).toEqual(before);
  expect(await back.run(back.owner, 'restore.status', {})).toEqual({ waiting: null, restored: null, problem: null });
  await back.run(back.owner, 'memory.repo_init', { project: 'x' });
  expect((await back.run(back.owner, 'engine.reconcile', {})).ok).toBe(true);
  // What was withdrawn is kept aside, also by the starts that follow.
  const again = await back.reopen();
  const [id = ''] = readdirSync(again.paths.restore);
  expect(readdirSync(join(again.paths.restore, id, 'withdrawn'))).toEqual(
    expect.arrayContaining(['charon.db', 'ledger.anchor', 'lethe.db', 'restored.json']),
  );
});

test('R41 what waits is done by a start alone: not by a command on closed files, nor by the recovery switch', async () => {
  const { engine } = await livedInHome();
  const { name } = await backedUp(engine);
  await stage(engine, name);
  const { root } = engine.paths;
  await engine.close();
  const common = { clock: fakeClock(), ids: systemIds(), log: silentLog, version: '0.0.0' };
  const app = await openApp({ ...common, home: root, env: {}, doors: null });
  const status = await app.commands.call('restore.status', {}, app.ownerCaller('files'));
  await app.close();
  expect(status).toMatchObject({ waiting: { act: 'restore' }, restored: null, problem: null });
  for (const [env, isRestored] of [
    [{ CHARON_RECOVERY_READONLY: '1' }, false],
    [{}, true],
  ] as const) {
    const home = await openHomeAsAsked({ ...common, root, env });
    home.release();
    expect(home.restored !== undefined).toBe(isRestored);
  }
});

test('R35 R36 a home that is damaged is kept file by file, stale logs too, and comes back byte for byte', async () => {
  const { engine } = await livedInHome();
  const { directory } = await backedUp(engine);
  const { paths } = engine;
  await engine.close();
  const db = connect(paths.letheDb, { readOnly: false, mustExist: true });
  db.exec('DROP TRIGGER memory_op_payloads_never_delete; DELETE FROM memory_op_payloads');
  db.close();
  writeFileSync(`${paths.charonDb}-wal`, 'stale');
  const files = [paths.letheDb, paths.charonDb, `${paths.charonDb}-wal`, paths.anchor, paths.keys];
  const contents = (): readonly string[] => files.map((path) => readFileSync(path).toString('base64'));
  const damaged = contents();
  await withHome(paths.root, async (tools) => {
    const mark = await restoreBackup(tools, { directory });
    expect(mark).toMatchObject({ safety: null, notes: [expect.stringMatching(/does not verify.*kept as they were/)] });
  });
  expect(readdirSync(paths.backups)).toEqual([basename(directory), 'ticks.json']);
  expect(existsSync(`${paths.charonDb}-wal`)).toBe(false);
  await withHome(paths.root, async ({ paths: there }, mark) => putBack(there, mark));
  // The merge key is another one for good: nothing that the one before signed is let in again.
  expect(contents().map((one, index) => one === damaged[index])).toEqual([true, true, true, true, false]);
  expect(existsSync(paths.restored)).toBe(false);
});

test('R37 R39 nothing is changed by a wrong word or a bad backup, and what waits is done once, as it was verified', async () => {
  const { engine } = await livedInHome();
  const { name, directory } = await backedUp(engine);
  const wrong = await engine.refusal(engine.owner, 'restore.stage', { directory: name, confirm: 'abcdefgh' });
  expect([wrong.code, wrong.data]).toEqual(['INPUT_INVALID', { field: 'confirm' }]);
  expect((await engine.run(engine.owner, 'restore.status', {})).waiting).toBeNull();
  const confirm = await stage(engine, name);
  expect((await engine.run(engine.owner, 'restore.status', {})).waiting).toMatchObject({ act: 'restore', directory });
  const good = readFileSync(join(directory, 'charon.db'));
  const bad = Buffer.from(good);
  bad[4_000] = (bad[4_000] ?? 0) ^ 0x01;
  writeFileSync(join(directory, 'charon.db'), bad);
  const next = await engine.reopen();
  const status = await next.run(next.owner, 'restore.status', {});
  expect(status).toMatchObject({ waiting: null, restored: null });
  expect(status.problem).toMatch(/charon\.db: it was changed/);
  expect(await next.run(next.owner, 'engine.status', {})).toMatchObject({ recovery_readonly: false });
  const found = await next.run(next.owner, 'restore.stage', { directory: name, confirm });
  expect([found.ok, found.goes_back]).toEqual([false, null]);
  expect((await next.run(next.owner, 'restore.status', {})).waiting).toBeNull();
  writeFileSync(join(directory, 'charon.db'), good);
  await stage(next, name);
  // Another backup, whole and signed, in the place of the one that was verified.
  const other = await backedUp(next);
  for (const file of ['lethe.db', 'charon.db', 'ledger.anchor', 'manifest.json'])
    writeFileSync(join(directory, file), readFileSync(join(other.directory, file)));
  const last = await next.reopen();
  expect(await last.run(last.owner, 'restore.status', {})).toMatchObject({
    restored: null,
    problem: expect.stringMatching(/not the one that was verified/),
  });
});

async function signIn({ charon }: TempEngine, principalId: Awaited<ReturnType<typeof principalOf>>) {
  const issuer = 'http://127.0.0.1:18484';
  const [resource, redirectUri, verifier] = [`${issuer}/mcp`, 'http://127.0.0.1:5000/callback', 'v'.repeat(64)];
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const clientId = charon.oauth.registerClient({ name: 'Editor', redirects: [redirectUri] })?.clientId ?? '';
  const waitToken = await charon.oauth.begin({ clientId, redirectUri, state: 's', challenge, resource });
  const [request] = charon.oauth.listPending();
  if (request === undefined) throw new Error('a request waits');
  await charon.oauth.approve(request.request_id, principalId);
  const looked = await charon.oauth.look(waitToken);
  if (looked?.kind !== 'approved') throw new Error('an approved request has a code');
  const given = await charon.oauth.exchange({ code: looked.code, clientId, redirectUri, verifier, issuer, resource });
  return { token: given?.token ?? '', resource };
}
