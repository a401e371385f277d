import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { systemIds } from '../../src-main/base/ids.ts';
import { inputDigest } from '../../src-main/commands/digest.ts';
import { keyNames } from '../../src-preload/contract/commands/operations.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import { projectId } from '../support/history-builder.ts';
import { branch, commit, newKey, proposal, startProject } from '../support/history-in-engine.ts';
import { advanceInput, authorize, mergeEnvelope } from '../support/merge-envelope.ts';
import { type TempEngine, tempEngine } from '../support/temp-engine.ts';

const keysFile = z.looseObject({ merges: z.tuple([z.object({ id: z.string(), secret: z.string() })]) });

/** A merge, so that every key has signed something. */
async function mergeOne(engine: TempEngine, name: string): Promise<void> {
  const { proposal_id: id } = await proposal(engine, engine.owner, 'demo', name, `what ${name} says`);
  await engine.run(engine.owner, 'memory.merge', { proposal_id: id, idempotency_key: newKey() });
}

async function mintFor(engine: TempEngine): Promise<string> {
  const { principal } = await engine.charon.reconcilePrincipal({ name: 'agent', profile: 'propose', grant: '*' });
  return (await engine.charon.mintObol({ principalId: principal.principal_id, expiresMs: null })).token;
}

test('P82 after every key was replaced everything from before verifies, and so does what came after', async () => {
  let engine = await tempEngine();
  await startProject(engine, 'demo');
  await mergeOne(engine, 'before');
  const token = await mintFor(engine);
  for (let round = 0; round < 2; round += 1) {
    for (const key of keyNames) await engine.run(engine.owner, 'key.rotate', { key });
    await mergeOne(engine, `meanwhile-${round}`);
    engine = await engine.reopen();
    await mergeOne(engine, `after-${round}`);
    const { ok, checks } = await engine.run(engine.owner, 'engine.reconcile', {});
    expect(checks.flatMap(({ findings, notes }) => [...findings, ...notes])).toEqual([]);
    expect(ok).toBe(true);
    expect(engine.charon.authenticate(token, 'agent')?.principal.name).toBe('agent');
    // The setting is under the ledger's MAC, and the owner's self-merges above need it.
    expect(engine.charon.ownerSelfMerge()).toBe(true);
  }
  const started = (await engine.entries()).filter(({ command }) => command === 'audit.key_started');
  expect(new Set(started.map((entry) => entry.mac_key_id)).size).toBe(3);
  expect((await engine.reopen({ recovery: true })).charon.authenticate(token, 'agent')).toBeDefined();
});

test('P82 tokens end with their key at the next start when that is asked for', async () => {
  const engine = await tempEngine();
  const token = await mintFor(engine);
  await engine.run(engine.owner, 'key.rotate', { key: 'obol', drop_earlier: true });
  expect(engine.charon.authenticate(token, 'agent')).toBeDefined();
  const next = await engine.reopen();
  expect(next.charon.authenticate(token, 'agent')).toBeUndefined();
  expect(next.charon.authenticate(await mintFor(next), 'agent')).toBeDefined();
});

test('P82 replacing a key is the owner’s act of power, on record without the key, and refused in recovery', async () => {
  const engine = await tempEngine();
  const made = await engine.run(engine.owner, 'key.rotate', { key: 'ledger' });
  const entries = (await engine.entries()).filter(({ command }) => command === 'key.rotate');
  expect(entries.map(({ phase, door, object_ids: ids }) => [phase, door, ids])).toEqual([
    ['intent', 'window', ['ledger']],
    ['outcome', 'window', ['ledger', made.id]],
  ]);
  const told = JSON.stringify([await engine.run(engine.owner, 'key.list', {}), entries, made]);
  for (const [secret] of readFileSync(engine.paths.keys, 'utf8').matchAll(/[A-Za-z0-9_-]{43}/g))
    expect(told).not.toContain(secret);
  const agent = await engine.agent('agent', 'write', 'demo');
  expect((await engine.refusal(agent, 'key.rotate', { key: 'ledger' })).code).toBe('OWNER_ONLY');
  expect((await engine.refusal(engine.owner, 'key.rotate', { key: 'owner' })).code).toBe('INPUT_INVALID');
  const recovered = await engine.reopen({ recovery: true });
  expect((await recovered.refusal(recovered.owner, 'key.rotate', { key: 'head' })).code).toBe('READ_ONLY');
});

test('H40 P82 a recovery passphrase is set on record, without a word of it and without a digest of it', async () => {
  const engine = await tempEngine();
  const input = { passphrase: 'correct horse battery' };
  expect((await engine.refusal(engine.owner, 'key.export', {})).code).toBe('KEYS_INVALID');
  const state = await engine.run(engine.owner, 'key.set_recovery', input);
  expect(await engine.run(engine.owner, 'key.recovery', {})).toEqual(state);
  const { envelope } = await engine.run(engine.owner, 'key.export', {});
  expect(envelope.home_id).toBe(engine.charon.homeId);
  const entries = (await engine.entries()).filter(({ command }) => command === 'key.set_recovery');
  expect(entries.map(({ phase }) => phase)).toEqual(['intent', 'outcome']);
  const told = JSON.stringify([entries, state, envelope, readFileSync(engine.paths.keys, 'utf8')]);
  expect(told).not.toContain(input.passphrase);
  expect(told).not.toContain(inputDigest(input));
  const recovered = await engine.reopen({ recovery: true });
  expect(await recovered.run(recovered.owner, 'key.export', {})).toMatchObject({
    envelope: { kind: 'memory-git/keys' },
  });
  expect((await recovered.refusal(recovered.owner, 'key.set_recovery', input)).code).toBe('READ_ONLY');
});

test('P82 a merge key that was replaced authorizes nothing any more', async () => {
  const engine = await tempEngine();
  const root = await startProject(engine, 'demo');
  const { id, secret } = keysFile.parse(JSON.parse(readFileSync(engine.paths.keys, 'utf8'))).merges[0];
  await engine.run(engine.owner, 'key.rotate', { key: 'merge' });
  const next = await engine.reopen();
  const at = await branch(next, next.owner, 'demo', 'late', root);
  const { changeset_id: head } = await commit(next, next.owner, 'demo', at, 'late');
  const move = { project: projectId('demo'), expected: changesetIdSchema.parse(root), next: head };
  const envelope = mergeEnvelope({ clock: next.clock, ids: systemIds() }, move, { key_id: id });
  const authorization = authorize(envelope, Buffer.from(secret, 'base64url'));
  await expect(next.lethe.advance(advanceInput(move, authorization))).rejects.toMatchObject({
    code: 'MERGE_AUTHORIZATION_REFUSED',
  });
});
